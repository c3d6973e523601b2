"""Bounds on pre-activations over many boxes at once, by linear functions that lie below and above.

Every gate is bounded from both sides by straight lines on the range of its pre-activation; going backwards through the
stages, a pre-activation is so bounded by linear functions of the parameters, whose extremes over a box are plain.
Stages are done in order, since a stage's lines need the ranges of its pre-activations.

All float arithmetic is accounted for: going back through a stage with coefficients q, what is rounded is at most
`error` times |q| times the largest values that these coefficients can meet, and those are known from the ranges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import tick
from polyfold.exact.rounding import LEAST, TINY
from polyfold.program.passes.bounded_layers import Layers, Range, halves

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sizes:
    """Over all boxes that will be looked at: bounds on the absolute values of pre-activations, and of their terms."""

    of_values: tuple[Array, ...]
    of_terms: tuple[Array, ...]
    together: tuple[float, ...]
    """The sum of all that going back from a stage can meet, by which errors of underflow are multiplied at most."""


def sizes(layers: Layers, reach: Array, ranges: list[Range]) -> Sizes:
    """From a bound on |parameters| and ranges that hold everywhere."""
    outputs = [reach]
    values: list[Array] = []
    terms: list[Array] = []
    together: list[float] = []
    for layer, (low, high) in zip(layers.layers, ranges, strict=True):
        term = np.abs(layer.bias)
        for source, W in layer.blocks:
            term = term + np.abs(W) @ outputs[source]
        size = np.maximum(np.abs(low), np.abs(high))
        terms.append(term * (1 + layers.error) + TINY)
        together.append(float(sum(part.sum() for part in (*values, *terms, *outputs))))
        values.append(size)
        outputs.append((np.abs(layer.off) + np.abs(layer.bend)) * size * (1 + layers.error) + 4 * LEAST)
    return Sizes(tuple(values), tuple(terms), tuple(together))


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
    layers: Layers, sizes: Sizes, stage: int, rows: Array, ranges: list[Lines], centre: Array, half: Array
) -> Below:
    """Lower bounds of rows @ z for the pre-activations z of a stage (from 0), over boxes (boxes, d).

    `rows` is (k, width); `ranges` holds the lines of all earlier stages.
    """
    boxes, k = len(centre), len(rows)
    coefficients: dict[int, Array] = {}
    constant, doubt = np.zeros((boxes, k)), np.zeros((boxes, k))

    def through(q: Array, number: int) -> None:
        """From coefficients on the pre-activations of a stage to those on what it reads."""
        nonlocal constant, doubt
        layer = layers.layers[number]
        for source, W in layer.blocks:
            part = q @ W
            coefficients[source] = coefficients[source] + part if source in coefficients else part
        constant = constant + q @ layer.bias
        doubt = doubt + np.abs(q) @ sizes.of_terms[number]

    through(np.broadcast_to(rows, (boxes, *rows.shape)), stage)
    for number in range(stage - 1, -1, -1):
        v = coefficients.pop(number + 1, None)
        if v is None:
            continue
        layer, line = layers.layers[number], ranges[number]
        w = v * layer.bend
        up, down = np.maximum(w, 0.0), np.minimum(w, 0.0)
        q = v * layer.off + up * line.below[:, None, :] + down * line.above[:, None, :]
        constant = constant + np.einsum("bkn,bn->bk", down, line.lift)
        doubt = doubt + np.abs(v) @ ((np.abs(layer.off) + 2 * np.abs(layer.bend)) * sizes.of_values[number])
        through(q, number)
    slopes = coefficients.get(0)
    if slopes is None:
        slopes = np.zeros((boxes, k, centre.shape[1]))
    at_centre = np.einsum("bkd,bd->bk", slopes, centre)
    spread = np.einsum("bkd,bd->bk", np.abs(slopes), half)
    doubt = doubt + np.einsum("bkd,bd->bk", np.abs(slopes), np.abs(centre) + half) + np.abs(constant)
    doubt = layers.error * (1 + layers.error) * doubt + TINY * (1 + sizes.together[stage])
    bounds = constant + at_centre - spread - doubt
    return Below(slopes, np.where(np.isnan(bounds), -np.inf, bounds))


class BoxBounds:
    """Ranges of all pre-activations over boxes, stage by stage; `known` ranges hold everywhere."""

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
        """Lower bounds of rows @ z of a stage, given the ranges of the stages before it."""
        ranges = [lines(low, high, self.layers.error) for low, high in before]
        return backwards(self.layers, self.sizes, stage, rows, ranges, centre, half)


def whole_box(layers: Layers, low: Array, high: Array, plain: list[Range]) -> list[Range]:
    """Ranges over one box: by linear functions where interval arithmetic alone does not tell, never wider than it."""
    reach = np.maximum(np.abs(low), np.abs(high))
    centre, half = halves(low, high)
    bounds = BoxBounds(layers, sizes(layers, reach, plain), plain)
    return [(a[0], b[0]) for a, b in bounds.stages(centre[None], half[None], len(layers.layers))]
