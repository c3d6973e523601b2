"""Ranges of all pre-activations by interval arithmetic: quick, and the only bounds there are on unbounded domains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from polyfold._base.types import Array, Flags
from polyfold.exact.rounding import TINY
from polyfold.program.passes.bounded_layers import Layer, Layers, Range
from polyfold.program.passes.walk import Gates, walk


def ranges(layers: Layers, low: Array, high: Array) -> list[Range]:
    """Bounds on the pre-activations of every stage, from bounds on the parameters, which may be infinite."""
    return [at.z for at in islice(walk(layers, _Intervals(layers), (low, high)), len(layers.layers))]


class _Intervals:
    """Ranges (low, high) of a step's values, (width,) each. A gate is on or off where its range has one sign."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def affine(self, layer: Layer, values: Sequence[Range]) -> Range:
        return affine_range(self._layers, layer, values)

    def decide(self, gates: Gates[Layer], z: Range) -> None:
        """The range says it."""

    def output(self, gates: Gates[Layer], z: Range, decided: None) -> Range:
        return output_range(self._layers, gates.stage, z)

    def nothing(self, inputs: Range) -> Range:
        return inputs[0][:0], inputs[1][:0]


def affine_range(layers: Layers, layer: Layer, sources: Sequence[Range]) -> Range:
    """Bounds on z from bounds on what it reads."""
    low, high, size = layer.bias.copy(), layer.bias.copy(), np.abs(layer.bias)
    for source, W in layer.blocks:
        (least, most), positive, negative = sources[source], np.maximum(W, 0.0), np.minimum(W, 0.0)
        low = low + _times(positive, least) + _times(negative, most)
        high = high + _times(positive, most) + _times(negative, least)
        size = size + _times(np.abs(W), np.maximum(np.abs(least), np.abs(most)))
    return _widened(low, high, layers.error * size + TINY, layer, sources)


def output_range(layers: Layers, layer: Layer, z: Range) -> Range:
    """Bounds on what comes out: on * z where z is positive, off * z elsewhere."""
    low, high = z
    with np.errstate(invalid="ignore"):
        ends = [
            np.nan_to_num(np.where(end > 0, layer.on, layer.off) * end, nan=0.0, posinf=np.inf, neginf=-np.inf)
            for end in (low, high)
        ]
    # The function is 0 at 0, and monotone on both sides of it.
    inside = (low < 0) & (high > 0)
    least = np.minimum(*ends)
    most = np.maximum(*ends)
    least, most = np.where(inside, np.minimum(least, 0.0), least), np.where(inside, np.maximum(most, 0.0), most)
    plain = np.isin(layer.off, (-1.0, 0.0, 1.0)) & np.isin(layer.on, (-1.0, 0.0, 1.0))
    doubt = np.where(plain, 0.0, layers.error * np.maximum(_finite(least), _finite(most)) + TINY)
    return least - doubt, most + doubt


def _times(W: Array, bounds: Array) -> Array:
    """W @ bounds where zero times infinity is zero."""
    finite = np.isfinite(bounds)
    total: Array = W[:, finite] @ bounds[finite]
    if not finite.all():
        for column in np.flatnonzero(~finite):
            weight = W[:, column]
            total = total + np.where(weight == 0, 0.0, np.where(weight > 0, bounds[column], -bounds[column]))
    return total


def _widened(low: Array, high: Array, doubt: Array, layer: Layer, sources: Sequence[Range]) -> Range:
    """Room for rounding; none where every term is zero or has one sign, so that zero stays a proved bound."""
    doubt = np.where(np.isnan(doubt), np.inf, doubt)
    with np.errstate(invalid="ignore"):
        wide_low, wide_high = low - doubt, high + doubt
    at_least = _never(layer, sources, -1.0)
    at_most = _never(layer, sources, 1.0)
    wide_low, wide_high = (
        np.where(np.isnan(wide_low), -np.inf, wide_low),
        np.where(np.isnan(wide_high), np.inf, wide_high),
    )
    return np.where(at_least, np.maximum(wide_low, 0.0), wide_low), np.where(
        at_most, np.minimum(wide_high, 0.0), wide_high
    )


def _never(layer: Layer, sources: Sequence[Range], side: float) -> Flags:
    """Whether no term of z has this sign, so that z has not either; signs are not rounded."""
    none = side * layer.bias <= 0
    for source, W in layer.blocks:
        low, high = sources[source]
        term_can = ((W * side > 0) & (high > 0)) | ((W * side < 0) & (low < 0))
        none &= ~term_can.any(axis=1)
    return none


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), np.abs(values), 0.0)
