"""The weights of torch's interpolations along one axis, in fractions; those of sinc functions in balls.

They follow torch's sources (ATen/native/UpSample.h and cpu/UpSampleKernel.cpp), the scales being the numbers given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from flint import fmpq

from polyfold.exact.near import Number, applied
from polyfold.network.read.compose.interpolation import Axis, Row
from polyfold.network.read.compose.resample import between, cubic, gathered

_HALF = Fraction(1, 2)
_CUBIC, _CUBIC_ANTIALIASED = Fraction(-3, 4), Fraction(-1, 2)
_LANCZOS_LOBES = 3


@dataclass(frozen=True)
class Sampling:
    """From how many places to how many, whether corners stay where they are, and the scale, if one was given."""

    before: int
    after: int
    align_corners: bool
    factor: Fraction | None

    @property
    def step(self) -> Fraction:
        """How many old places lie between two new ones."""
        if self.align_corners:
            return Fraction(self.before - 1, self.after - 1) if self.after > 1 else Fraction(0)
        return 1 / self.factor if self.factor else Fraction(self.before, self.after)

    def where(self, new: int) -> Fraction:
        """Where a new place lies among the old ones."""
        return self.step * new if self.align_corners else self.step * (new + _HALF) - _HALF


def axis(op: str, sampling: Sampling) -> Axis:
    """What an operator of this name does to one axis."""
    row = next(make for name, make in _ROWS.items() if name in op)
    return Axis(sampling.before, [row(sampling, new) for new in range(sampling.after)])


def _linear(sampling: Sampling, new: int) -> Row:
    if sampling.before == sampling.after:
        return {new: Fraction(1)}
    return between(sampling.before, min(max(sampling.where(new), Fraction(0)), Fraction(sampling.before - 1)))


def _cubic(sampling: Sampling, new: int) -> Row:
    where = sampling.where(new)
    low = min(floor(where), sampling.before - 1)
    part = min(where - low, Fraction(1))
    return gathered(sampling.before, [(low + k, cubic(abs(part - k), _CUBIC)) for k in (-1, 0, 1, 2)])


def _antialiased(reach: int, weight: Callable[[Fraction], Any]) -> Callable[[Sampling, int], Row]:
    """A window around each new place, wider where places get fewer, with weights that add up to one."""

    def row(sampling: Sampling, new: int) -> Row:
        if sampling.before == sampling.after:
            return {new: Fraction(1)}
        wider = max(sampling.step, Fraction(1))
        centre = sampling.step * (new + _HALF)
        first = max(int(centre - reach * wider + _HALF), 0)
        stop = min(int(centre + reach * wider + _HALF), sampling.before)
        found = {place: weight((place - centre + _HALF) / wider) for place in range(first, stop)}
        total = sum(found.values())
        return {place: each / total for place, each in found.items() if each}

    return row


def _triangle(distance: Fraction) -> Fraction:
    return max(1 - abs(distance), Fraction(0))


def _lanczos(distance: Fraction) -> Fraction | Number:
    """sinc(x) sinc(x / 3); `Fraction` where that is zero or one."""
    if abs(distance) >= _LANCZOS_LOBES:
        return Fraction(0)
    if distance.denominator == 1:
        return Fraction(int(distance == 0))
    places = fmpq(distance.numerator, distance.denominator)
    return applied("sinc_pi", places) * applied("sinc_pi", places / _LANCZOS_LOBES)


_ROWS: dict[str, Callable[[Sampling, int], Row]] = {
    "linear2d_aa": _antialiased(1, _triangle),
    "cubic2d_aa": _antialiased(2, lambda distance: cubic(abs(distance), _CUBIC_ANTIALIASED)),
    "lanczos2d_aa": _antialiased(_LANCZOS_LOBES, _lanczos),
    "linear": _linear,
    "cubic": _cubic,
}
