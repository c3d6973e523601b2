"""Proofs in floats about one cell: a witness is inside, a facet is one and this lies behind it, a row is implied.

A facet is proved from both sides at once. All over a small box around a point of it every other wall has one proved
sign, while the facet's own wall has both. So the box is parted by this wall alone: one part lies in the cell, the
other in the cell whose pattern has this one gate switched (or outside the domain), and both end at the facet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold.engine.validity import Validity, Walls
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import STEPS_ACROSS

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Signs = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Crossings:
    """For proposals of facets: whether each is proved, and a point behind it that belongs to the neighbour."""

    proved: Signs
    behind: Array


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

    def crossings(self, rows: Ids, points: Array) -> Crossings:
        """Prove that rows carry facets, given a point in the relative interior of each."""
        proved, behind = np.zeros(len(rows), dtype=bool), points.copy()
        distance = self.distances(points)
        distance[np.arange(len(rows)), rows] = np.inf
        room = distance.min(axis=1, initial=np.inf)
        room[np.isinf(room)] = 1.0
        for step in STEPS_ACROSS:
            left = np.flatnonzero(~proved & (room > 0))
            if not len(left):
                break
            way = (step * room[left])[:, None] * self.normals[rows[left]]
            inner, outer = points[left] - way, points[left] + way
            # A box around the point that holds both.
            radius = np.maximum(np.abs(inner - points[left]), np.abs(outer - points[left])) * (1 + relative(4)) + TINY
            fine = self._parted(rows[left], (points[left], radius), inner, outer)
            proved[left[fine]] = True
            behind[left[fine]] = outer[fine]
        return Crossings(proved, behind)

    def _parted(self, rows: Ids, box: tuple[Array, Array], inner: Array, outer: Array) -> Signs:
        own = np.arange(len(rows)), self.validity.wall[rows]
        signs, certain = self._walls.signs(*box)
        right = certain & (signs == self._expected)
        right[own] = True
        fine: Signs = right.all(axis=1)
        for points, side in ((inner, True), (outer, False)):
            signs, certain = self._walls.signs(points, np.zeros_like(points))
            fine &= certain[own] & ((signs[own] == self._expected[own[1]]) == side)
        return fine

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
