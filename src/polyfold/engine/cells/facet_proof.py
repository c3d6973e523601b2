"""Proofs in floats about one cell: a witness is inside, a facet is one and this lies behind it, a row is implied.

A facet is proved from both sides at once. All over a small box around a point of it every other wall has one proved
sign, while the facet's own wall has both. So the box is parted by this wall alone: one part lies in the cell, the
other in the cell whose pattern has this one gate switched (or outside the domain), and both end at the facet.
Where several walls lie there, exact forms tell that they are one (`shared_walls.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Ids, Signs
from polyfold.engine.cells.shared_walls import SharedWalls
from polyfold.engine.cells.validity import Validity, Walls
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import STEPS_ACROSS


@dataclass(frozen=True, eq=False)
class Crossing:
    """A facet that is proved: its walls, and a point behind it with its pattern (None where the domain ends)."""

    walls: tuple[int, ...]
    behind: Array
    across: Signs | None
    exactly: bool
    """Whether exact forms were needed."""


@dataclass(frozen=True, eq=False)
class _Box:
    """A box around a point of a wall: which walls have the cell's sign all over it (`held`), and which at an inner
    point (`inside`); and all signs at an outer point, and which of those are `certain`."""

    held: Signs
    inside: Signs
    signs: Signs
    certain: Signs
    inner: Array
    outer: Array


class FloatProofs:
    """Proofs about the cell of one pattern."""

    def __init__(self, walls: Walls, validity: Validity) -> None:
        self._walls = walls
        self.validity = validity
        self._expected = np.concatenate([validity.signs, np.ones(walls.domain.rows, dtype=bool)])
        self.norms = np.linalg.norm(validity.A, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.normals = np.where(self.norms[:, None] > 0, validity.A / self.norms[:, None], 0.0)

    def distances(self, points: Array) -> Array:
        """How far each point (k) lies inside each row (rows): (k, rows), infinite for rows that do not depend on u."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = (self.validity.b - points @ self.validity.A.T) / self.norms
        return np.where(self.norms > 0, inside, np.inf)

    def is_inside(self, point: Array) -> bool:
        """Whether a point is proved to lie strictly inside the cell."""
        room = float(self.distances(point[None, :]).min(initial=np.inf))
        if not room > 0:
            return False
        # A gate may be zero at the point only if it is so around it.
        step = STEPS_ACROSS[0] * (room if np.isfinite(room) else 1.0)
        signs, certain = self._walls.signs(point[None, :], np.full((1, len(point)), step))
        return bool((certain & (signs == self._expected)).all())

    def crossings(self, rows: Ids, points: Array, shared: SharedWalls) -> list[Crossing | None]:
        """Prove that rows carry facets, given a point in the relative interior of each; None where that fails."""
        found: list[Crossing | None] = [None] * len(rows)
        distance = self.distances(points)
        distance[np.arange(len(rows)), rows] = np.inf
        room = distance.min(axis=1, initial=np.inf)
        room[np.isinf(room)] = 1.0
        for step in STEPS_ACROSS:
            left = np.array([k for k, crossing in enumerate(found) if crossing is None and room[k] > 0], dtype=np.int64)
            if not len(left):
                break
            way = (step * room[left])[:, None] * self.normals[rows[left]]
            inner, outer = points[left] - way, points[left] + way
            # A box around the point that holds both.
            radius = np.maximum(np.abs(inner - points[left]), np.abs(outer - points[left])) * (1 + relative(4)) + TINY
            in_box = self._held(*self._walls.signs(points[left], radius))
            inside = self._held(*self._walls.signs(inner, np.zeros_like(inner)))
            signs, certain = self._walls.signs(outer, np.zeros_like(outer))
            for i, k in enumerate(left.tolist()):
                box = _Box(in_box[i], inside[i], signs[i], certain[i], inner[i], outer[i])
                found[k] = self._parted(int(rows[k]), box, shared)
        return found

    def _held(self, signs: Signs, certain: Signs) -> Signs:
        """Which walls are proved to have the cell's sign."""
        held: Signs = certain & (signs == self._expected)
        return held

    def _parted(self, row: int, box: _Box, shared: SharedWalls) -> Crossing | None:
        """The crossing of a row in a box that its walls part, if they do."""
        gates = len(self.validity.signs)
        own = shared.groups[row]
        doubtful = np.setdiff1d(np.flatnonzero(~box.held), own).tolist()
        together = [*own, *doubtful]
        if not box.inside[together].all():
            return None
        if len(together) == 1:
            (wall,) = own
            if not box.certain[wall] or box.signs[wall] == self._expected[wall]:
                return None
            walls, ends = own, wall >= gates
        else:
            ends = max(together) >= gates
            if not ends and not box.certain[together].all():
                return None
            found = shared.facet_walls(row, doubtful, box.inner, box.outer, self._across(together, box))
            if found is None:
                return None
            walls = found
        across = None if ends else self._across(together, box)
        return Crossing(walls, box.outer, across, len(together) > 1)

    def _across(self, switched: list[int], box: _Box) -> Signs:
        """The cell's pattern with these gates as they are at the outer point."""
        across = self._expected.copy()
        across[switched] = box.signs[switched]
        return across[: len(self.validity.signs)]

    def implied(self, row: int, multipliers: Array) -> bool:
        """Whether multipliers >= 0 of the other rows prove that a row holds strictly all over the domain's box."""
        return bool(self.margins(np.array([row]), multipliers[None, :])[0] > 0)

    def margins(self, rows: Ids, multipliers: Array) -> Array:
        """What is proved to be left of b - a . u at least, all over the domain's box, given multipliers (k, rows)."""
        box = self._walls.bounding_box
        if box is None:
            return np.full(len(rows), -np.inf)
        centre, half = box
        V, far = self.validity, np.abs(centre) + half
        rest = V.A[rows] - multipliers @ V.A
        left = (V.b[rows] - multipliers @ V.b) - rest @ centre - np.abs(rest) @ half
        sizes = (np.abs(V.A[rows]) + multipliers @ np.abs(V.A)) @ far + np.abs(V.b[rows]) + multipliers @ np.abs(V.b)
        errors = (V.A_error[rows] + multipliers @ V.A_error) @ far + V.b_error[rows] + multipliers @ V.b_error
        margin: Array = left - (relative(V.A.shape[1] + len(V) + 16) * sizes + errors) * (1 + relative(64)) - TINY
        return margin
