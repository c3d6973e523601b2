"""How far a point is from being classified differently, and where.

The nearest point of another class lies on the decision boundary, in a part of a cell that a facet separates from the
point's own class. Walls say how far away each such part is at least; the parts are looked at in this order, until the
next one is farther away than the nearest point found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold.atlas.asked import finite
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, resting_on
from polyfold.domain.points import parameter_rows
from polyfold.errors import DomainError, PolyfoldError, how_many
from polyfold.stats.classes import Classes, as_classes
from polyfold.stats.nearest_point import DUAL, Nearest, nearest_point, roughly_nearest_point

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Norm = Literal["l1", "l2", "linf"]

_ORDERS = {"l1": 1.0, "l2": 2.0, "linf": inf}
# With more dimensions cells have too many vertices to find boxes around them by.
_FEW_DIMENSIONS = 7


@dataclass(frozen=True, eq=False)
class NearestChange(Answer, InNotebooks):
    """For every point: the distance to the nearest point of another class, and that point.

    `point[i]`, in the domain's parameters, lies on the boundary between class `label[i]`, that of the point asked
    about, and class `other[i]`, in cell `cell[i]`: points of the other class come as near to it as one likes. Where the
    whole domain is of one class, `distance` is infinite, `point` NaN, `other` and `cell` are -1. `gap` is how much
    nearer the nearest point can be at most, by the multipliers of linear inequalities: it is the size of roundings, and
    not more than `distance`. `evidence` says what is known of the cells and of their parts by class.
    """

    distance: Array
    point: Array
    label: Ids
    other: Ids
    cell: Ids
    gap: Array
    norm: Norm

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        nearest = f", the nearest {self.distance.min():g} away" if len(self) else ""
        return f"NearestChange: {how_many(len(self), 'point')}{nearest} ({self.norm}); {self.evidence}"


def nearest_change(atlas: Atlas | Classes, X: Any, norm: Norm = "l2") -> NearestChange:
    """The distance of every row of X to the nearest point of the domain that is classified differently.

    Parameters
    ----------
    X: points (n, d) of the domain, in its parameters; on a slice distances are between parameters, too.
    norm: "l1", "l2" or "linf".

    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> atlas = pf.unfold(larger, pf.box(0, 1))
    >>> found = pf.stats.nearest_change(atlas, [[0.75, 0.25]], norm="linf")
    >>> found.distance.tolist(), found.point.tolist(), found.label.tolist(), found.other.tolist()
    ([0.25], [[0.5, 0.5]], [0], [1])
    """
    if norm not in _ORDERS:
        raise PolyfoldError(f"norm={norm!r} is no option: use 'l1', 'l2' or 'linf'")
    found = as_classes(atlas, "the nearest change of class")
    points = parameter_rows(found.atlas.domain, X)
    home = found.atlas.locate(points, outside="ignore")
    if (home < 0).any():
        first = int(np.flatnonzero(home < 0)[0])
        raise DomainError(f"point {first}, {points[first].tolist()}, lies outside the domain that was unfolded")
    label = found.label[home]
    n = len(points)
    result = NearestChange(
        np.full(n, inf),
        np.full(points.shape, np.nan),
        label,
        np.full(n, -1),
        np.full(n, -1),
        np.zeros(n),
        norm,
    )
    for own in np.unique(label).tolist():
        rivals = _Rivals(found, own, _ORDERS[norm])
        for row in np.flatnonzero(label == own).tolist() if len(rivals.ids) else ():
            rivals.search(points[row], row, result)
    return resting_on(found.evidence, result)


class _Rivals:
    """The parts of other classes that share a facet with one class, as inequalities and boxes around them."""

    def __init__(self, classes: Classes, own: int, p: float) -> None:
        atlas, label = classes.atlas, classes.label
        owner, neighbour = atlas.facet_owner, atlas.neighbour.astype(np.int64)
        beside = (neighbour >= 0) & (label[owner] != own) & (label[neighbour] == own)
        self.classes, self.p = classes, p
        self.ids = np.unique(owner[beside])
        with np.errstate(over="ignore", invalid="ignore"):
            rows = atlas.halfspaces(self.ids)
            # Divided twice, so that squares do not overflow.
            sizes = np.abs(rows.A).max(axis=1, initial=0.0)
            lengths = np.linalg.norm(rows.A / sizes[:, None], DUAL[p], axis=1)
            self.A, self.b = rows.A / sizes[:, None] / lengths[:, None], rows.b / sizes / lengths
        self.start = rows.start
        finite(np.append(self.b, self.A), "the nearest change of class")
        few = len(self.ids) and atlas.dim <= _FEW_DIMENSIONS
        self._boxes = atlas.bounding_boxes(self.ids) if few else None

    def least_distances(self, x: Array) -> Array:
        """How far away each part is at least: the farthest that x is behind one of its walls, or outside of its box."""
        least: Array = np.maximum.reduceat(self.A @ x - self.b, self.start[:-1])
        if self._boxes is None:
            return least
        lo, hi = self._boxes
        outside: Array = np.linalg.norm(np.maximum(np.maximum(lo - x, x - hi), 0.0), self.p, axis=1)
        return np.maximum(least, outside)

    def search(self, x: Array, row: int, result: NearestChange) -> None:
        """The nearest of all parts to one point."""
        least = self.least_distances(x)
        if self.p != 2:
            # Nearest points in the norm 2 are found sooner, and say that most parts are too far away in the others.
            nearest = inf
            for item in np.argsort(least, kind="stable").tolist():
                if least[item] >= nearest:
                    break
                rough = self._at(item, x, roughly_nearest_point)
                least[item], nearest = max(least[item], rough.lower), min(nearest, rough.distance)
        best: Nearest | None = None
        where, lower = -1, inf
        for item in np.argsort(least, kind="stable").tolist():
            if best is not None and least[item] >= best.distance:
                lower = min(lower, float(least[item]))
                break
            here = self._at(item, x, nearest_point)
            lower = min(lower, here.lower)
            if best is None or here.distance < best.distance:
                best, where = here, item
        assert best is not None
        part = self.ids[where]
        result.distance[row], result.point[row] = best.distance, best.point
        result.other[row], result.cell[row] = self.classes.label[part], self.classes.cell[part]
        result.gap[row] = max(best.distance - max(lower, 0.0), 0.0)

    def _at(self, item: int, x: Array, find: Callable[[Array, Array, Array, float], Nearest]) -> Nearest:
        rows = slice(self.start[item], self.start[item + 1])
        return find(self.A[rows], self.b[rows], x, self.p)
