"""Scopes "cell" and "region": exact Shapley values of the affine model around each input.

Of an affine model they are phi_j = alpha_j (x_j - E[x_j]), whatever the distribution behind the expectation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.inputs import real_array
from polyfold._base.types import Array, Flags, Ids
from polyfold.errors import DomainError, PolyfoldError, ShapeError
from polyfold.explain.shapley.hybrids import LocalGame
from polyfold.explain.shapley.locators import AtlasPlaces, Places
from polyfold.explain.shapley.result import LocalModels
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.floats import with_sizes

EMPTY = ("error", "all", "uniform")


@dataclass(frozen=True, eq=False)
class LocalValues:
    """Values (n, features, outputs), base values and outputs (n, outputs), and how they came about.

    `scale` (n,) is the largest number met in the network at the inputs and at the expectations, or among the terms of
    the local models there: slopes of 1e9 cancel against constants of that size.
    """

    values: Array
    base_values: Array
    outputs: Array
    scale: Array
    background: str
    local: LocalModels
    game: LocalGame


@dataclass(frozen=True, eq=False)
class _Expected:
    """E[x] for every input, the number of points behind it, whether it goes beyond the cell; and the points.

    `shared`: inputs of one cell have the same expectation, and all that follows from it.
    """

    means: Array
    counts: Ids
    continued: Flags
    points: Array
    group_of_point: Ids
    words: str
    shared: bool = True


def explain_locally(places: Places, rows: Array, background: Any, means: Any, empty: str) -> LocalValues:
    """The values of all rows."""
    if empty not in EMPTY:
        raise PolyfoldError(f"empty must be one of {', '.join(map(repr, EMPTY))}, got {empty!r}")
    placed = places.place(rows)
    cells = placed.number
    distinct, of = _distinct(cells)
    expected = _expected(places, rows, cells, background, means, empty)
    A, c = places.maps(distinct)
    if expected.shared:
        shared = _at_means(places, A, c, expected.means[_any_of(of, len(distinct))])
        base, scale = (np.take(each, of, axis=0) for each in shared)
    else:
        base, scale = _at_means(places, A[of], c[of], expected.means)
    # Rows are taken, not indexed, and features run fastest, since outputs are few: both are several times as fast.
    values = np.take(A, of, axis=0)
    values *= (rows - expected.means)[:, None, :]
    in_regions = isinstance(places, AtlasPlaces) and places.by_region
    return LocalValues(
        values.transpose(0, 2, 1),
        base,
        placed.outputs,
        np.maximum(placed.scale, scale),
        expected.words,
        LocalModels(
            cells,
            places.groups(cells) if in_regions else None,
            expected.means,
            expected.counts,
            expected.continued,
            placed.on_wall,
        ),
        LocalGame(places, cells, expected.points, expected.group_of_point, expected.means),
    )


def _at_means(places: Places, A: Array, c: Array, means: Array) -> tuple[Array, Array]:
    """What the local models say at the expectations, and the largest number met in the network or in them there."""
    _, scale = with_sizes(places.program, places.lift(means))
    base: Array = np.matmul(A, means[:, :, None])[:, :, 0] + c
    steepest = np.maximum(np.abs(A).max(axis=(1, 2), initial=0.0), np.abs(c).max(axis=1, initial=0.0))
    return base, np.maximum(scale, steepest)


def _expected(places: Places, rows: Array, cells: Ids, background: Any, means: Any, empty: str) -> _Expected:
    kind = "region" if isinstance(places, AtlasPlaces) and places.by_region else "cell"
    if (background is None) == (means is None):
        raise PolyfoldError(
            f"scope {kind!r} needs one of background='uniform', background=points (those in the {kind} of an input "
            f"count), or means=the expectations themselves"
        )
    nobody, nothing = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
    no_points, no_groups = np.zeros((0, rows.shape[1])), np.zeros(0, dtype=np.int64)
    if means is not None:
        given = _given(means, rows, cells)
        outside = nothing if kind == "region" else _outside(places, given, cells)
        return _Expected(given, nobody, outside, no_points, no_groups, "given means", shared=False)
    if isinstance(background, str):
        if background != "uniform":
            raise PolyfoldError(f"background must be 'uniform' or an array of points, got {background!r}")
        centres = _uniform(places, cells, np.arange(len(rows)), kind)
        return _Expected(centres, nobody, nothing, no_points, no_groups, f"the uniform mean of the {kind}")
    return _of_points(places, rows, cells, background, empty, kind)


def _of_points(places: Places, rows: Array, cells: Ids, points: Array, empty: str, kind: str) -> _Expected:
    """Means of the background points that lie in each input's cell or region, the input itself left out.

    An input that is part of its own background, and alone in its cell, would be compared with itself: values of zero
    that say nothing.
    """
    if not len(points):
        raise ShapeError("the background has no points: give some, background='uniform', or means=")
    groups, of_point = places.groups(cells), places.background(points)
    wanted, of = _distinct(groups)
    at = np.searchsorted(wanted, of_point)
    at[at == len(wanted)] = 0
    used = np.flatnonzero(wanted[at] == of_point) if len(wanted) else np.zeros(0, dtype=np.int64)
    counts = np.bincount(at[used], minlength=len(wanted))
    sums = np.stack([np.bincount(at[used], column, minlength=len(wanted)) for column in points[used].T], axis=1)
    itself = _among(rows, groups, points[used], of_point[used])
    found = np.take(counts, of) - itself
    means = (np.take(sums, of, axis=0) - np.where(itself[:, None], rows, 0.0)) / np.maximum(found, 1)[:, None]
    without = np.flatnonzero(found == 0)
    continued = np.zeros(len(cells), dtype=bool)
    words = f"the other background points of the {kind}" if itself.any() else f"background points of the {kind}"
    if len(without):
        i = int(without[0])
        if empty == "error":
            raise PolyfoldError(
                f"no other background point lies in the {kind} of input {i}, nor of {len(without) - 1} other inputs, "
                "so there is nothing to compare with: give more points, ask for scope='interventional', which takes "
                "all of the background, or say what to take there: empty='all' takes the mean of all background points "
                f"and continues the local model there, empty='uniform' the {kind}'s uniform mean"
            )
        if empty == "all":
            means[without], continued[without] = points.mean(axis=0), True
            words += f"; of all points where none are ({len(without)} inputs)"
        else:
            means[without] = _uniform(places, cells, without, kind)
            words += f"; uniform where none are ({len(without)} inputs)"
    return _Expected(means, found, continued, points[used], of_point[used], words, shared=not itself.any())


def _among(rows: Array, groups: Ids, points: Array, group_of_point: Ids) -> Flags:
    """Which inputs are points of their own group, to the last bit."""
    there = {(group, (point + 0.0).tobytes()) for group, point in zip(group_of_point.tolist(), points, strict=True)}
    return np.array(
        [(group, (x + 0.0).tobytes()) in there for group, x in zip(groups.tolist(), rows, strict=True)], bool
    )


def _uniform(places: Places, cells: Ids, rows: Ids, kind: str) -> Array:
    distinct, of = _distinct(cells[rows])
    centres: Array = places.centroids(distinct)[of]
    unbounded = np.flatnonzero(~np.isfinite(centres).all(axis=1))
    if len(unbounded):
        i = int(rows[unbounded[0]])
        raise DomainError(
            f"the {kind} of input {i} (cell {int(cells[i])}) is unbounded, so nothing is uniform on it: unfold on a "
            "bounded domain, as in pf.unfold(network, pf.box(-1, 1)), or give background points or means="
        )
    return centres


def _given(means: Any, rows: Array, cells: Ids) -> Array:
    """Means that the user knows: one for all, one for each input, or one for each cell."""
    if isinstance(means, Mapping):
        missing = sorted(set(cells.tolist()) - set(means))
        if missing:
            raise PolyfoldError(f"means has none for cell {missing[0]}, which holds inputs")
        listed = [real_array(f"the mean of cell {cell}", means[cell]).ravel() for cell in cells.tolist()]
        if any(mean.shape != rows.shape[1:] for mean in listed):
            raise ShapeError(f"a mean is {rows.shape[1]} numbers, one for each feature")
        found = np.array(listed).reshape(rows.shape)
    else:
        array = real_array("means are numbers, one for each feature", means)
        if array.size == rows.shape[1]:
            array = np.broadcast_to(array.reshape(1, -1), rows.shape)
        elif array.shape != rows.shape:
            raise ShapeError(
                f"means are one row of {rows.shape[1]} numbers, one row for each of the {len(rows)} inputs, or a "
                f"mapping from cells to rows; this array has shape {array.shape}"
            )
        found = np.array(array)
    if not np.isfinite(found).all():
        raise ShapeError(f"the mean for input {int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])} is not finite")
    return found


def _outside(places: Places, points: Array, cells: Ids) -> Flags:
    """Which points are proved to lie outside the closed cells."""
    passed = bounded_forward(places.program, places.bounded(points))
    distinct, of = _distinct(cells)
    differs = passed.pattern != places.signs(distinct)[of]
    out: Flags = (differs & passed.certain & ~passed.zero).any(axis=1)
    return out


def _distinct(numbers: Ids) -> tuple[Ids, Ids]:
    """The distinct ones of small numbers, ascending, and for each number which of them it is; nothing is sorted."""
    there = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
    there[numbers] = True
    distinct = np.flatnonzero(there)
    place = np.zeros(len(there), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, np.take(place, numbers)


def _any_of(of: Ids, count: int) -> Ids:
    """An item of each kind."""
    found = np.zeros(count, dtype=np.int64)
    found[of] = np.arange(len(of))
    return found
