"""Affine functions of a line's or plane's parameters, cell by cell, in floats with error bounds.

On a cell of a slice everything that a network computes is affine in the slice's one or two parameters: a constant and
as many slopes, a jet. Jets pass a network like rows of inputs, with the pattern of their cell held; only a bias goes
to the constant alone. Parameters are counted in units that keep them between -1 and 1, so that constants and slopes
are of one size, and one bound does for all coefficients of a cell.

Apart from `walk.py`: cells are cut between steps, in batches that split, so `engine/slices/run.py` goes through the
steps and calls `affine_of` and `passed_on`, which are what an arithmetic's `affine` and `output` would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Flags, Ids
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import LEAST_NORMAL, TINY, relative
from polyfold.program.affine import Affine
from polyfold.program.passes import bounded
from polyfold.program.program import Stage

# What a closer look may hold at once, in floats.
_FLOATS = 1 << 22


@dataclass(frozen=True, eq=False)
class BoundedJets:
    """Functions of the parameters, one row per cell: values (n, 1 + d, width), the constants first.

    Each coefficient of function j on cell i is right up to errors[i] * scale[j], and all of them together are not
    larger than scale[j]. Where `nothing` is set, the function is exactly zero.
    """

    values: Array
    errors: Array
    scale: Array
    nothing: Flags

    def take(self, rows: Ids) -> BoundedJets:
        """Some of the cells."""
        return BoundedJets(self.values[rows], self.errors[rows], self.scale, self.nothing[rows])

    def entry_errors(self) -> Array:
        """The error of every function's coefficients: (n, width)."""
        return np.where(self.nothing, 0.0, self.errors[:, None] * self.scale)


Sources = Mapping[int, BoundedJets]


def of_inputs(origin: Array, basis: Array, unit: Array) -> BoundedJets:
    """The inputs x0 + B u of a slice, with parameters counted in units that are powers of two."""
    values = np.concatenate([origin[None], (basis * unit).T])
    sizes = np.abs(values)
    # Products with powers of two are exact, but where they underflow.
    exact = not ((sizes > 0) & (sizes < LEAST_NORMAL)).any() and not ((basis != 0).T & (values[1:] == 0)).any()
    nothing = (origin == 0) & (basis == 0).all(axis=1)
    scale = np.where(nothing, 0.0, sizes.sum(axis=0) * (1 + relative(8)) + TINY)
    return BoundedJets(values[None], np.full(1, 0.0 if exact else relative(4)), scale, nothing[None])


def affine_of(affine: Affine, sources: Sources, cells: int, parameters: int) -> BoundedJets:
    """An affine function of the sources."""
    read = sorted(affine.sources)
    last = max(read, default=0)
    rows = [np.zeros((cells * (1 + parameters), 0))] * (last + 1)
    probe = [np.zeros((1, 0))] * (last + 1)
    for k in read:
        rows[k] = sources[k].values.reshape(cells * (1 + parameters), -1)
        # What no cell has any term of gets a scale of 0.
        probe[k] = np.where(sources[k].nothing.all(axis=0), 0.0, sources[k].scale)[None]
    values = np.array(affine.linear(rows)).reshape(cells, 1 + parameters, len(affine.bias))
    values[:, 0] += affine.bias
    # No coefficient is larger than its scale: what becomes of the scales bounds errors that are carried on, and the
    # sizes of all terms.
    scale = bounded.sum_of_sizes(affine, probe)[0]
    errors = np.max([sources[k].errors for k in read], axis=0) if read else np.zeros(cells)
    errors = (errors + relative(4 + affine.terms)) * (1 + relative(8)) + TINY
    return BoundedJets(values, errors, scale, np.broadcast_to(scale == 0, (cells, len(scale))))


def passed_on(stage: Stage, z: BoundedJets, rows: Ids, on: Flags, vanishing: Flags) -> BoundedJets:
    """What the gates put out on cells with these rows of z and these patterns, given the gates that are zero there."""
    slopes_on, slopes_off = stage.slope_on, stage.slope_off
    slope = np.where(on, slopes_on, slopes_off)
    nothing = vanishing | (slope == 0)
    values = z.values[rows] * np.where(nothing, 0.0, slope)[:, None]
    steepest = np.maximum(np.abs(slopes_on), np.abs(slopes_off))
    scale = z.scale * steepest
    return BoundedJets(values, z.errors[rows] + relative(2), np.where(scale > 0, scale + TINY, 0.0), nothing)


def closer(affine: Affine, sources: Sources, rows: Ids) -> Iterator[tuple[slice, BoundedValues]]:
    """The function on cells with these rows of the sources, part by part, with an error for every coefficient.

    Values and errors have the shape (cells, 1 + d, width). Errors are 0 only where there is no term at all.
    """
    columns = next(iter(sources.values())).values.shape[1]
    widths = sum(sources[k].values.shape[2] for k in affine.sources) + 3 * len(affine.bias)
    step = max(1, _FLOATS // (columns * (1 + widths)))
    for first in range(0, len(rows), step):
        part = slice(first, min(first + step, len(rows)))
        yield part, _closer(affine, {k: sources[k].take(rows[part]) for k in affine.sources}, part, columns)


def _closer(affine: Affine, sources: Sources, part: slice, columns: int) -> BoundedValues:
    cells = part.stop - part.start
    found = []
    for column in range(columns):
        inputs = [BoundedValues(np.zeros((cells, 0)), np.zeros((cells, 0)))] * (1 + max(affine.sources, default=0))
        for k, source in sources.items():
            inputs[k] = BoundedValues(source.values[:, column], source.entry_errors())
        found.append(bounded.affine(affine, inputs, linear=column > 0))
    return BoundedValues(
        np.stack([each.values for each in found], axis=1), np.stack([each.errors for each in found], axis=1)
    )


@np.errstate(over="ignore", invalid="ignore")
def values_at(forms: BoundedValues, points: Array, off: Array) -> tuple[Array, Array]:
    """Values of functions (n, 1 + d) at points (n, d) that are known up to `off`, and bounds on their errors."""
    constant, slopes = forms.values[:, 0], forms.values[:, 1:]
    terms = slopes * points
    values = constant + terms.sum(axis=1)
    sizes = np.abs(constant) + np.abs(terms).sum(axis=1)
    errors = (
        forms.errors.sum(axis=1) + relative(8) * sizes + (np.abs(slopes) + forms.errors[:, 1:]).sum(axis=1) * off
    ) * (1 + relative(16))
    return values, np.where(forms.errors.any(axis=1) | forms.values.any(axis=1), errors + TINY, 0.0)
