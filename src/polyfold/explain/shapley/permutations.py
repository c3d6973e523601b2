"""Estimates where the exact sum is too long: features join one after another, in random orders.

In every order the gains add up to f(x) - f(reference), so estimates add up too. An order and its reverse are drawn
together. How far an estimate may be off follows from the range of a feature's gain, which is bounded over the box
between both inputs: |x_j - r_j| times the range of the derivative there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.exact.rounding import TINY, relative
from polyfold.explain.shapley.structure import Bending, bending
from polyfold.program.affine import Affine
from polyfold.program.passes.walk import Gates, walk_back
from polyfold.program.program import Program, Stage

# Floats that the hybrids of some orders may hold in one layer: 8 MB.
_FLOATS = 1 << 20


@dataclass(frozen=True, eq=False)
class Estimate:
    """The mean (features, outputs) of so many independent samples, and their variance (unbiased)."""

    samples: int
    mean: Array
    variance: Array


def estimated(program: Program, x: Array, references: Array, pairs: int, rng: np.random.Generator) -> Estimate:
    """The values against each reference, summed over the references.

    A sample is the mean over an order and its reverse, for every reference an order of its own, summed.
    """
    shape = (program.input_dim, program.output_dim)
    total, squares, around = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    widest = max([program.input_dim, *program.steps.widths])
    step = max(1, _FLOATS // (2 * (program.input_dim + 1) * widest))
    for first in range(0, pairs, step):
        samples = np.zeros((min(step, pairs - first), *shape))
        for reference in references:
            tick()
            samples += _samples(program, x, reference, len(samples), rng)
        # Squares around a mean, for they would cancel otherwise.
        around = around if first else samples.mean(axis=0)
        total += (samples - around).sum(axis=0)
        squares += ((samples - around) ** 2).sum(axis=0)
    spread = np.maximum(squares - total**2 / pairs, 0.0) / max(1, pairs - 1)
    return Estimate(pairs, around + total / pairs, spread)


def _samples(program: Program, x: Array, reference: Array, count: int, rng: np.random.Generator) -> Array:
    """Gains (count, features, outputs), each the mean over a random order and its reverse."""
    active = np.flatnonzero(x != reference)
    forward = rng.permuted(np.tile(active, (count, 1)), axis=1)
    orders = np.concatenate([forward, forward[:, ::-1]])
    outputs = program.evaluate(_chains(x, reference, orders))[0]
    gains = np.diff(outputs.reshape(len(orders), len(active) + 1, -1), axis=1)
    found = np.zeros((len(orders), program.input_dim, program.output_dim))
    found[np.arange(len(orders))[:, None], orders] = gains
    return (found[:count] + found[count:]) / 2


def error_bound(estimate: Estimate, ranges: list[Array], confidence: float) -> Array:
    """How far an estimate may be off, each value by itself, with this probability: the better one of two bounds.

    `ranges` are those of the gains against each reference. Hoeffding's inequality uses them alone; Maurer's and
    Pontil's (empirical Bernstein bounds, theorem 4) the samples' variance too. Each gets half of what may go wrong.
    """
    risk, n = (1 - confidence) / 2, estimate.samples
    by_range: Array = np.sqrt(sum(each**2 for each in ranges) * np.log(2 / risk) / (2 * n))
    if n < 2:
        return by_range
    logarithm = np.log(4 / risk)
    by_variance = np.sqrt(2 * estimate.variance * logarithm / n) + 7 * sum(ranges) * logarithm / (3 * (n - 1))
    better: Array = np.minimum(by_range, by_variance)
    return better


def _chains(x: Array, reference: Array, orders: Ids) -> Array:
    """The hybrids on the way from the reference to x in every order."""
    count, n = orders.shape
    place = np.full((count, len(x)), n)
    np.put_along_axis(place, orders, np.arange(n)[None, :], axis=1)
    joined = place[:, None, :] < np.arange(n + 1)[None, :, None]
    return np.where(joined, x, reference).reshape(count * (n + 1), len(x))


def gain_ranges(program: Program, x: Array, reference: Array) -> Array:
    """How much a feature's gains can differ between orders, at most: (features, outputs). Proved, rounding included."""
    low, high = _derivatives(program, x, reference)
    with np.errstate(over="ignore"):
        ranges: Array = (high - low).T * np.abs(x - reference)[:, None] * (1 + relative(8))
    return ranges


def _derivatives(program: Program, x: Array, reference: Array) -> tuple[Array, Array]:
    """Bounds on the outputs' derivatives all over the box between two inputs: (outputs, inputs) each."""
    by, each = _Ranges(bending(program, x, reference)), np.eye(program.output_dim)
    nothing = np.zeros((program.output_dim, program.input_dim))
    pending = by.pull(program.steps.output, (each, np.zeros_like(each)))
    middle, reach = walk_back(program, by, pending) or (nothing, nothing)
    return middle - reach, middle + reach


class _Ranges:
    """Ranges of coefficients on values, as middles and reaches. A gate that may bend has any slope between its two."""

    def __init__(self, found: Bending) -> None:
        self._found = found

    def through(self, gates: Gates[Stage], rows: tuple[Array, Array]) -> tuple[Array, Array]:
        stage, on, free = gates.stage, self._found.signs[gates.numbers], self._found.free[gates.numbers]
        slope = np.where(on, stage.slope_on, stage.slope_off)
        other = np.where(free, np.where(on, stage.slope_off, stage.slope_on), slope)
        return _times(*rows, np.minimum(slope, other), np.maximum(slope, other))

    def pull(self, affine: Affine, rows: tuple[Array, Array]) -> dict[int, tuple[Array, Array]]:
        return _pulled(affine, *rows)

    def plus(self, one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
        return _plus(one, other)


def _times(middle: Array, reach: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Intervals times intervals, as middles and reaches again."""
    corners = np.stack([(middle + side * reach) * slope for side in (-1, 1) for slope in (low, high)])
    least, most = corners.min(axis=0), corners.max(axis=0)
    centre = least + (most - least) / 2
    size = np.maximum(np.abs(least), np.abs(most))
    return centre, (np.maximum(most - centre, centre - least) + relative(8) * size) * (1 + relative(8)) + TINY


def _plus(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    middle = one[0] + other[0]
    return middle, (one[1] + other[1] + relative(2) * np.abs(middle)) * (1 + relative(8)) + TINY


def _pulled(affine: Affine, middle: Array, reach: Array) -> dict[int, tuple[Array, Array]]:
    middles, sizes = affine.pull(middle), affine.changed(np.abs)
    # A coefficient on a source is a sum over at most as many products as the function has values.
    rounding = relative(8 + 2 * (len(affine.bias) + affine.terms))
    reaches = sizes.pull(reach * (1 + rounding) + rounding * np.abs(middle))
    return {k: (rows, reaches[k] * (1 + rounding) + TINY) for k, rows in middles.items()}
