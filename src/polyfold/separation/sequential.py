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

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.inputs import real_array
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import DataError, ShapeError, how_many
from polyfold.exact.rational_arrays import Rationals, nearest
from polyfold.separation.data import LabelledData, PointSet, joined, labelled, point_set, proved_of
from polyfold.separation.hulls import CommonPoint, Separation, Weights, separate
from polyfold.separation.limits import limit, through_centre
from polyfold.separation.realise import greedily, realised
from polyfold.separation.steps import DeadEnd, LimitPoint, Obstacle, Step


@dataclass(frozen=True, eq=False)
class SequentialSeparability(Verdict):
    """Whether classes can be cut off one after the other by hyperplanes.

    As a truth value, "unknown" raises UnknownError.

    Attributes
    ----------
    verdict : "yes", "no" or "unknown"
        "yes" has `steps` in the order in which they are done; "no" has `dead_ends`, which prove that no order works;
        "unknown" says in `reason` what stopped the search.
    centre : array of float, shape (d,)
        The mean of the classes' means (or the point given), rounded.
    labels : tuple
        The classes.
    steps : tuple of Step
        The hyperplanes.
    dead_ends : tuple of DeadEnd
        Beginnings of orders that nothing can follow.
    programs : int
        How many pairs of sets were tried.
    reason : str
        The answer in words.
    same_point : tuple of two int, optional
        Two rows of X that are the same point with different labels, if there are any. They alone prove that no order
        works: whichever class comes first cannot be cut off from the other.
    """

    words = ("separable", "not separable", "unknown")

    verdict: Literal["yes", "no", "unknown"]
    centre: Array
    labels: tuple[Hashable, ...]
    steps: tuple[Step, ...]
    dead_ends: tuple[DeadEnd, ...]
    programs: int
    reason: str
    same_point: tuple[int, int] | None = None

    def ask_instead(self) -> str:
        return "look at its verdict and reason, or give it more time (max_seconds)"

    @property
    def order(self) -> tuple[Hashable, ...]:
        """The labels in the order of the steps; empty if there are none."""
        return tuple(step.label for step in self.steps)

    @property
    def margin(self) -> float:
        """The smallest margin of all steps; NaN if there are none."""
        return min((step.margin for step in self.steps), default=float("nan"))

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "order": self.order, "margin": self.margin}

    def __repr__(self) -> str:
        return f"SequentialSeparability: {len(self.labels)} classes, {self.reason}"


@question("separation.sequential")
def sequential(
    X: ArrayLike,
    y: ArrayLike,
    *,
    centre: ArrayLike | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> SequentialSeparability:
    """Decide whether an order of the classes exists in which each can be cut off from those to come.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Points.
    y : array, shape (n,)
        Their labels.
    centre : array of float, shape (d,), optional
        The point x-bar; the mean of the classes' means if not given.
    max_seconds : float, optional
        The limit; if it does not suffice the answer is "unknown".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many pairs of sets
        were tried.

    Returns
    -------
    SequentialSeparability
        The verdict, with the hyperplanes or the proof that there are none.

    Examples
    --------
    >>> import polyfold as pf
    >>> found = pf.separation.sequential([[0, 0], [1, 0], [5, 0], [5, 1], [0, 6]], [0, 0, 1, 1, 2])
    >>> found.word, sorted(found.order)
    ('separable', [0, 1, 2])
    >>> crossed = pf.separation.sequential([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> crossed.word, crossed.dead_ends[0].blocked[0].own
    ('not separable', {0: Fraction(1, 2), 1: Fraction(1, 2)})
    """
    data = labelled(X, y)
    try:
        middle = data.centre if centre is None else _given(centre, data)
    except OutOfTimeError as error:
        nowhere, reason = np.full(data.dim, np.nan), f"unknown: {error.stopped_by} ended the search"
        unknown = SequentialSeparability("unknown", nowhere, data.labels, (), (), 0, reason)
        return answered(unknown, stopped_by=error.stopped_by)
    found = sequence_of(data, middle)
    steps = tuple(_in_users_unit(data, step) for step in found.steps)
    given = replace(found, centre=data.given(found.centre), steps=steps)
    return answered(given, found.evidence, stopped_by=found.stopped_by)


def sequence_of(data: LabelledData, middle: PointSet) -> SequentialSeparability:
    """The same of data that have been checked, and their centre; points and margins are in the data's unit."""
    search = _Search(data, middle)
    if data.same_point is not None:
        return search.result("no", f"not separable in any order ({data.in_words(data.same_point)})")
    try:
        if not search.centre_in_a_hull():
            steps = greedily(data, middle)
            if steps is not None:
                return search.result("yes", steps=steps)
        order = search.run()
        if order is None:
            return search.result("no", f"not separable in any order ({search.report()})")
        steps = realised(data, middle, [data.row_of(point.label) for point in order])
    except OutOfTimeError as error:
        return search.result("unknown", f"unknown: {error.stopped_by} ended the search", stopped_by=error.stopped_by)
    if steps is None:
        return search.result("unknown", "unknown: hyperplanes, if there are any, leave less room than floats can tell")
    return search.result("yes", steps=steps)


@dataclass
class _Search:
    """A depth-first search through the orders of the classes."""

    data: LabelledData
    centre: PointSet
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
        tick()
        self.programs += 1
        running().tell(self.programs, what="pairs of sets tried")
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

    def result(
        self,
        verdict: Literal["yes", "no", "unknown"],
        reason: str = "",
        steps: tuple[Step, ...] = (),
        stopped_by: str | None = None,
    ) -> SequentialSeparability:
        """The answer with what was found on the way."""
        data = self.data
        reason = reason or f"separable in the order {', '.join(str(step.label) for step in steps)}"
        ends = tuple(self.dead_ends) if verdict == "no" else ()
        centre = self.centre.floats[0]
        found = SequentialSeparability(
            verdict, centre, data.labels, steps, ends, self.programs, reason, data.same_point
        )
        if verdict == "unknown":
            return answered(found, stopped_by=stopped_by)
        return answered(found, proved_of(data, "hyperplanes, or points of both hulls, in rationals"))


def _without(classes: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(other for other in classes if other != k)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _given(centre: Any, data: LabelledData) -> PointSet:
    point = real_array("centre must be a point", centre)
    if point.shape != (data.dim,) or not np.isfinite(point).all():
        wanted = how_many(data.dim, "finite number")
        raise ShapeError(f"centre must be {wanted}, one per feature, got {point.tolist()}")
    found = data.measured(point[None])
    if not np.isfinite(found.floats).all():
        raise DataError(f"centre {point.tolist()} is too far away from data of the size {np.abs(data.X).max():g}")
    return found


def _in_users_unit(data: LabelledData, step: Step) -> Step:
    return replace(step, point=data.given(step.point), margin=float(data.given(np.array(step.margin))))
