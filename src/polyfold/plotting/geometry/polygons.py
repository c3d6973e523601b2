"""Cells of a two-dimensional atlas as polygons within a view."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import Generators
from polyfold.plotting.geometry.view import View


@dataclass(frozen=True, eq=False)
class Polygons:
    """Polygon i is the part of cell `cells[i]` in the view: corners points[start[i]:start[i + 1]], counter-clockwise.

    Cells that do not reach into the view are left out. `cut` says which ones go on beyond it, if it is
    known.
    """

    cells: Ids
    start: Ids
    points: Array
    cut: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __len__(self) -> int:
        return len(self.cells)

    def corners(self, polygon: int) -> Array:
        return self.points[self.start[polygon] : self.start[polygon + 1]]

    @cached_property
    def areas(self) -> Array:
        """Of the polygons, by the shoelace formula."""
        if not len(self):
            return np.zeros(0)
        # Corners are taken from each polygon's first one, so that far-away polygons keep their digits.
        near = self.points - np.repeat(self.points[self.start[:-1]], np.diff(self.start), axis=0)
        following = np.arange(1, len(near) + 1)
        following[self.start[1:] - 1] = self.start[:-1]
        after = near[following]
        crossed = near[:, 0] * after[:, 1] - near[:, 1] * after[:, 0]
        found: Array = np.add.reduceat(crossed, self.start[:-1]) / 2
        return found


def polygons(atlas: Atlas, view: View, cells: Any = None) -> Polygons:
    """The parts of cells (all unless given) that lie in the view."""
    ids = atlas.ids(cells)
    spanned = atlas.generators(ids)
    lo, hi = spanned.bounding_boxes()
    seen = ((lo < view.hi) & (hi > view.lo)).all(axis=1)
    inside = np.asarray(seen & ((lo >= view.lo) & (hi <= view.hi)).all(axis=1))
    found: list[Array] = [np.empty((0, 2))] * len(ids)
    for item, corners in zip(np.flatnonzero(inside), _in_order(atlas, ids, spanned, inside), strict=True):
        found[item] = corners
    cut = np.flatnonzero(seen & ~inside)
    rows = atlas.halfspaces(ids[cut])
    for number, item in enumerate(cut):
        part = slice(rows.start[number], rows.start[number + 1])
        found[item] = clipped(view.corners, rows.A[part], rows.b[part])
    kept = [item for item, corners in enumerate(found) if len(corners) > 2]
    start = np.concatenate([[0], np.cumsum([len(found[item]) for item in kept])]).astype(np.int64)
    points = np.concatenate([found[item] for item in kept]) if kept else np.empty((0, 2))
    return Polygons(ids[kept], start, points, ~inside[kept])


def clipped(corners: Array, A: Array, b: Array) -> Array:
    """What is left of a convex polygon where A u <= b; corners keep their order."""
    for row, bound in zip(A, b, strict=True):
        if not len(corners):
            break
        over = corners @ row - bound
        after, over_after = np.roll(corners, -1, axis=0), np.roll(over, -1)
        crosses = (over > 0) != (over_after > 0)
        step = np.zeros(len(over))
        np.divide(over, over - over_after, out=step, where=crosses)
        between = corners + step[:, None] * (after - corners)
        # Each corner that stays is followed by the point where its edge leaves or enters, if it does.
        both = np.stack([corners, between], axis=1).reshape(-1, 2)
        corners = both[np.stack([over <= 0, crosses], axis=1).ravel()]
    return corners


def _in_order(atlas: Atlas, ids: Ids, spanned: Generators, chosen: npt.NDArray[np.bool_]) -> list[Array]:
    """The corners of those of the cells that are chosen, which are bounded, counter-clockwise."""
    rows = np.flatnonzero(chosen[spanned.owner])
    owner = spanned.owner[rows]
    away = spanned.points[rows] - atlas.witnesses[ids][owner]
    order = rows[np.lexsort((np.arctan2(away[:, 1], away[:, 0]), owner))]
    ends = np.cumsum(np.diff(spanned.start)[chosen])
    return np.split(spanned.points[order], ends[:-1]) if len(ends) else []
