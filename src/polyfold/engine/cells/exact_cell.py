"""One cell in exact arithmetic: its facets and what lies behind them, whatever degeneracy there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from polyfold._base.types import Array
from polyfold.domain.domain import Domain
from polyfold.domain.points import exact_lift
from polyfold.exact.combination import follows
from polyfold.exact.implied import Inequalities
from polyfold.exact.linear_program import maximise, point_above
from polyfold.exact.rational import rational
from polyfold.program.passes.integer_forms import ExactForms, Forms, Pattern
from polyfold.program.program import Program

Row = tuple[int, ...]
Point = tuple[fmpq, ...]

# So many products of rationals to write all gates as forms of the input take some seconds.
_MOST_PRODUCTS = 20_000_000
# A simplex table of so many entries still has pivots of some milliseconds.
_MOST_ENTRIES = 40_000


class ExactFacet(NamedTuple):
    """The walls of a facet, a point of its relative interior, and the pattern and a point behind it (None: outside).

    Walls that vary on the cell come first; behind them those that vary on the neighbour only.
    """

    walls: tuple[int, ...]
    point: Point
    across: Pattern | None
    witness: Point | None


@dataclass(frozen=True)
class Hints:
    """What floats have guessed about walls: points beyond a facet, and the walls that imply another one."""

    beyond: Mapping[int, Array] = field(default_factory=dict)
    implied_by: Mapping[int, Sequence[int]] = field(default_factory=dict)


def affordable(program: Program, domain: Domain) -> bool:
    """Whether all gates can be written as exact forms of the input in a few seconds."""
    return (domain.dim + 1) * coefficients(program) <= _MOST_PRODUCTS


def coefficients(program: Program) -> int:
    """How many coefficients the stages have, written out as matrices."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    return sum(stage.width * sum(widths[source] for source in stage.affine.sources) for stage in program.stages)


class ExactCells:
    """Cells of a program on a domain, in integers."""

    def __init__(self, program: Program, domain: Domain) -> None:
        self._program = program
        self._domain = domain
        self.forms = ExactForms(program, domain)

    def inside(self, pattern: Pattern, point: Sequence[fmpq]) -> bool:
        """Whether a point lies strictly inside the cell of a pattern: gates are zero there only if they vanish."""
        forms = self.forms.under(pattern)
        (values,) = forms.at(homogeneous(point))
        for wall, (row, side, value) in enumerate(zip(forms.rows, self._sides(pattern), values, strict=True)):
            if wall >= len(pattern) and not any(row[:-1]):
                fine = row[-1] >= 0
            elif not any(row):
                fine = side < 0
            else:
                fine = side * value > 0
            if not fine:
                return False
        return True

    def interior_point(self, pattern: Pattern) -> Point | None:
        """A point strictly inside the cell of a pattern, or None: the pattern has no cell. A linear program decides."""
        forms, sides = self.forms.under(pattern), self._sides(pattern)
        A, b = [], []
        for wall, (row, side) in enumerate(zip(forms.rows, sides, strict=True)):
            if any(row[:-1]):
                # Forms are scaled so that a step of one along any axis changes them by at most one.
                size = sum(map(abs, row[:-1]))
                A.append([*(fmpq(-side * x, size) for x in row[:-1]), fmpq(1)])
                b.append(fmpq(side * row[-1], size))
            elif wall >= len(pattern):
                if row[-1] < 0:
                    return None
            elif (row[-1] > 0) != pattern[wall]:
                return None
        zeros = [fmpq(0)] * self._domain.dim
        best = maximise([*zeros, fmpq(1)], [*A, [*zeros, fmpq(1)]], [*b, fmpq(1)])
        assert best.point is not None and best.value is not None
        return best.point[:-1] if best.value > 0 else None

    def facets(
        self, pattern: Pattern, inner: Sequence[fmpq], hints: Hints, may_go_on: Callable[[], bool] = lambda: True
    ) -> tuple[list[ExactFacet], list[int]]:
        """All facets of a cell, given a point strictly inside; and the walls of which nothing could be said."""
        forms, sides = self.forms.under(pattern), self._sides(pattern)
        walls: dict[Row, list[int]] = {}
        for wall, (row, side) in enumerate(zip(forms.rows, sides, strict=True)):
            if any(row[:-1]):
                walls.setdefault(tuple(side * x for x in row), []).append(wall)
        question = _Facets(list(walls), list(walls.values()), homogeneous(inner), hints)
        facets: list[ExactFacet] = []
        undecided: list[int] = []
        for i, names in enumerate(walls.values()):
            if not may_go_on():
                undecided += names
                continue
            try:
                beyond = question.beyond(i)
            except _TooLargeError:
                undecided += names
                continue
            if beyond is not None:
                facets.append(self._facet(pattern, forms, names, question.rows[i], question.inner, beyond))
        return facets, undecided

    def implied(
        self, pattern: Pattern, walls: Sequence[int], hints: Hints, may_go_on: Callable[[], bool] = lambda: True
    ) -> bool:
        """Whether the walls guessed imply all of these ones: no wall is used that has itself been implied before."""
        forms, sides = self.forms.under(pattern), self._sides(pattern)
        dropped: set[int] = set()
        for wall in walls:
            if not may_go_on():
                return False
            by = hints.implied_by.get(wall, ())
            rows = [[sides[other] * x for x in forms.rows[other]] for other in by]
            if not dropped.isdisjoint(by) or not follows(rows, [sides[wall] * x for x in forms.rows[wall]]):
                return False
            dropped.add(wall)
        return True

    def bounded(self, pattern: Pattern) -> bool:
        """Whether a cell is bounded."""
        forms, sides = self.forms.under(pattern), self._sides(pattern)
        rows = [[side * x for x in row[:-1]] for row, side in zip(forms.rows, sides, strict=True) if any(row[:-1])]
        if len(rows) <= self._domain.dim or fmpz_mat(rows).rank() < self._domain.dim:
            return False
        # Along v != 0 that never leaves the cell all rows are >= 0; they span, so their sum is positive.
        total = [fmpq(sum(column)) for column in zip(*rows, strict=True)]
        outward = [[fmpq(-x) for x in row] for row in rows]
        zeros = [fmpq(0)] * self._domain.dim
        return point_above(total, fmpq(0), outward, [fmpq(0)] * len(rows), zeros) is None

    def _sides(self, pattern: Pattern) -> list[int]:
        return [*(1 if on else -1 for on in pattern), *([1] * self._domain.rows)]

    def _facet(
        self, pattern: Pattern, forms: Forms, walls: list[int], row: Row, inner: list[int], beyond: list[int]
    ) -> ExactFacet:
        """The facet on the walls that have this row, where the way from the inner point to one beyond it leads."""
        here, there = dot(row, inner), -dot(row, beyond)
        middle = [here * x + there * w for x, w in zip(beyond, inner, strict=True)]
        (values,) = forms.at(middle)
        gates = len(pattern)
        vanishing = {
            wall
            for wall, (value, form) in enumerate(zip(values, forms.rows, strict=True))
            if value == 0 and any(form if wall < gates else form[:-1])
        }
        point = affine_point(middle)
        if any(wall >= gates for wall in vanishing):
            # What ends the domain comes first.
            return ExactFacet(tuple(sorted(vanishing, key=lambda wall: (wall < gates, wall))), point, None, None)
        way = [x - w for x, w in zip(affine_point(beyond), affine_point(inner), strict=True)]
        columns = fmpq_mat(len(way), 2, [x for pair in zip(point, way, strict=True) for x in pair])
        across = self.forms.exact.forward(exact_lift(self._domain, columns)).pattern
        behind = self.forms.under(across)
        (at_facet,) = behind.at(middle)
        vanishing |= {gate for gate in range(gates) if at_facet[gate] == 0 and any(behind.rows[gate])}
        more = sorted(vanishing - set(walls))
        return ExactFacet((*walls, *more), point, across, _some_way_in(behind, point, way))


def _some_way_in(behind: Forms, point: Point, way: Sequence[fmpq]) -> Point:
    """Half as far from a point of a facet into the cell behind it as the next wall is, and no farther than `way`."""
    longest = fmpq(1)
    for row in behind.rows:
        value = sum((x * p for x, p in zip(row, point, strict=False)), fmpq(row[-1]))
        rate = sum((x * v for x, v in zip(row, way, strict=False)), fmpq(0))
        if value * rate < 0:
            longest = min(longest, -value / rate)
    return tuple(p + longest / 2 * v for p, v in zip(point, way, strict=True))


def homogeneous(point: Sequence[fmpq]) -> list[int]:
    """A rational point as integers over the last one."""
    common = lcm(*(int(x.q) for x in point))
    return [*(int(x.p) * (common // int(x.q)) for x in point), common]


def affine_point(homogeneous_point: Sequence[int]) -> Point:
    """And back."""
    *numerators, denominator = homogeneous_point
    return tuple(fmpq(n, denominator) for n in numerators)


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a . b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


class _TooLargeError(Exception):
    """The exact program is too large for what it would tell."""


class _Facets:
    """Which of a cell's distinct rows carry facets."""

    def __init__(self, rows: list[Row], walls: list[list[int]], inner: list[int], hints: Hints) -> None:
        self.rows = rows
        self.inner = inner
        self._walls = walls
        self._hints = hints
        self._matrix = fmpz_mat([list(row) for row in rows]) if rows else fmpz_mat(0, 0)
        self._row_of = {wall: i for i, names in enumerate(walls) for wall in names}
        self._inequalities: Inequalities | None = None

    def beyond(self, i: int) -> list[int] | None:
        """A point beyond row i where all others hold; None if they imply it."""
        for wall in self._walls[i]:
            hint = self._hints.beyond.get(wall)
            if hint is not None and np.isfinite(hint).all():
                point = homogeneous([rational(x) for x in hint.tolist()])
                values = (self._matrix * fmpz_mat([[x] for x in point])).tolist()
                if all((value < 0) == (j == i) for j, (value,) in enumerate(values)):
                    return point
            support = {self._row_of[other] for other in self._hints.implied_by.get(wall, ()) if other in self._row_of}
            support.discard(i)
            if support and follows([self.rows[j] for j in sorted(support)], self.rows[i]):
                return None
        if len(self.rows) * len(self.inner) > _MOST_ENTRIES:
            raise _TooLargeError
        if self._inequalities is None:
            seen_from_inside = [[*row[:-1], dot(row, self.inner)] for row in self.rows]
            self._inequalities = Inequalities(seen_from_inside, len(self.inner) - 1)
        found = self._inequalities.beyond(i)
        if found is None:
            return None
        numerators, denominator = found
        return [
            *(denominator * w + v for w, v in zip(self.inner, numerators, strict=False)),
            denominator * self.inner[-1],
        ]
