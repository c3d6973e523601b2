"""Exact linear programs: the largest c.x over A x <= b, in rational arithmetic.

The variables are free, and there are few of them. A climb starts at a known feasible point, not at a
vertex: seen from there the point is the origin, every row reads a.v <= slack with slack >= 0, and the
simplex method can begin with the free variables themselves outside the basis. Without a known point, a
first climb finds one. Bland's rule (always the smallest index) keeps degenerate programs from cycling.

The tableau holds integers over one common denominator: each division in a pivot then comes out even, and no
greatest common divisors have to be taken (Edmonds, 1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import Literal

from flint import fmpq

Vector = Sequence[fmpq]
Point = tuple[fmpq, ...]


@dataclass(frozen=True)
class Optimum:
    """The answer of a linear program.

    "optimal" has the largest value and a point that reaches it; "unbounded" a feasible point and a ray along
    which the objective grows for ever; "infeasible" none of them.
    """

    status: Literal["optimal", "infeasible", "unbounded"]
    value: fmpq | None = None
    point: Point | None = None
    ray: Point | None = None


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
        return Optimum("optimal", dot(c, top), top)
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


def _slacks(A: Sequence[Vector], b: Vector, point: Vector) -> list[fmpq]:
    return [bound - dot(row, point) for row, bound in zip(A, b, strict=True)]


def _sum(a: Vector, b: Vector) -> Point:
    return tuple(p + q for p, q in zip(a, b, strict=True))


class _Climb:
    """The simplex method for c.v over A v <= slack, from the feasible point v = 0.

    Variables 0..n-1 are the free v, variable n+i is the slack of row i. Line i of the tableau says, with
    everything over `denominator` > 0:  basic[i] = line[-1] - sum_j line[j] * outside[j].  The last line says
    the same of the objective. Rows are scaled to integers; that rescales slacks and the objective, but no
    point. The climb ends early once the objective exceeds `enough`.
    """

    def __init__(self, c: Vector, A: Sequence[Vector], slacks: Vector, enough: fmpq | None = None) -> None:
        self.dim = len(c)
        self.outside = list(range(self.dim))
        self.basic = list(range(self.dim, self.dim + len(A)))
        self.lines = [integer_row([*row, slack]) for row, slack in zip(A, slacks, strict=True)]
        self.lines.append(integer_row([*(-entry for entry in c), fmpq(0) if enough is None else -enough]))
        self.stops_early = enough is not None
        self.denominator = 1
        self.ray: Point | None = None

    def run(self) -> bool:
        """Climbs to the top, or until it is enough. False, with `ray` set, if there is no top."""
        while not (self.stops_early and self.lines[-1][-1] > 0):
            column = self._entering()
            if column is None:
                return True
            upward = self.lines[-1][column] < 0
            row = self._leaving(column, upward)
            if row is None:
                self.ray = self._direction(column, upward)
                return False
            self._pivot(row, column)
        return True

    def position(self) -> Point:
        """The current v."""
        return self._free_part([line[-1] for line in self.lines])

    def _entering(self) -> int | None:
        """The column of the first variable that improves: a slack by growing, a free one either way."""
        objective = self.lines[-1]
        improving = (
            (variable, column)
            for column, variable in enumerate(self.outside)
            if objective[column] < 0 or (objective[column] > 0 and variable < self.dim)
        )
        return min(improving, default=(0, None))[1]

    def _leaving(self, column: int, upward: bool) -> int | None:
        """The row whose slack is the first to reach zero; the smallest variable among equals."""
        best: tuple[int, int, int] | None = None
        for row, variable in enumerate(self.basic):
            rate = self.lines[row][column] if upward else -self.lines[row][column]
            if variable < self.dim or rate <= 0:
                continue
            slack = self.lines[row][-1]
            if best is not None:
                difference = slack * best[1] - best[0] * rate
                if difference > 0 or (difference == 0 and variable > self.basic[best[2]]):
                    continue
            best = (slack, rate, row)
        return None if best is None else best[2]

    def _pivot(self, row: int, column: int) -> None:
        """Exchanges the basic variable of a row with the outside variable of a column."""
        pivot_line, old = self.lines[row], self.denominator
        pivot = pivot_line[column]
        for r, line in enumerate(self.lines):
            if r == row:
                continue
            factor = line[column]
            if factor:
                line = [(pivot * x - factor * y) // old for x, y in zip(line, pivot_line, strict=True)]
                line[column] = -factor
            elif pivot != old:
                line = [pivot * x // old for x in line]
            self.lines[r] = line
        pivot_line[column] = old
        if pivot < 0:
            self.lines = [[-x for x in line] for line in self.lines]
        self.denominator = abs(pivot)
        self.basic[row], self.outside[column] = self.outside[column], self.basic[row]

    def _direction(self, column: int, upward: bool) -> Point:
        """How v moves when the outside variable of the column does."""
        sign = 1 if upward else -1
        ray = list(self._free_part([-sign * line[column] for line in self.lines]))
        if self.outside[column] < self.dim:
            ray[self.outside[column]] = fmpq(sign)
        return tuple(ray)

    def _free_part(self, numerators: Sequence[int]) -> Point:
        values = [fmpq(0)] * self.dim
        for variable, numerator in zip(self.basic, numerators, strict=False):
            if variable < self.dim:
                values[variable] = fmpq(numerator, self.denominator)
        return tuple(values)
