"""Interpolation along one axis, in fractions: which old places each new one reads, and with which weights.

Coordinates are quotients of lengths and of the file's own scales, so that all weights are rational.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt

COORDINATES = (
    *("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"),
    "tf_half_pixel_for_nn",
)
# For each new place the old ones that it reads, each with its weight.
Weights = list[dict[int, Fraction]]


@dataclass(frozen=True)
class Settings:
    """What ONNX's Resize says about interpolation; the words are ONNX's."""

    mode: str
    coordinates: str
    nearest: str
    cubic: Fraction = Fraction(-3, 4)
    exclude_outside: bool = False


def weights(before: int, after: int, factor: Fraction, settings: Settings) -> Weights:
    """The weights of one axis from so many places to so many, for linear and cubic interpolation.

    >>> settings = Settings("linear", "align_corners", "")
    >>> [{k: str(w) for k, w in row.items()} for row in weights(2, 4, Fraction(2), settings)]
    [{0: '1'}, {0: '2/3', 1: '1/3'}, {0: '1/3', 1: '2/3'}, {1: '1'}]
    """
    if before == after and factor == 1:
        return [{place: Fraction(1)} for place in range(before)]
    found = []
    for where in _places(before, after, factor, settings.coordinates):
        if settings.mode == "linear":
            found.append(between(before, min(max(where, Fraction(0)), Fraction(before - 1))))
        else:
            found.append(_cubic_row(before, where, settings))
    return found


def between(before: int, where: Fraction) -> dict[int, Fraction]:
    """The two places on either side, the nearer one with the larger weight."""
    low = min(floor(where), before - 1)
    return gathered(before, [(low, 1 - (where - low)), (low + 1, where - low)])


def gathered(before: int, pairs: Sequence[tuple[int, Fraction]]) -> dict[int, Fraction]:
    """Places with their weights, of which those outside are the place at the border; without weights of zero."""
    row: dict[int, Fraction] = {}
    for place, weight in pairs:
        inside = min(max(place, 0), before - 1)
        row[inside] = row.get(inside, Fraction(0)) + weight
    return {place: weight for place, weight in sorted(row.items()) if weight}


def cubic(distance: Fraction, a: Fraction) -> Fraction:
    """The weight of an entry at this distance, by the cubic convolution kernel with parameter a."""
    if distance <= 1:
        return ((a + 2) * distance - (a + 3)) * distance**2 + 1
    return (((distance - 5) * distance + 8) * distance - 4) * a if distance < 2 else Fraction(0)


def _cubic_row(before: int, where: Fraction, settings: Settings) -> dict[int, Fraction]:
    low = floor(where)
    pairs = [(place, cubic(abs(where - place), settings.cubic)) for place in range(low - 1, low + 3)]
    if settings.exclude_outside:
        pairs = [(place, weight) for place, weight in pairs if 0 <= place < before]
        total = sum(weight for _, weight in pairs)
        pairs = [(place, weight / total) for place, weight in pairs]
    return gathered(before, pairs)


def nearest(
    before: int, after: int, factor: Fraction, settings: Settings, number: Callable[[Any], Any] = Fraction
) -> npt.NDArray[np.int64]:
    """Which old place each new one takes.

    With `number=np.float32` coordinates are computed as onnxruntime does: what lies right between two places, or
    nearly, may be rounded to the other side.
    """
    if before == after and factor == 1:
        return np.arange(before)
    rule = ROUNDING[settings.nearest]
    places = [
        rule(Fraction(float(where))) if number is np.float32 else rule(where)
        for where in _places(before, after, factor, settings.coordinates, number)
    ]
    return np.clip(np.array(places, dtype=np.int64), 0, before - 1)


ROUNDING: dict[str, Callable[[Fraction], int]] = {
    "floor": floor,
    "ceil": ceil,
    "round_prefer_ceil": lambda where: floor(where + Fraction(1, 2)),
    "round_prefer_floor": lambda where: ceil(where - Fraction(1, 2)),
}


def _places(
    before: int, after: int, factor: Fraction, coordinates: str, number: Callable[[Any], Any] = Fraction
) -> list[Any]:
    """Where the new places lie, in the old coordinates, as numbers of some kind."""
    new = [number(place) for place in range(after)]
    scale, half = number(factor), number(Fraction(1, 2))
    if coordinates == "align_corners":
        return [place * number(before - 1) / number(after - 1) if after > 1 else number(0) for place in new]
    if coordinates == "asymmetric":
        return [place / scale for place in new]
    if coordinates == "tf_half_pixel_for_nn":
        return [(place + half) / scale for place in new]
    if coordinates == "pytorch_half_pixel" and after == 1:
        return [number(0)]
    if coordinates != "half_pixel_symmetric":
        return [(place + half) / scale - half for place in new]
    # The length is rounded, so that the middle would move; this puts it back.
    moved = number(before) / number(2) * (number(1) - number(after) / (scale * number(before)))
    return [moved + (place + half) / scale - half for place in new]
