"""Whether a hyperplane lies strictly between two finite sets of points: the hyperplane, or a point in both hulls.

HiGHS proposes. A hyperplane that it proposes is checked in rationals at all points; where there is none, the points
that keep the gap shut are the corners of a common point of both convex hulls, and its weights are solved for in
integers. What neither settles, an exact linear program does, on few points to begin with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.combination import combination
from polyfold.exact.float_programs import linear_program
from polyfold.exact.linear_program import dot, integer_row, maximise
from polyfold.exact.rational_arrays import Rationals, rationals
from polyfold.separation.data import PointSet

Weights = Mapping[int, fmpq]
_ONE, _ZERO = fmpq(1), fmpq(0)


@dataclass(frozen=True, eq=False)
class Separation:
    """normal . a <= below < above <= normal . b for all points a of the first set and b of the second, exactly."""

    normal: Rationals
    below: fmpq
    above: fmpq

    @property
    def offset(self) -> fmpq:
        """The value of the hyperplane half way."""
        return (self.below + self.above) / 2


@dataclass(frozen=True, eq=False)
class CommonPoint:
    """A point of both convex hulls: positive weights of some points of either set, which add up to one each."""

    first: Weights
    second: Weights


def separate(first: PointSet, second: PointSet) -> Separation | CommonPoint:
    """A hyperplane strictly between two sets, or a proof that there is none.

    >>> from polyfold.separation.data import point_set
    >>> square = [point_set(rationals(rows)) for rows in ([[0, 0], [1, 1]], [[0, 1], [1, 0]])]
    >>> separate(*square).first
    {0: 1/2, 1: 1/2}
    """
    normal, support = widest_gap(first.floats, second.floats)
    if normal is not None:
        found = gap_along(rationals(normal), first, second)
        if found is not None:
            return found
    common = _from_support(first, second, support)
    return common if common is not None else _exactly(first, second, support)


def gap_along(normal: Rationals, first: PointSet, second: PointSet) -> Separation | None:
    """The gap between both sets in one direction, or None if there is none."""
    below, above = first.along(normal)[1], second.along(normal)[0]
    return Separation(normal, below, above) if below < above else None


def widest_gap(first: Array, second: Array) -> tuple[Array | None, list[int]]:
    """In floats: the normal of a widest gap, if there seems to be one, and the points that bound it.

    Points of the second set are numbered behind those of the first. Features are scaled by powers of two.
    """
    count, dim = len(first), first.shape[1]
    scale, shift = scaling(np.concatenate([first, second]))
    a, b = (first - shift) * scale, (second - shift) * scale
    rows = np.block([[a, -np.ones((count, 1)), np.ones((count, 1))], [-b, np.ones((len(b), 1)), np.ones((len(b), 1))]])
    if not np.isfinite(rows).all():
        return None, [0, count]
    found = linear_program(
        [0.0] * (dim + 1) + [-1.0],
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * dim + [(None, None)] * 2,
    )
    if found.status != 0:
        return None, [0, count]
    support = np.flatnonzero(found.ineqlin.marginals < 0).tolist()
    return (of_size_one(found.x[:dim] * scale) if found.x[-1] > 0 else None), support or [0, count]


def of_size_one(normals: Array) -> Array:
    """Normals times a power of two, near one in size: their squares are then no more beyond all floats."""
    found: Array = np.ldexp(normals, -np.frexp(np.abs(normals).max())[1])
    return found


def scaling(points: Array) -> tuple[Array, Array]:
    """Powers of two and a shift that bring every feature near [-1, 1]."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = points.min(axis=0), points.max(axis=0)
        shift = low / 2 + high / 2
        _, exponent = np.frexp(high / 2 - low / 2)
    return np.ldexp(1.0, np.clip(-exponent, -1000, 1000)), shift


def positive_kernel(rows: Sequence[Sequence[fmpq]]) -> list[fmpq] | None:
    """Multipliers >= 0, not all zero, with which the rows add up to zero; None if none were found this way."""
    integers = [[*integer_row(list(row)), 0] for row in rows]
    for k, row in enumerate(integers):
        others = integers[:k] + integers[k + 1 :]
        found = combination(others, [-entry for entry in row])
        if found is not None:
            scaled = [*found[:k], _ONE, *found[k:]]
            return [
                factor * _scale_of(whole, list(original))
                for factor, whole, original in zip(scaled, integers, rows, strict=True)
            ]
    return None


def _scale_of(integers: Sequence[int], row: Sequence[fmpq]) -> fmpq:
    return next((fmpq(whole) / entry for whole, entry in zip(integers, row, strict=False) if entry), _ONE)


def _from_support(first: PointSet, second: PointSet, support: Sequence[int]) -> CommonPoint | None:
    count = len(first)
    if not any(k < count for k in support) or not any(k >= count for k in support):
        return None
    rows = [
        [*first.exact[k], _ONE] if k < count else [-entry for entry in (*second.exact[k - count], _ONE)]
        for k in support
    ]
    found = positive_kernel(rows)
    return None if found is None else _normalised(dict(zip(support, found, strict=True)), count)


def _normalised(weights: Mapping[int, fmpq], count: int) -> CommonPoint:
    total = sum((weight for k, weight in weights.items() if k < count), _ZERO)
    first = {k: weight / total for k, weight in weights.items() if k < count and weight}
    second = {k - count: weight / total for k, weight in weights.items() if k >= count and weight}
    return CommonPoint(first, second)


def _exactly(first: PointSet, second: PointSet, support: Sequence[int]) -> Separation | CommonPoint:
    """The widest gap in rationals. Points that a gap between few of them leaves on the wrong side join in."""
    count, dim = len(first), first.dim
    working = sorted({0, count, *support})
    objective = [_ZERO] * (dim + 1) + [_ONE]
    box = [[fmpq(sign * (j == k)) for j in range(dim + 2)] for k in range(dim) for sign in (1, -1)]
    while True:
        tick()
        rows = [
            [*first.exact[k], -_ONE, _ONE] if k < count else [*(-x for x in second.exact[k - count]), _ONE, _ONE]
            for k in working
        ]
        best = maximise(objective, [*rows, *box], [_ZERO] * len(rows) + [_ONE] * len(box), start=[_ZERO] * (dim + 2))
        assert best.value is not None and best.point is not None and best.multipliers is not None
        if best.value == 0:
            return _normalised(dict(zip(working, best.multipliers, strict=False)), count)
        normal = np.array(best.point[:dim], dtype=object)
        found = gap_along(normal, first, second)
        if found is not None:
            return found
        inside = [dot(list(row), list(normal)) for row in first.exact]
        outside = [dot(list(row), list(normal)) for row in second.exact]
        worst = {max(range(count), key=inside.__getitem__), count + min(range(len(outside)), key=outside.__getitem__)}
        working = sorted({*working, *worst})
