"""From an order of classes to points and hyperplanes in floats, proved in rationals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import Rationals, product, rationals
from polyfold.separation.data import LabelledData, PointSet, joined, point_set
from polyfold.separation.hulls import CommonPoint, separate
from polyfold.separation.hyperplanes import narrowest_cone
from polyfold.separation.limits import limit
from polyfold.separation.steps import Step

# How often the way to the limit is halved before floats are said to be too coarse.
_HALVINGS = 48


def realised(data: LabelledData, centre: PointSet, order: Sequence[int]) -> tuple[Step, ...] | None:
    """Steps in an order that works.

    Points half way through the widest gaps are tried first, for the sake of margins. If classes to come are then in the
    way, points nearer to their limits are, which depend on the points before.
    """
    for halving in range(_HALVINGS):
        tick()
        steps = _attempt(data, centre, order, fmpq(1, 1 << halving))
        if steps is not None:
            return steps
    return None


def step_at(
    data: LabelledData, centre: PointSet, k: int, mu: float, others: PointSet, normal: Array | None = None
) -> Step | None:
    """Class k cut off from others at a point given by mu, with a normal if it is given; None if that is not proved."""
    own, point = data.of(k), segment_point(data, centre, k, mu)
    behind, ahead = own.floats - point.floats, others.floats - point.floats
    choices = [normal] if normal is not None else [narrowest_cone(behind, ahead), _by_program(own, others, point)]
    for choice in choices:
        if choice is None:
            continue
        exact = rationals(choice)
        level = product(point.exact, exact)[0]
        below, above = own.along(exact)[1], others.along(exact)[0]
        if below < level < above:
            return Step(
                data.labels[k], mu, choice, point.floats[0], _distance(min(level - below, above - level), choice)
            )
    return None


def _distance(gap: fmpq, normal: Array) -> float:
    """How far apart two values of normal . x are in space; squares of the normal's entries may be beyond all floats."""
    size = int(np.frexp(np.abs(normal).max())[1])
    return as_float(gap / fmpq(2) ** size) / float(np.linalg.norm(np.ldexp(normal, -size)))


def segment_point(data: LabelledData, centre: PointSet, k: int, mu: float) -> PointSet:
    """mu centre + (1 - mu) mean of class k, exactly."""
    part = rational(mu)
    exact: Rationals = part * centre.exact[0] + (1 - part) * data.means.exact[k]
    return point_set(exact[None])


def still_there(data: LabelledData, points: Sequence[PointSet], rest: Sequence[int]) -> PointSet:
    """What a class has to be cut off from: the points of those before, and the classes to come."""
    return joined(*points, *(data.of(k) for k in rest))


def greedily(data: LabelledData, centre: PointSet) -> tuple[Step, ...] | None:
    """Steps in the first order that comes: any class that can be cut off is. None proves nothing.

    Classes far from the centre are tried first; that succeeds at once for data in clusters.
    """
    away = np.abs(data.means.floats - centre.floats).max(axis=1)
    left = np.argsort(-away, kind="stable").tolist()
    steps: list[Step] = []
    points: list[PointSet] = []
    while left:
        for k in left:
            tick()
            rest = [other for other in left if other != k]
            step = _cut(data, centre, k, still_there(data, points, rest), fmpq(1))
            if step is not None:
                break
        else:
            return None
        left = rest
        steps.append(step)
        points.append(segment_point(data, centre, k, step.mu))
    return tuple(steps)


def _attempt(data: LabelledData, centre: PointSet, order: Sequence[int], part: fmpq) -> tuple[Step, ...] | None:
    steps: list[Step] = []
    points: list[PointSet] = []
    for place, k in enumerate(order):
        step = _cut(data, centre, k, still_there(data, points, order[place + 1 :]), part)
        if step is None:
            return None
        steps.append(step)
        points.append(segment_point(data, centre, k, step.mu))
    return tuple(steps)


def _cut(data: LabelledData, centre: PointSet, k: int, others: PointSet, part: fmpq) -> Step | None:
    """Class k cut off in the middle of the widest gap, or a part of the way from its limit to there."""
    own, with_centre = data.of(k), joined(centre, others)
    found = separate(own, with_centre)
    if isinstance(found, CommonPoint):
        return None
    level = product(centre.exact, found.normal)[0]
    middle = (level - found.offset) / (level - product(data.means.exact[k][None], found.normal)[0])
    least = fmpq(0) if part == 1 else limit(own, with_centre, centre, data.means.exact[k], found).value
    mu = as_float(1 - least - part * (middle - least))
    return step_at(data, centre, k, mu, others) if 0 < mu < 1 else None


def _by_program(own: PointSet, others: PointSet, point: PointSet) -> Array | None:
    """A normal through the point from a linear program whose features are scaled: for data of very different units."""
    both = separate(
        joined(own, point_set(2 * point.exact - others.exact)), joined(others, point_set(2 * point.exact - own.exact))
    )
    if isinstance(both, CommonPoint):
        return None
    return np.array([as_float(entry) for entry in both.normal])
