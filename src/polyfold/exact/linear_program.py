"""Exact linear programs: the largest c.x over A x <= b, in rational arithmetic.

The variables are free, and there are few of them. A climb starts at a known feasible point, not at a
vertex: seen from there the point is the origin, every row reads a.v <= slack with slack >= 0, and the
simplex method can begin with the free variables themselves outside the basis. Without a known point, a
first climb finds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd, lcm
from typing import Literal

from flint import fmpq

from polyfold._base.clock import tick
from polyfold.exact.tableau import Tableau

Vector = Sequence[fmpq]
Point = tuple[fmpq, ...]


@dataclass(frozen=True)
class Optimum:
    """The answer of a linear program.

    "optimal" has the largest value and a point that reaches it; "unbounded" a feasible point and a ray along
    which the objective grows for ever; "infeasible" none of them. An optimal answer also has multipliers >= 0 of the
    rows A x <= b (and behind them of E x <= f and -E x <= -f), which prove that there is nothing larger: the rows,
    multiplied and added, read c.x <= value.
    """

    status: Literal["optimal", "infeasible", "unbounded"]
    value: fmpq | None = None
    point: Point | None = None
    ray: Point | None = None
    multipliers: Point | None = field(default=None, repr=False)


def maximise(
    c: Vector,
    A: Sequence[Vector],
    b: Vector,
    *,
    equalities: tuple[Sequence[Vector], Vector] = ((), ()),
    start: Vector | None = None,
) -> Optimum:
    """The largest c.x with A x <= b and, for equalities (E, f), E x = f.

    A feasible `start` saves the search for one.

    >>> maximise([fmpq(1)], [[fmpq(2)]], [fmpq(3)])
    Optimum(status='optimal', value=3/2, point=(3/2,), ray=None)
    """
    E, f = equalities
    A = [*A, *E, *([-entry for entry in row] for row in E)]
    b = [*b, *f, *(-entry for entry in f)]
    point = feasible_point(A, b, len(c)) if start is None else tuple(start)
    if point is None:
        return Optimum("infeasible")
    climb = _Climb(c, A, _slacks(A, b, point))
    bounded = climb.run()
    top = _sum(point, climb.position())
    if bounded:
        return Optimum("optimal", dot(c, top), top, None, climb.multipliers())
    return Optimum("unbounded", None, top, climb.ray)


def point_above(c: Vector, level: fmpq, A: Sequence[Vector], b: Vector, start: Vector) -> Point | None:
    """Some x with A x <= b and c.x > level, or None if there is none; `start` is a point with A x <= b."""
    top = highest_point(c, level, A, b, start)
    return top if dot(c, top) > level else None


def highest_point(c: Vector, enough: fmpq, A: Sequence[Vector], b: Vector, start: Vector) -> Point:
    """Some x with A x <= b and c.x > enough, or, if there is none, one with c.x as large as possible.

    `start` is a point with A x <= b.
    """
    climb = _Climb(c, A, _slacks(A, b, start), enough=enough - dot(c, start))
    bounded = climb.run()
    top = _sum(start, climb.position())
    missing = enough - dot(c, top)
    if bounded or missing < 0:
        return top
    assert climb.ray is not None
    steps = missing / dot(c, climb.ray) + 1
    return tuple(x + steps * r for x, r in zip(top, climb.ray, strict=True))


def feasible_point(A: Sequence[Vector], b: Vector, dim: int) -> Point | None:
    """Some x in R^dim with A x <= b, or None."""
    excess = max((-entry for entry in b), default=fmpq(0))
    if excess <= 0:
        return (fmpq(0),) * dim
    # One more variable t loosens the rows to a.x - t <= b. The origin with t = excess is feasible; lower t.
    loosened = [[*row, fmpq(-1)] for row in A] + [[fmpq(0)] * dim + [fmpq(-1)]]
    lower = [fmpq(0)] * dim + [fmpq(-1)]
    best = maximise(lower, loosened, [*b, fmpq(0)], start=[fmpq(0)] * dim + [excess])
    assert best.point is not None
    return best.point[:dim] if best.value == 0 else None


def dot(a: Vector, x: Vector) -> fmpq:
    """a.x"""
    return sum((p * q for p, q in zip(a, x, strict=True)), fmpq(0))


def integer_row(row: Vector) -> list[int]:
    """The smallest integers in the same ratios and with the same signs.

    >>> integer_row([fmpq(2, 3), fmpq(-4)])
    [1, -6]
    """
    scale = lcm(*(int(entry.q) for entry in row))
    integers = [int(entry.p) * (scale // int(entry.q)) for entry in row]
    common = gcd(*integers) or 1
    return [entry // common for entry in integers]


def _ratio(integers: Sequence[int], row: Vector) -> fmpq:
    """The positive factor by which a row was scaled; one, if all of it is zero."""
    return next((fmpq(whole) / entry for whole, entry in zip(integers, row, strict=True) if entry), fmpq(1))


def _slacks(A: Sequence[Vector], b: Vector, point: Vector) -> list[fmpq]:
    return [bound - dot(row, point) for row, bound in zip(A, b, strict=True)]


def _sum(a: Vector, b: Vector) -> Point:
    return tuple(p + q for p, q in zip(a, b, strict=True))


class _Climb:
    """The simplex method for c.v over A v <= slack, from the feasible point v = 0.

    Lines of the table are the rows' slacks, and the last one the objective. They are scaled to integers; that rescales
    slacks and the objective, but no point. The climb ends early once the objective exceeds `enough`.
    """

    def __init__(self, c: Vector, A: Sequence[Vector], slacks: Vector, enough: fmpq | None = None) -> None:
        originals = [[*(-entry for entry in row), slack] for row, slack in zip(A, slacks, strict=True)]
        originals.append([*c, fmpq(0) if enough is None else -enough])
        lines = [integer_row(row) for row in originals]
        self._scales = [_ratio(line, row) for line, row in zip(lines, originals, strict=True)]
        self.table = Tableau(lines, len(c), len(A))
        self.stops_early = enough is not None
        self.ray: Point | None = None

    def run(self) -> bool:
        """Climbs to the top, or until it is enough. False, with `ray` set, if there is no top."""
        table = self.table
        while not (self.stops_early and table.lines[-1][-1] > 0):
            tick()
            column = self._entering()
            if column is None:
                return True
            direction = 1 if table.lines[-1][column] > 0 else -1
            row = table.leaving(column, direction)
            if row is None:
                self.ray = self._direction(column, direction)
                return False
            table.pivot(row, column)
        return True

    def position(self) -> Point:
        """The current v."""
        return self._free_part([line[-1] for line in self.table.lines])

    def multipliers(self) -> Point:
        """Multipliers of the rows at the top, where slacks outside the basis only lower the objective."""
        table, found = self.table, [fmpq(0)] * len(self.table.basic)
        for column, variable in enumerate(table.outside):
            if variable >= table.dim:
                row = variable - table.dim
                rate = fmpq(-table.lines[-1][column], table.denominator)
                found[row] = rate * self._scales[row] / self._scales[-1]
        return tuple(found)

    def _entering(self) -> int | None:
        """The column of the first variable that improves: a slack by growing, a free one either way."""
        objective = self.table.lines[-1]
        improving = (
            (variable, column)
            for column, variable in enumerate(self.table.outside)
            if objective[column] > 0 or (objective[column] < 0 and variable < self.table.dim)
        )
        return min(improving, default=(0, None))[1]

    def _direction(self, column: int, direction: int) -> Point:
        """How v moves when the outside variable of the column does."""
        ray = list(self._free_part([direction * line[column] for line in self.table.lines]))
        if self.table.outside[column] < self.table.dim:
            ray[self.table.outside[column]] = fmpq(direction)
        return tuple(ray)

    def _free_part(self, numerators: Sequence[int]) -> Point:
        values = [fmpq(0)] * self.table.dim
        for variable, numerator in zip(self.table.basic, numerators, strict=False):
            if variable < self.table.dim:
                values[variable] = fmpq(numerator, self.table.denominator)
        return tuple(values)
