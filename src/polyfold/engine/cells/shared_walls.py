"""Walls of a cell that coincide: which of its rows are one and the same, and facets that lie on several walls.

Behind a pool over ReLUs walls coincide all the time: where one member is off, the comparison with another one switches
where that one does; and where both are off the comparison is zero, but not behind the wall of either. Floats guess what
belongs together. That it does is read off the gates' forms in rationals, of which only those in doubt are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.types import Array, Signs
from polyfold.engine.cells.validity import Validity
from polyfold.exact.combination import follows
from polyfold.exact.linear_program import integer_row
from polyfold.exact.rational import rational
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.single_gates import ExactGates, TooMuchError

Form = tuple[int, ...]  # slopes and the constant, integers in lowest ratio; all zero if a gate vanishes

# Walls that two floats cannot tell apart and that are no pool's, such as all gates of a dead layer, are left alone.
_MOST_TOGETHER = 64
# So many equations are solved in integers in some tenths of a second.
_MOST_IMPLYING = 256
# Products of rationals that may be spent on one cell: some seconds.
_MOST_PRODUCTS = 1 << 20


class SharedWalls:
    """The walls of one cell. `groups` has, for every row of `validity`, all walls that lie on it."""

    def __init__(self, validity: Validity, may_go_on: Callable[[], bool] = lambda: True) -> None:
        self._whole = validity
        self._may_go_on = may_go_on
        self._pattern = tuple(validity.signs.tolist())
        self._known: dict[int, Form] = {}
        kept, self.groups = self._merged()
        self.validity = replace(
            validity,
            A=validity.A[kept],
            b=validity.b[kept],
            wall=validity.wall[kept],
            A_error=validity.A_error[kept],
            b_error=validity.b_error[kept],
        )

    def facet_walls(
        self, row: int, doubtful: Sequence[int], inner: Array, outer: Array, across: Signs
    ) -> tuple[int, ...] | None:
        """The walls of a facet on a row, given a box around a point of it and two points of the box.

        All over the box the walls that are neither on the row nor `doubtful` have the signs of the cell. If these two
        kinds are multiples of the row's form on the cell, or zero, and are so again under `across`, which is the
        pattern at the outer point, then stage after stage every gate has one sign on either side of the row: the box is
        parted by it alone, into the cell and that of `across`. Walls that vary on the cell come first, but for what
        ends the domain. None if that is not so, or cannot be told.
        """
        gates = len(self._pattern)
        together = sorted({*self.groups[row], *doubtful})
        if len(together) > _MOST_TOGETHER or not self._may_go_on():
            return None
        try:
            line = self._form(self.groups[row][0])
            if not (_at(line, inner) > 0 > _at(line, outer)):
                return None
            here = {wall: self._form(wall) for wall in together}
            if not all(_is_multiple(form, line) for form in here.values()):
                return None
            varying = [wall for wall in together if any(here[wall])]
            if together[-1] >= gates:
                return tuple(sorted(varying, key=lambda wall: (wall < gates, wall)))
            there = {wall: self._gate(wall, across) for wall in together}
        except TooMuchError:
            return None
        if not all(_is_multiple(form, line) for form in there.values()):
            return None
        return (*varying, *(wall for wall in together if wall not in varying and any(there[wall])))

    def carries_no_facet(self, row: int, others: Sequence[int]) -> bool:
        """Whether other rows imply a row, be it that they touch it.

        Where it is zero those that take part are zero, too, and they lie on other hyperplanes: that is less than a
        facet. A pool's winner is positive if it is larger than another member that is.
        """
        if not 0 < len(others) <= _MOST_IMPLYING:
            return False
        try:
            self._gates.spend(len(others) ** 2)
            line, *forms = (self._form(self.groups[each][0]) for each in (row, *others))
        except TooMuchError:
            return False
        return line not in forms and follows(forms, line)

    # -- which rows are one

    def _merged(self) -> tuple[list[int], list[tuple[int, ...]]]:
        """The rows to keep, and the walls on each of them."""
        wall = self._whole.wall.tolist()
        first: dict[Form, int] = {}
        on: dict[int, list[int]] = {row: [wall[row]] for row in range(len(wall))}
        for rows in self._close():
            if not self._may_go_on():
                break
            try:
                forms = [self._form(wall[row]) for row in rows]
            except TooMuchError:
                break
            for row, form in zip(rows, forms, strict=True):
                kept = first.setdefault(form, row)
                if kept != row:
                    on[kept] += on.pop(row)
        return list(on), [tuple(sorted(walls)) for walls in on.values()]

    def _close(self) -> list[list[int]]:
        """Sets of rows that may be the same up to a factor: floats cannot tell them apart by one number of each."""
        whole = self._whole
        norms = np.linalg.norm(whole.A, axis=1)
        rows = np.flatnonzero(norms > 0)
        if len(rows) < 2:
            return []
        weights = np.random.default_rng(0).normal(size=whole.A.shape[1] + 1)
        numbers = np.column_stack([whole.A[rows], whole.b[rows]]) / norms[rows, None]
        errors = np.column_stack([whole.A_error[rows], whole.b_error[rows]]) / norms[rows, None]
        key = numbers @ weights
        sizes = np.abs(numbers) @ np.abs(weights)
        # The length is as uncertain as the row is long.
        doubt = errors @ np.abs(weights) + sizes * (np.linalg.norm(errors, axis=1) + relative(len(weights) + 8)) + TINY
        order = np.argsort(key)
        apart = np.diff(key[order]) > (doubt[order][1:] + doubt[order][:-1]) * 2
        sets = np.split(rows[order], np.flatnonzero(apart) + 1)
        return [sorted(each.tolist()) for each in sets if 1 < len(each) <= _MOST_TOGETHER]

    # -- forms in rationals

    @cached_property
    def _gates(self) -> ExactGates:
        return ExactGates(self._whole.program, self._whole.domain, _MOST_PRODUCTS)

    def _form(self, wall: int) -> Form:
        """A wall on the cell, positive inside."""
        if wall not in self._known:
            if wall < len(self._pattern):
                form = self._gate(wall, self._whole.signs)
                self._known[wall] = form if self._pattern[wall] else tuple(-x for x in form)
            else:
                self._known[wall] = self._domain_row(wall - len(self._pattern))
        return self._known[wall]

    def _gate(self, gate: int, signs: Signs) -> Form:
        (found,) = self._gates.forms(gate, signs[None])
        constant, *slopes = found.coefficients
        return tuple(integer_row([*slopes, constant]))

    def _domain_row(self, number: int) -> Form:
        domain = self._whole.domain
        inputs = len(domain.input_rows)
        if number >= inputs:
            slopes = [-rational(x) for x in domain.parameter_rows[number - inputs].tolist()]
            return tuple(integer_row([*slopes, rational(float(domain.parameter_offsets[number - inputs]))]))
        total = [fmpq(0)] * domain.dim + [rational(float(domain.input_offsets[number]))]
        row = domain.input_rows[number]
        for k in np.flatnonzero(row).tolist():
            constant, *slopes = self._gates.input(k)
            factor = rational(float(row[k]))
            total = [a - factor * b for a, b in zip(total, [*slopes, constant], strict=True)]
        return tuple(integer_row(total))


def _is_multiple(form: Form, line: Form) -> bool:
    """Whether a form vanishes or has the same zeros as a line."""
    return not any(form) or form == line or form == tuple(-x for x in line)


def _at(form: Form, point: Array) -> fmpq:
    *slopes, constant = form
    return sum((a * rational(x) for a, x in zip(slopes, point.tolist(), strict=True) if a), fmpq(constant))
