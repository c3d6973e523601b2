"""The cells that touch a point, in exact arithmetic: the network seen from very near.

Around a point x gates that are not zero keep their sides, and those that are zero, the tied ones, are linear in the
direction v of a short step from x as long as the gates before them keep theirs. So cells that touch x are cones of
directions. They are found by going through the tied gates in order: each one cuts the cone so far in two, or lies on
one side of it. A linear program in rationals decides which, unless a direction at hand does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from polyfold.domain.domain import Domain
from polyfold.domain.points import exact_lift
from polyfold.exact.linear_program import dot, integer_row, point_above
from polyfold.program.passes.integer_forms import ExactForms, Pattern
from polyfold.program.program import Program

Row = Sequence[int]
Direction = tuple[fmpq, ...]

# A simplex table of so many entries still has pivots of some milliseconds.
_MOST_ENTRIES = 40_000


class TouchingCell(NamedTuple):
    """A cell whose closure holds the point: its pattern, and a direction that leads from the point into it."""

    pattern: Pattern
    direction: Direction


class _Cone(NamedTuple):
    """Directions with row . v > 0 for all rows; some tied gates, the first `done`, have their sides in the pattern.

    `direction` is one of them; None if it is not known whether there is any.
    """

    pattern: Pattern
    done: int
    rows: tuple[Row, ...]
    direction: Direction | None


class _TooLargeError(Exception):
    """A linear program that would take too long."""


class Touching:
    """The cells that touch one point of a domain.

    `pattern` is the point's own, gates that are zero being off; `tied` are these gates. When `cells` has come to its
    end, `complete` says whether that were all of them: not if it was told to stop, or a linear program was too large.
    """

    def __init__(self, program: Program, domain: Domain, forms: ExactForms, point: Sequence[fmpq]) -> None:
        self._program = program
        self._forms = forms
        self._dim = domain.dim
        passed = forms.exact.forward(exact_lift(domain, fmpq_mat(domain.dim, 1, list(point))))
        self.pattern: Pattern = passed.pattern
        self.tied = [gate for gate, (value,) in enumerate(passed.preactivations) if value == 0]
        # Steps must not leave the domain through a row that the point lies on.
        self._edges = tuple(
            row[:-1] for row in forms.domain_rows if any(row[:-1]) and dot(row[:-1], point) + row[-1] == 0
        )
        self.complete = False

    def cells(self, may_go_on: Callable[[], bool] = lambda: True) -> Iterator[TouchingCell]:
        """All of them, in the order of gates, off before on: first the point's own pattern, wherever that is a cell."""
        self.complete = False
        zero = (fmpq(0),) * self._dim
        waiting = [_Cone(self.pattern, 0, self._edges, None if self._edges else zero)]
        while waiting:
            if not may_go_on():
                return
            try:
                found = self._descend(waiting.pop(), waiting)
            except _TooLargeError:
                return
            if found is not None:
                yield found
        self.complete = True

    def _descend(self, cone: _Cone, waiting: list[_Cone]) -> TouchingCell | None:
        """The first cell of a cone, if it has any; what lies on the other side of its gates goes to those that wait."""
        pattern, rows = list(cone.pattern), cone.rows
        direction = cone.direction if cone.direction is not None else self._inside(rows, None)
        if direction is None:
            return None
        for number in range(cone.done, len(self.tied)):
            gate = self.tied[number]
            form = self._form(gate, pattern)
            if not any(form):
                continue
            off = (*rows, [-x for x in form])
            below = self._inside(off, direction)
            on = pattern.copy()
            on[gate] = True
            if below is None:
                pattern, rows = on, (*rows, form)
                continue
            above = _moved(rows, direction, form) if dot(form, direction) >= 0 else None
            waiting.append(_Cone(tuple(on), number + 1, (*rows, form), above))
            rows, direction = off, below
        return TouchingCell(tuple(pattern), direction)

    def _form(self, gate: int, pattern: list[bool]) -> Row:
        """A tied gate's slopes, given the sides of the gates before it."""
        first = self._program.first_gate
        stage = next(s for s in range(len(first) - 1) if gate < first[s + 1])
        return self._forms.stage(stage, tuple(pattern[: first[stage]]))[gate - first[stage]][:-1]

    def _inside(self, rows: tuple[Row, ...], near: Direction | None) -> Direction | None:
        """A direction with all rows positive, or None; `near` has that for all rows but, maybe, the last one."""
        if near is not None:
            last, side = rows[-1], dot(rows[-1], near)
            mirrored = tuple(x - 2 * side * a / dot(last, last) for x, a in zip(near, last, strict=True))
            for proposed in (_moved(rows[:-1], near, last), mirrored):
                if all(dot(row, proposed) > 0 for row in rows):
                    return proposed
        if (len(rows) + 1) * (self._dim + 1) > _MOST_ENTRIES:
            raise _TooLargeError
        zeros = [fmpq(0)] * self._dim
        A = [[*(fmpq(-x, sum(map(abs, row))) for x in row), fmpq(1)] for row in rows] + [[*zeros, fmpq(1)]]
        b = [*(fmpq(0) for _ in rows), fmpq(1)]
        found = point_above([*zeros, fmpq(1)], fmpq(0), A, b, [*zeros, fmpq(0)])
        return None if found is None else tuple(fmpq(x) for x in integer_row(found[:-1]))


def _moved(rows: Sequence[Row], direction: Direction, towards: Row) -> Direction:
    """A direction in the same open cone that is off the plane `towards` . v = 0, on its positive side."""
    if dot(towards, direction) > 0:
        return direction
    room = [dot(row, direction) / (2 * abs(dot(row, towards))) for row in rows if dot(row, towards) != 0]
    step = min(room, default=fmpq(1))
    return tuple(x + step * a for x, a in zip(direction, towards, strict=True))
