"""How near to the centre a class can be cut off: the least part of the way from the centre to the class's mean.

A hyperplane between a class A and a set B that holds the centre c crosses the segment from c to the mean m of A at
p(s) = c + s (m - c). Of all such hyperplanes the infimum of s is a linear program's answer. Its dual proves it from
below: p(s) and points of A, with weights, add up to points of B with the same total weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.combination import combination
from polyfold.exact.float_programs import linear_program
from polyfold.exact.linear_program import integer_row, maximise
from polyfold.exact.rational_arrays import Rationals, product, rationals
from polyfold.separation.data import PointSet
from polyfold.separation.hulls import Separation, Weights, scaling

_ONE, _ZERO = fmpq(1), fmpq(0)

# A limit is a ratio of determinants. Points at limits are corners of later limits, whose digits would double from
# step to step; longer ones are rounded down to so many bits, which leaves them proved from below.
_MOST_BITS = 256
_BITS_KEPT = 64


@dataclass(frozen=True, eq=False)
class Limit:
    """No hyperplane between A and B crosses the segment at s <= value.

    Proof: p(value) + sum first_a a = sum second_b b with weights >= 0 and sum second = 1 + sum first. A hyperplane
    through p(s) or nearer to the centre, with A strictly on one side and B on the other, would contradict it.
    """

    value: fmpq
    first: Weights
    second: Weights


def through_centre(first: PointSet, second: PointSet, centre: PointSet, mean: Rationals) -> Rationals | None:
    """A normal n with n . a <= n . c <= n . b and n . m < n . c, checked in rationals, or None if none was found.

    With a strict separation of A and B, which leans this hyperplane a little, it proves that the infimum is zero.
    """
    own, other = first.floats - centre.floats, second.floats - centre.floats
    scale, _ = scaling(np.concatenate([own, other, -own, -other]))
    rows = np.concatenate([own, -other]) * scale
    lengths = np.abs(rows).max(axis=1)
    rows = rows[lengths > 0]
    found = linear_program(
        [0.0] * first.dim + [-1.0],
        A_ub=np.column_stack([rows, lengths[lengths > 0]]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * first.dim + [(None, 1)],
    )
    if found.status != 0 or found.x[-1] < 0:
        return None
    normal = rationals(found.x[:-1] * scale)
    level = product(centre.exact, normal)[0]
    leans = product(mean[None], normal)[0] < level
    inside = first.along(normal)[1] <= level <= second.along(normal)[0]
    return normal if leans and inside else None


def limit(first: PointSet, second: PointSet, centre: PointSet, mean: Rationals, known: Separation) -> Limit:
    """The infimum of s, or what is less than a rounding below it. `second` has the centre as its point 0; `known`
    separates both sets."""
    return _shortened(_infimum(first, second, centre, mean, known))


def _infimum(first: PointSet, second: PointSet, centre: PointSet, mean: Rationals, known: Separation) -> Limit:
    step = mean - centre.exact[0]
    support = _proposed(first.floats - centre.floats, second.floats - centre.floats, step)
    target = [-entry for entry in (*centre.exact[0], _ONE)]
    rows = _dual_rows(first, second, step, support)
    weights = _solved(rows, target)
    if weights is not None:
        return _as_limit(weights, support, len(first))
    return _exactly(first, second, centre, step, known, support)


def _shortened(found: Limit) -> Limit:
    """The same with fewer digits: a point nearer to the centre is a mixture of this one and the centre."""
    if not found.value or int(found.value.q).bit_length() <= _MOST_BITS:
        return found
    value = fmpq(int(found.value * (1 << _BITS_KEPT)), 1 << _BITS_KEPT)
    part = value / found.value
    second = {k: part * weight for k, weight in found.second.items()}
    second[0] = second.get(0, _ZERO) + 1 - part
    return Limit(value, {k: part * weight for k, weight in found.first.items() if part}, second)


def _proposed(own: Array, other: Array, step: Rationals) -> list[int]:
    """Which points bound s, in floats and seen from the centre."""
    scale, _ = scaling(np.concatenate([own, other, -own, -other]))
    rows = np.block([[own * scale, np.ones((len(own), 1))], [-other * scale, -np.ones((len(other), 1))]])
    towards = np.array([float(entry.p) / float(entry.q) for entry in step]) * scale
    found = linear_program(
        [0.0] * own.shape[1] + [1.0],
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=[[*(-towards), 0.0]],
        b_eq=[1.0],
        bounds=[(None, None)] * (own.shape[1] + 1),
    )
    if found.status != 0:
        return [len(own)]
    return np.flatnonzero(found.ineqlin.marginals < 0).tolist() or [len(own)]


def _dual_rows(first: PointSet, second: PointSet, step: Rationals, support: Sequence[int]) -> list[list[fmpq]]:
    """What the centre has to be made of: the step, points of the first set, and points of the second, turned round."""
    count = len(first)
    rows = [[*step, _ZERO]]
    for k in support:
        rows.append([*first.exact[k], _ONE] if k < count else [-x for x in (*second.exact[k - count], _ONE)])
    return rows


def _solved(rows: Sequence[Sequence[fmpq]], target: Sequence[fmpq]) -> list[fmpq] | None:
    integers = [[*integer_row(list(row)), 0] for row in rows]
    goal = [*integer_row(list(target)), 0]
    found = combination(integers, goal)
    if found is None:
        return None
    down = _scale(goal, target)
    return [factor * _scale(whole, row) / down for factor, whole, row in zip(found, integers, rows, strict=True)]


def _scale(integers: Sequence[int], row: Sequence[fmpq]) -> fmpq:
    return next((fmpq(whole) / entry for whole, entry in zip(integers, row, strict=False) if entry), _ONE)


def _as_limit(weights: Sequence[fmpq], support: Sequence[int], count: int) -> Limit:
    of = dict(zip(support, weights[1:], strict=True))
    first = {k: weight for k, weight in of.items() if k < count and weight}
    second = {k - count: weight for k, weight in of.items() if k >= count and weight}
    return Limit(weights[0], first, second)


def _exactly(
    first: PointSet, second: PointSet, centre: PointSet, step: Rationals, known: Separation, support: Sequence[int]
) -> Limit:
    """The same linear program in rationals over normals n and s, seen from the centre; few points to begin with."""
    count, dim = len(first), first.dim
    origin = centre.exact[0]
    lean = -product(step[None], known.normal)[0]
    start = [entry / lean for entry in known.normal]
    start.append((product(centre.exact, known.normal)[0] - known.offset) / lean)
    working = sorted({count, *support})  # point 0 of the second set is the centre: it keeps s from falling below zero
    while True:
        tick()
        rows = [
            [*(first.exact[k] - origin), _ONE] if k < count else [*(origin - second.exact[k - count]), -_ONE]
            for k in working
        ]
        best = maximise(
            [_ZERO] * dim + [-_ONE],
            rows,
            [_ZERO] * len(rows),
            equalities=([[*step, _ZERO]], [-_ONE]),
            start=start,
        )
        assert best.point is not None and best.multipliers is not None
        normal, s = np.array(best.point[:dim], dtype=object), best.point[dim]
        level = product(centre.exact, normal)[0] - s
        inside, outside = product(first.exact, normal), product(second.exact, normal)
        worst = {int(np.argmax(inside)), count + int(np.argmin(outside))}
        if max(inside) <= level <= min(outside):
            return _as_limit([s, *best.multipliers[: len(working)]], working, count)
        working = sorted({*working, *worst})
