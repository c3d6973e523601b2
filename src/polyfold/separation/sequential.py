"""Sequential linear separability: can classes be cut off one after the other by hyperplanes?

The definition: an order of the classes and for class j a point p_j strictly between the centre c and the class's mean,
and a hyperplane through p_j that has class j strictly on one side and p_1, ..., p_(j-1) and all later classes strictly
on the other.

Such a hyperplane through *some* p_j exists if and only if one lies strictly between class j and {c, p_i, later
classes}: it has the mean on one side and c on the other, so it crosses the segment. And the nearer p_i is to c, the
easier it is for classes after i, because p_i lies between c and any point of the segment farther out. So classes take
their infimum (`limits.py`), all of it linear programs, and an order works if and only if it does with these limits:
hulls that do not meet still do not if points move a little.

Orders are searched depth first. A class whose infimum is zero can be taken at once without loss: in any order that
works, moved to the front, it is in no one's way (its point lies between c and its own mean, which the classes before it
had on the right side already; and for those after it the point is as near to c as can be). Taking any class
that can be cut off is *not* without loss: an early point may lie farther from c than a later one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.as_found import first_hand
from polyfold._base.inputs import real_array
from polyfold.errors import DataError, ShapeError, how_many
from polyfold.exact.rational_arrays import Rationals, nearest
from polyfold.separation.data import LabelledData, PointSet, deadline_after, joined, labelled, point_set
from polyfold.separation.hulls import CommonPoint, Separation, Weights, separate
from polyfold.separation.limits import limit, through_centre
from polyfold.separation.realise import greedily, realised
from polyfold.separation.sequence_result import (
    DeadEnd,
    LimitPoint,
    Obstacle,
    SequentialSeparability,
    Status,
    Step,
)

Array = npt.NDArray[np.float64]


def sequential(X: Any, y: Any, *, centre: Any = None, max_seconds: float | None = None) -> SequentialSeparability:
    """Decide whether an order of the classes exists in which each can be cut off from those to come.

    Parameters
    ----------
    X, y: points (n, d) and their labels (n,).
    centre: the point x-bar; the mean of the classes' means if not given.
    max_seconds: give up after so long, and say so.

    >>> found = sequential([[0, 0], [1, 0], [5, 0], [5, 1], [0, 6]], [0, 0, 1, 1, 2])
    >>> found.status, sorted(found.order)
    ('separable', [0, 1, 2])
    >>> crossed = sequential([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> crossed.status, crossed.dead_ends[0].blocked[0].own
    ('not separable', {0: Fraction(1, 2), 1: Fraction(1, 2)})
    """
    data = labelled(X, y)
    found = sequence_of(data, data.centre if centre is None else _given(centre, data), max_seconds)
    steps = tuple(_in_users_unit(data, step) for step in found.steps)
    return first_hand(replace(found, centre=data.given(found.centre), steps=steps))


def sequence_of(data: LabelledData, middle: PointSet, max_seconds: float | None) -> SequentialSeparability:
    """The same of data that have been checked, and their centre; points and margins are in the data's unit."""
    search = _Search(data, middle, deadline_after(max_seconds))
    if data.same_point is not None:
        return search.result("not separable", f"not separable in any order ({data.in_words(data.same_point)})")
    try:
        if not search.centre_in_a_hull():
            steps = greedily(data, middle, search.deadline)
            if steps is not None:
                return search.result("separable", steps=steps)
        order = search.run()
    except _OutOfTimeError:
        return search.result("undecided", f"undecided: {max_seconds:g} seconds were over before the search")
    if order is None:
        return search.result("not separable", f"not separable in any order ({search.report()})")
    steps = realised(data, middle, [data.row_of(point.label) for point in order])
    if steps is None:
        return search.result(
            "undecided", "undecided: hyperplanes, if there are any, leave less room than floats can tell"
        )
    return search.result("separable", steps=steps)


class _OutOfTimeError(Exception):
    """The time is over."""


@dataclass
class _Search:
    """A depth-first search through the orders of the classes."""

    data: LabelledData
    centre: PointSet
    deadline: float
    programs: int = 0
    dead_ends: list[DeadEnd] = field(default_factory=list)

    def centre_in_a_hull(self) -> bool:
        """Whether a class lies around the centre. It can never be cut off: one obstacle that holds in all orders."""
        for k in range(len(self.data.labels)):
            found = self._separate(self.data.of(k), self.centre)
            if isinstance(found, CommonPoint):
                self.dead_ends.append(DeadEnd((), (self._obstacle(k, found, (), ()),)))
                return True
        return False

    def run(self) -> tuple[LimitPoint, ...] | None:
        """An order that works, or None; then the dead ends prove that there is none."""
        return None if self.dead_ends else self._next((), tuple(range(len(self.data.labels))))

    def _next(self, before: tuple[LimitPoint, ...], left: tuple[int, ...]) -> tuple[LimitPoint, ...] | None:
        if not left:
            return before
        worse = self._dominated(before)
        if worse is not None:
            self.dead_ends.append(DeadEnd(before, (), worse_than=worse.order))
            return None
        blocked: list[Obstacle] = []
        possible: list[tuple[int, Separation]] = []
        for k in left:
            rest = _without(left, k)
            own, others = self.data.of(k), self._others(before, rest)
            found = self._separate(own, others)
            if isinstance(found, CommonPoint):
                blocked.append(self._obstacle(k, found, before, rest))
                continue
            normal = through_centre(own, others, self.centre, self.data.means.exact[k])
            if normal is not None:
                point = LimitPoint(self.data.labels[k], Fraction(0), nearest(normal), {}, {}, {}, Fraction(1))
                order = self._next((*before, point), rest)
                if order is None:
                    self.dead_ends.append(DeadEnd(before, (), without_loss=self.data.labels[k]))
                return order
            possible.append((k, found))
        points = [(self._limit_point(k, found, before, _without(left, k)), k) for k, found in possible]
        for point, k in sorted(points, key=lambda entry: (entry[0].least, entry[1])):
            order = self._next((*before, point), _without(left, k))
            if order is not None:
                return order
        self.dead_ends.append(DeadEnd(before, tuple(blocked)))
        return None

    def _dominated(self, before: tuple[LimitPoint, ...]) -> DeadEnd | None:
        """A dead end with the same classes, none of whose points was farther from the centre."""
        now = {point.label: point.least for point in before}
        for end in self.dead_ends:
            then = {point.label: point.least for point in end.before}
            if end.worse_than is None and then.keys() == now.keys() and all(then[k] <= now[k] for k in now):
                return end
        return None

    def _others(self, before: Iterable[LimitPoint], rest: tuple[int, ...]) -> PointSet:
        """The centre, the limit points of the classes before, and all points of the classes to come."""
        points = [point_set(self._place(point)[None]) for point in before]
        return joined(self.centre, *points, *(self.data.of(k) for k in rest))

    def _place(self, point: LimitPoint) -> Rationals:
        mean, origin = self.data.means.exact[self.data.row_of(point.label)], self.centre.exact[0]
        found: Rationals = origin + fmpq(point.least.numerator, point.least.denominator) * (mean - origin)
        return found

    def _separate(self, first: PointSet, second: PointSet) -> Separation | CommonPoint:
        if time.monotonic() > self.deadline:
            raise _OutOfTimeError
        self.programs += 1
        return separate(first, second)

    def _obstacle(self, k: int, found: CommonPoint, before: tuple[LimitPoint, ...], rest: tuple[int, ...]) -> Obstacle:
        return Obstacle(self.data.labels[k], self._rows(k, found.first), *self._parts(found.second, before, rest))

    def _limit_point(
        self, k: int, known: Separation, before: tuple[LimitPoint, ...], rest: tuple[int, ...]
    ) -> LimitPoint:
        others = self._others(before, rest)
        found = limit(self.data.of(k), others, self.centre, self.data.means.exact[k], known)
        own, parts = self._rows(k, found.first), self._parts(found.second, before, rest)
        return LimitPoint(self.data.labels[k], _fraction(found.value), None, own, *parts)

    def _rows(self, k: int, weights: Weights) -> dict[int, Fraction]:
        return {int(self.data.members[k][row]): _fraction(weight) for row, weight in weights.items()}

    def _parts(
        self, weights: Weights, before: tuple[LimitPoint, ...], rest: tuple[int, ...]
    ) -> tuple[Any, Any, Fraction]:
        """Weights of the set that `_others` makes, by where its points come from."""
        rows = np.concatenate([self.data.members[k] for k in rest]) if rest else np.empty(0, dtype=np.int64)
        others: dict[int, Fraction] = {}
        earlier: dict[Any, Fraction] = {}
        for place, weight in weights.items():
            if 0 < place <= len(before):
                earlier[before[place - 1].label] = _fraction(weight)
            elif place:
                others[int(rows[place - 1 - len(before)])] = _fraction(weight)
        return others, earlier, _fraction(weights.get(0, fmpq(0)))

    def report(self) -> str:
        """What the search did."""
        first = self.dead_ends[0]
        if len(first.blocked) == 1 and first.blocked[0].centre == 1:
            return f"the centre lies in the convex hull of class {first.blocked[0].label}"
        return (
            f"{how_many(len(self.dead_ends), 'beginning')} of orders, {how_many(self.programs, 'pair')} of sets tried"
        )

    def result(self, status: Status, reason: str = "", steps: tuple[Step, ...] = ()) -> SequentialSeparability:
        """The answer with what was found on the way."""
        reason = reason or f"separable in the order {', '.join(str(step.label) for step in steps)}"
        ends = tuple(self.dead_ends) if status == "not separable" else ()
        centre = self.centre.floats[0]
        twins = self.data.same_point
        labels, programs = self.data.labels, self.programs
        return first_hand(SequentialSeparability(status, centre, labels, steps, ends, programs, reason, twins))


def _without(classes: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(other for other in classes if other != k)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _given(centre: Any, data: LabelledData) -> PointSet:
    point = real_array("centre must be a point", centre)
    if point.shape != (data.dim,) or not np.isfinite(point).all():
        wanted = how_many(data.dim, "finite number")
        raise ShapeError(f"centre must be {wanted}, one for each feature, not {point.tolist()}")
    found = data.measured(point[None])
    if not np.isfinite(found.floats).all():
        raise DataError(f"centre {point.tolist()} is too far away from data of the size {np.abs(data.X).max():g}")
    return found


def _in_users_unit(data: LabelledData, step: Step) -> Step:
    return replace(step, point=data.given(step.point), margin=float(data.given(np.array(step.margin))))
