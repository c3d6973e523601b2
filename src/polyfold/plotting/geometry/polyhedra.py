"""Cells of a three-dimensional atlas as polyhedra within a view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import one_of
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.errors import DomainError
from polyfold.plotting.geometry.surface import triangles
from polyfold.plotting.geometry.view import View

# What a face lies on, if not on a facet.
VIEW_SIDE, CUT = -1, -2
# A face: its corners in order, counter-clockwise from outside, and what it lies on.
Face = tuple[Array, int]


@dataclass(frozen=True, eq=False)
class Polyhedra:
    """Polyhedron i is what the view shows of cell `cells[i]`: faces face_start[i]:face_start[i + 1].

    Face f has the corners points[corner_start[f]:corner_start[f + 1]], counter-clockwise as seen from outside, and
    `on[f]` says what it lies on: the number of a facet of the atlas, -1 for a side of the view that cuts the cell off,
    or -2 for the plane that a picture is cut open with. Cells that do not reach into the view are left out.
    """

    cells: Ids
    face_start: Ids
    corner_start: Ids
    points: Array
    on: Ids

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def owner(self) -> Ids:
        """The polyhedron of each face."""
        return np.repeat(np.arange(len(self)), np.diff(self.face_start))

    @cached_property
    def centres(self) -> Array:
        """The middle of each polyhedron's faces' corners: a point inside."""
        first = self.corner_start[self.face_start]
        sums: Array = np.add.reduceat(self.points, first[:-1]) if len(self) else np.zeros((0, 3))
        return sums / np.diff(first)[:, None]

    @cached_property
    def volumes(self) -> Array:
        """By the divergence theorem, from points within so that far-away polyhedra keep their digits."""
        corners, face = self.triangles
        piece = self.owner[face]
        a, b, c = (self.points[corners[:, k]] - self.centres[piece] for k in range(3))
        found = np.zeros(len(self))
        np.add.at(found, piece, np.einsum("td,td->t", a, np.cross(b, c)) / 6)
        return found

    def covered(self, atlas: Atlas) -> npt.NDArray[np.bool_]:
        """Whether each face lies between two cells that are both there, so that nobody can see it."""
        shown = np.zeros(len(atlas) + 1, dtype=bool)
        shown[self.cells] = True
        # What is no facet, and what has no cell behind it, finds the last entry.
        behind = np.where(self.on >= 0, atlas.neighbour[self.on], -1)
        return shown[np.where(behind >= 0, behind, -1)]

    @cached_property
    def cut(self) -> npt.NDArray[np.bool_]:
        """Whether sides of the view cut something off each cell."""
        found = np.zeros(len(self), dtype=bool)
        found[self.owner[self.on == VIEW_SIDE]] = True
        return found

    @cached_property
    def triangles(self) -> tuple[Ids, Ids]:
        """All faces cut into triangles (rows of `points`, counter-clockwise from outside), and their faces."""
        return triangles(self.corner_start)

    def exploded(self, factor: float) -> Polyhedra:
        """The same polyhedra moved away from the middle of them all, by `factor` times their distance from it."""
        if not factor or not len(self):
            return self
        middle = (self.points.min(axis=0) + self.points.max(axis=0)) / 2
        moves = factor * (self.centres - middle)
        return replace(self, points=self.points + np.repeat(moves[self.owner], np.diff(self.corner_start), axis=0))


def half_space(cut: Any) -> tuple[Array, float]:
    """(a, b) of what is kept, a . u <= b, from (axis, b) or (a, b)."""
    message = f"cut={cut!r} must be (axis, value), or (a, b) with three numbers a: what is kept is a . u <= b"
    try:
        direction, bound = cut
        if np.ndim(direction) == 0:
            direction = np.eye(3)[one_of(direction, 3, "axis", "a picture in space")]
        normal, offset = np.asarray(direction, dtype=np.float64), float(bound)
    except (TypeError, ValueError):
        raise DomainError(message) from None
    if normal.shape != (3,) or not normal.any() or not (np.isfinite(normal).all() and np.isfinite(offset)):
        raise DomainError(message)
    return normal, offset


def polyhedra(atlas: Atlas, view: View, cells: Any = None, *, cut: tuple[Array, float] | None = None) -> Polyhedra:
    """The parts of cells (all unless given) that lie in the view and, with `cut`, on one side of a plane."""
    ids = atlas.ids(cells)
    planes = [(-axis, -bound, VIEW_SIDE) for axis, bound in zip(np.eye(3), view.lo.tolist(), strict=True)]
    planes += [(axis, bound, VIEW_SIDE) for axis, bound in zip(np.eye(3), view.hi.tolist(), strict=True)]
    if cut is not None:
        planes.append((*cut, CUT))
    lo, hi = atlas.bounding_boxes(ids) if len(ids) else (np.zeros((0, 3)), np.zeros((0, 3)))
    seen = np.flatnonzero(((lo < view.hi) & (hi > view.lo)).all(axis=1))
    bounded = atlas.bounded[ids[seen]]
    found: list[list[Face]] = [[]] * len(ids)
    for item, faces in zip(seen[bounded], _faces(atlas, ids[seen[bounded]]), strict=True):
        found[item] = faces
    endless = seen[~bounded]
    rows = atlas.halfspaces(ids[endless])
    for number, item in enumerate(endless):
        faces = _box(view)
        for facet, row, bound in zip(atlas.facets(ids[item]), *rows[number], strict=True):
            faces = clipped(faces, row, float(bound), facet)
        found[item] = faces
    for item in seen:
        for normal, offset, label in planes:
            found[item] = clipped(found[item], normal, offset, label)
    return _together(ids, found)


def clipped(faces: list[Face], normal: Array, offset: float, label: int) -> list[Face]:
    """What is left of a convex polyhedron where normal . u <= offset; the new face has this label."""
    heights = [corners @ normal - offset for corners, _ in faces]
    if not any((over > 0).any() for over in heights):
        return faces
    if not any((over < 0).any() for over in heights):
        return []
    kept: list[Face] = []
    rim: list[Array] = []
    for (corners, on), over in zip(faces, heights, strict=True):
        after, over_after = np.roll(corners, -1, axis=0), np.roll(over, -1)
        inside, crosses = over <= 0, (over > 0) != (over_after > 0)
        # From the end that stays, so that both faces of an edge find the very same point.
        start, end = np.where(inside[:, None], corners, after), np.where(inside[:, None], after, corners)
        low, high = np.where(inside, over, over_after), np.where(inside, over_after, over)
        step = np.zeros(len(over))
        np.divide(low, low - high, out=step, where=crosses)
        between = start + step[:, None] * (end - start)
        both = np.stack([corners, between], axis=1).reshape(-1, 3)
        # A corner in the plane is there already.
        left = both[np.stack([inside, crosses & (low < 0)], axis=1).ravel()]
        rim += [between[crosses], corners[over == 0]]
        if len(left) > 2:
            kept.append((left, on))
    around = np.unique(np.concatenate(rim), axis=0)
    if len(around) > 2:
        kept.append((_around(around, normal), label))
    return kept


def _faces(atlas: Atlas, ids: Ids) -> list[list[Face]]:
    """The faces of bounded cells, with the cells' own vertices as corners."""
    if not len(ids):
        return []
    found, rows = atlas.generators(ids), atlas.halfspaces(ids)
    vertex = np.repeat(np.arange(len(found.points)), np.diff(found.facet_start))
    row = rows.start[found.owner[vertex]] + found.facet
    order = np.argsort(row, kind="stable")
    parts = np.split(vertex[order], np.searchsorted(row[order], np.arange(1, len(rows.b))))
    faces: list[list[Face]] = []
    for item in range(len(ids)):
        numbers = zip(range(rows.start[item], rows.start[item + 1]), atlas.facets(ids[item]), strict=True)
        faces.append([(_around(found.points[parts[k]], rows.A[k]), facet) for k, facet in numbers])
    return faces


def _box(view: View) -> list[Face]:
    """The sides of the view."""
    faces: list[Face] = []
    for axis in range(3):
        others = [(axis + 1) % 3, (axis + 2) % 3]
        for bound, turn in ((view.lo, -1), (view.hi, 1)):
            corners = np.empty((4, 3))
            corners[:, axis] = bound[axis]
            for column, pattern in zip(others, ((0, 1, 1, 0), (0, 0, 1, 1)), strict=True):
                corners[:, column] = np.where(pattern, view.hi[column], view.lo[column])
            faces.append((corners[::turn], VIEW_SIDE))
    return faces


def _around(points: Array, normal: Array) -> Array:
    """Corners of a convex polygon in order, counter-clockwise as seen from where the normal points."""
    normal = normal / np.abs(normal).max()
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    second = np.cross(normal, first)
    # Both have the same length: the second is orthogonal to the normal and the first, so scaling it is enough.
    second = second * (np.linalg.norm(first) / np.linalg.norm(second))
    away = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(away @ second, away @ first), kind="stable")]


def _together(ids: Ids, found: list[list[Face]]) -> Polyhedra:
    # Less than four faces enclose nothing: what is left of a cell then is flat.
    kept = [item for item, faces in enumerate(found) if len(faces) > 3]
    faces = [face for item in kept for face in found[item]]
    face_start = np.concatenate([[0], np.cumsum([len(found[item]) for item in kept])]).astype(np.int64)
    corner_start = np.concatenate([[0], np.cumsum([len(corners) for corners, _ in faces])]).astype(np.int64)
    points = np.concatenate([corners for corners, _ in faces]) if faces else np.zeros((0, 3))
    on = np.array([label for _, label in faces], dtype=np.int64)
    return Polyhedra(ids[kept], face_start, corner_start, points, on)
