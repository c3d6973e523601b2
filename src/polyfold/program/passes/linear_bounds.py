"""Bounds on pre-activations over many boxes at once, by linear functions that lie below and above.

Every gate is bounded from both sides by straight lines on the range of its pre-activation; going backwards through the
stages, a pre-activation is so bounded by linear functions of the parameters, whose extremes over a box are plain.
Stages are done in order, since a stage's lines need the ranges of its pre-activations.

All float arithmetic is accounted for: going back through a stage with coefficients q, what is rounded is at most
`error` times |q| times the largest values that these coefficients can meet, and those are known from the ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rounding import LEAST, TINY
from polyfold.program.passes.bounded_layers import Layer, Layers, Range, halves
from polyfold.program.passes.walk import Gates, outputs, walk_back


@dataclass(frozen=True, eq=False)
class Sizes:
    """Over all boxes that will be looked at: bounds on the absolute values of pre-activations, and of their terms."""

    of_values: tuple[Array, ...]
    of_terms: tuple[Array, ...]
    """Of all stages, and of the output."""
    together: tuple[float, ...]
    """The sum of all that going back from a stage, or from the output, can meet, by which errors of underflow are
    multiplied at most."""


def sizes(layers: Layers, reach: Array, ranges: list[Range]) -> Sizes:
    """From a bound on |parameters| and ranges that hold everywhere."""
    by = _Sizes(layers, reach, ranges)
    by.note(outputs(layers, by, reach))
    return Sizes(tuple(by.values), tuple(by.terms), tuple(by.together))


class _Sizes:
    """Bounds (width,) on the sizes of values, and of the terms that they are sums of; all of them are noted."""

    def __init__(self, layers: Layers, reach: Array, ranges: list[Range]) -> None:
        self._error, self._ranges, self._outputs = layers.error, ranges, [reach]
        self.values: list[Array] = []
        self.terms: list[Array] = []
        self.together: list[float] = []

    def affine(self, layer: Layer, values: Sequence[Array]) -> Array:
        term = np.abs(layer.bias)
        for source, W in layer.blocks:
            term = term + np.abs(W) @ values[source]
        return term

    def note(self, term: Array) -> None:
        """The terms of a stage, or of the output."""
        self.terms.append(term * (1 + self._error) + TINY)
        self.together.append(float(sum(part.sum() for part in (*self.values, *self.terms, *self._outputs))))

    def decide(self, gates: Gates[Layer], z: Array) -> Array:
        """How large the gates' values are, by their ranges."""
        self.note(z)
        low, high = self._ranges[gates.number]
        self.values.append(np.maximum(np.abs(low), np.abs(high)))
        return self.values[-1]

    def output(self, gates: Gates[Layer], z: Array, size: Array) -> Array:
        slope = np.abs(gates.stage.off) + np.abs(gates.stage.bend)
        self._outputs.append(slope * size * (1 + self._error) + 4 * LEAST)
        return self._outputs[-1]

    def nothing(self, inputs: Array) -> Array:
        return inputs[:0]


@dataclass(frozen=True, eq=False)
class Lines:
    """relu(z) >= below * z and relu(z) <= above * z + lift on the range of z, for every box (first axis) and gate."""

    below: Array
    above: Array
    lift: Array


def lines(low: Array, high: Array, error: float) -> Lines:
    """The straight lines for ranges (boxes, gates)."""
    on, off = low >= 0, high <= 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        chord = np.clip(high / (high - low), 0.0, 1.0)
    above = np.where(on, 1.0, np.where(off, 0.0, chord))
    # The line lies above relu at both ends, and so between them.
    lift = np.where(on | off, 0.0, np.maximum(-above * low, (1 - above) * high) * (1 + error) + LEAST)
    below = np.where(on, 1.0, np.where(off, 0.0, (high > -low).astype(np.float64)))
    return Lines(below, above, lift)


@dataclass(frozen=True, eq=False)
class Below:
    """Linear functions of the parameters below some rows, (boxes, rows, d), and lower bounds (boxes, rows)."""

    slopes: Array
    bounds: Array


def backwards(
    layers: Layers, sizes: Sizes, stage: int, rows: Array, ranges: Sequence[Lines], centre: Array, half: Array
) -> Below:
    """Lower bounds of rows @ z for the pre-activations z of a stage (from 0), over boxes (boxes, d).

    `rows` is (k, width); `ranges` holds the lines of all earlier stages. The stage behind the last one is the output.
    """
    by = _Below(sizes, ranges, (len(centre), len(rows)))
    q = np.broadcast_to(rows, (len(centre), *rows.shape))
    layer = layers.steps.affines[stage]
    pending = by.pull(layer, q)
    by.note(layer, q, stage)
    slopes = walk_back(layers, by, pending, before=stage)
    if slopes is None:
        slopes = np.zeros((*by.constant.shape, centre.shape[1]))
    at_centre = np.einsum("bkd,bd->bk", slopes, centre)
    spread = np.einsum("bkd,bd->bk", np.abs(slopes), half)
    doubt = by.doubt + np.einsum("bkd,bd->bk", np.abs(slopes), np.abs(centre) + half) + np.abs(by.constant)
    doubt = layers.error * (1 + layers.error) * doubt + TINY * (1 + sizes.together[stage])
    bounds = by.constant + at_centre - spread - doubt
    return Below(slopes, np.where(np.isnan(bounds), -np.inf, bounds))


class _Below:
    """Coefficients (boxes, k, width) of linear functions that lie below, their constants so far, and what is lost."""

    def __init__(self, sizes: Sizes, lines: Sequence[Lines], shape: tuple[int, int]) -> None:
        self._sizes, self._lines = sizes, lines
        self.constant, self.doubt = np.zeros(shape), np.zeros(shape)

    def through(self, gates: Gates[Layer], v: Array) -> Array:
        """Gates with positive coefficients lie above their lower lines, those with negative ones above their upper."""
        layer, line = gates.stage, self._lines[gates.number]
        w = v * layer.bend
        up, down = np.maximum(w, 0.0), np.minimum(w, 0.0)
        q = v * layer.off + up * line.below[:, None, :] + down * line.above[:, None, :]
        self.constant = self.constant + np.einsum("bkn,bn->bk", down, line.lift)
        of_values = self._sizes.of_values[gates.number]
        self.doubt = self.doubt + np.abs(v) @ ((np.abs(layer.off) + 2 * np.abs(layer.bend)) * of_values)
        self.note(layer, q, gates.number)
        return q

    def note(self, layer: Layer, q: Array, number: int) -> None:
        """The biases, and the terms, that coefficients on the pre-activations of a stage meet."""
        self.constant = self.constant + q @ layer.bias
        self.doubt = self.doubt + np.abs(q) @ self._sizes.of_terms[number]

    def pull(self, layer: Layer, q: Array) -> dict[int, Array]:
        return {source: q @ W for source, W in layer.blocks}

    def plus(self, one: Array, other: Array) -> Array:
        return one + other


class BoxBounds:
    """Ranges of all pre-activations over boxes, stage by stage; `known` ranges hold everywhere.

    It goes through the stages by itself: what is known of a stage is found by walking back from it.
    """

    def __init__(self, layers: Layers, sizes: Sizes, known: list[Range]) -> None:
        self.layers, self.sizes, self.known = layers, sizes, known

    def stages(self, centre: Array, half: Array, stages: int) -> list[Range]:
        """Lower and upper bounds (boxes, width) for the first so many stages."""
        found: list[Range] = []
        ranges: list[Lines] = []
        for number in range(stages):
            tick()
            low, high = self._stage(number, centre, half, ranges)
            found.append((low, high))
            ranges.append(lines(low, high, self.layers.error))
        return found

    def _stage(self, number: int, centre: Array, half: Array, ranges: list[Lines]) -> Range:
        least, most = self.known[number]
        low, high = (np.repeat(end[None], len(centre), axis=0) for end in (least, most))
        open_ = np.flatnonzero((least < 0) & (most > 0))
        if len(open_):
            unit = np.zeros((len(open_), len(least)))
            unit[np.arange(len(open_)), open_] = 1.0
            both = backwards(
                self.layers, self.sizes, number, np.concatenate([unit, -unit]), ranges, centre, half
            ).bounds
            low[:, open_] = np.maximum(low[:, open_], both[:, : len(open_)])
            high[:, open_] = np.minimum(high[:, open_], -both[:, len(open_) :])
        return low, high

    def rows(self, centre: Array, half: Array, stage: int, rows: Array, before: list[Range]) -> Below:
        """Lower bounds of rows @ z of a stage, or of the output behind the last one, given the ranges before it."""
        ranges = [lines(low, high, self.layers.error) for low, high in before]
        return backwards(self.layers, self.sizes, stage, rows, ranges, centre, half)


def whole_box(layers: Layers, low: Array, high: Array, plain: list[Range]) -> list[Range]:
    """Ranges over one box: by linear functions where interval arithmetic alone does not tell, never wider than it."""
    reach = np.maximum(np.abs(low), np.abs(high))
    centre, half = halves(low, high)
    bounds = BoxBounds(layers, sizes(layers, reach, plain), plain)
    return [(a[0], b[0]) for a, b in bounds.stages(centre[None], half[None], len(layers.layers))]
