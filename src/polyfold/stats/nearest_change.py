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

from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.inputs import rows_of
from polyfold._base.question import question
from polyfold._base.result import InFloats, Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.asked import finite
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.errors import DomainError, PolyfoldError, how_many
from polyfold.stats.classes import Classes, as_classes
from polyfold.stats.nearest_point import DUAL, Nearest, nearest_point, roughly_nearest_point

Norm = Literal["l1", "l2", "linf"]

_ORDERS = {"l1": 1.0, "l2": 2.0, "linf": inf}
# With more dimensions cells have too many vertices to find boxes around them by.
_FEW_DIMENSIONS = 7


@dataclass(frozen=True, eq=False)
class NearestChange(InFloats, Rows):
    """For every point: the distance to the nearest point of another class, and that point.

    `evidence` says what is known of the cells and of their parts by class.

    Attributes
    ----------
    distance : array of float, shape (n,)
        How far away it is: infinite where the whole domain is of one class, NaN where a limit came first.
    point : array of float, shape (n, d)
        The nearest point, in the domain's parameters: points of the other class come as near to it as one likes. NaN
        where there is none, or where a limit came first.
    label, other : array of int, shape (n,)
        The class of the point asked about, and the other one; that is -1 where there is none.
    cell : array of int, shape (n,)
        The cell in which the nearest point lies; -1 where there is none.
    gap : array of float, shape (n,)
        How much nearer the nearest point can be at most, by the multipliers of linear inequalities: the size of
        roundings, and not more than `distance`.
    norm : str
        "l1", "l2" or "linf".
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
        known = self.distance[~np.isnan(self.distance)]
        nearest = f", the nearest {known.min():g} away" if len(known) else ""
        stopped = "" if self.complete else f", {len(known):,} of them looked at, stopped by {self.stopped_by}"
        return f"NearestChange: {how_many(len(self), 'point')}{stopped}{nearest} ({self.norm}); {self.evidence}"

    def rows(self) -> dict[str, Any]:
        """One row per point."""
        names = ("label", "distance", "other", "cell", "gap")
        columns = {name: getattr(self, name) for name in names}
        return columns | {f"point_{k}": self.point[:, k] for k in range(self.point.shape[1])}

    def ask_instead(self) -> str:
        return "compare its distances"


@question("stats.nearest_change")
def nearest_change(
    source: SourceLike | Classes,
    X: ArrayLike,
    domain: DomainLike = None,
    *,
    norm: Norm = "l2",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> NearestChange:
    """The distance of every row of X to the nearest point of the domain that is classified differently.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Classes
        What is asked about. Anything but an atlas is unfolded on the domain first; classes that were found before need
        not be found again.
    X : array of float, shape (n, d)
        Points of the domain, in its parameters; on a slice distances are between parameters, too.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    norm : "l1", "l2" or "linf"
        How distances are measured.
    max_seconds : float, optional
        The limit. Points that were not looked at by then, or by Ctrl-C, have the distance NaN; LimitError if it does
        not suffice to find the classes.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    NearestChange
        The nearest point of another class for every row of X, and how far away it is.

    Examples
    --------
    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.stats.nearest_change(larger, [[0.75, 0.25]], pf.box(0, 1), norm="linf")
    >>> found.distance.tolist(), found.point.tolist(), found.label.tolist(), found.other.tolist()
    ([0.25], [[0.5, 0.5]], [0], [1])
    """
    if norm not in _ORDERS:
        raise PolyfoldError(f"norm={norm!r} must be 'l1', 'l2' or 'linf'")
    found = as_classes(source, domain, threads)
    points = rows_of(X, found.atlas.domain.dim)
    home = found.atlas.locate(points, outside="ignore")
    if (home < 0).any():
        first = int(np.flatnonzero(home < 0)[0])
        raise DomainError(f"point {first}, {points[first].tolist()}, lies outside the domain that was unfolded")
    label = found.label[home]
    n = len(points)
    result = NearestChange(
        np.full(n, np.nan),
        np.full(points.shape, np.nan),
        label,
        np.full(n, -1),
        np.full(n, -1),
        np.zeros(n),
        norm,
    )
    clock, stopped_by, done = running(), None, 0
    with clock.noting_interrupts():
        try:
            for own in np.unique(label).tolist():
                rivals = _Rivals(found, own, _ORDERS[norm])
                for row in np.flatnonzero(label == own).tolist():
                    clock.tell(done, n, "points")
                    rivals.search(points[row], row, result)
                    done += 1
        except OutOfTimeError as error:
            stopped_by = error.stopped_by
    return answered(result, found.evidence, stopped_by=stopped_by)


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
            tick()
            # Divided twice, so that squares do not overflow.
            sizes = np.abs(rows.A).max(axis=1, initial=0.0)
            tick()
            lengths = np.linalg.norm(rows.A / sizes[:, None], DUAL[p], axis=1)
            self.A, self.b = rows.A / sizes[:, None] / lengths[:, None], rows.b / sizes / lengths
        self.start = rows.start
        tick()
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
        tick()
        if not len(self.ids):
            result.distance[row] = inf
            return
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
        tick()
        rows = slice(self.start[item], self.start[item + 1])
        return find(self.A[rows], self.b[rows], x, self.p)
