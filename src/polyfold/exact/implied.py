"""Which linear inequalities follow from others, exactly.

A polyhedron {v : a_i . v + s_i >= 0} is seen from an inner point, v = 0, so all s_i > 0. The tableau writes every form
as a combination of the variables that are zero at the current corner; further forms ride along as lines that are never
exchanged. A form that has only non-negative coefficients there, and a non-negative constant, is >= 0 wherever the
inequalities hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyfold.exact.tableau import Row, Tableau


class Inequalities:
    """Integer forms (a, s) with a . v + s >= 0 and s > 0, and further forms to be asked about.

    >>> triangle = Inequalities([[1, 0, 1], [0, 1, 1], [-1, -1, 1]], [[-1, 0, 3], [-1, 0, 1]])
    >>> triangle.implies(0), triangle.implies(1)
    (True, False)
    >>> triangle.beyond(0)
    ([-2, 3], 1)
    """

    def __init__(self, forms: Sequence[Row], others: Sequence[Row] = ()) -> None:
        assert forms or others
        self.dim = len((forms or others)[0]) - 1
        self.forms = len(forms)
        self._table = Tableau([*forms, *others], self.dim, len(forms))

    def implies(self, other: int) -> bool:
        """Whether further form number `other` is >= 0 wherever all forms are."""
        return _Descent(self._table, self.forms + other).run()

    def beyond(self, form: int) -> tuple[list[int], int] | None:
        """Some v (numerators, denominator) where this form is negative and all others are >= 0, or None."""
        table = self._table.copy()
        variable = self.dim + form
        line = len(table.lines)
        if variable in table.outside:
            unit = [0] * (self.dim + 1)
            unit[table.outside.index(variable)] = table.denominator
            table.lines.append(unit)
        else:
            table.lines.append(table.lines[table.basic.index(variable)])
        descent = _Descent(table, line, free=variable)
        return None if descent.run() else descent.position()


class _Descent:
    """One line of a table on its way down; the variable `free` is no inequality meanwhile."""

    def __init__(self, table: Tableau, line: int, free: int = -1) -> None:
        self.table = table
        self.line = line
        self.free = free
        self.ray: tuple[int, int] | None = None  # column and direction along which the line falls for ever

    def run(self) -> bool:
        """Lower the line as far as it goes, or below zero. Whether it stays >= 0."""
        table = self.table
        while table.lines[self.line][-1] >= 0:
            column = self._entering(table.lines[self.line])
            if column is None:
                return True
            direction = -1 if table.lines[self.line][column] > 0 else 1
            row = table.leaving(column, direction, self.free)
            if row is None:
                self.ray = (column, direction)
                return False
            table.pivot(row, column)
        return False

    def _entering(self, objective: Row) -> int | None:
        table = self.table
        best: int | None = None
        for column, variable in enumerate(table.outside):
            rate = objective[column]
            useful = rate < 0 or (rate > 0 and (variable < table.dim or variable == self.free))
            if useful and (best is None or variable < table.outside[best]):
                best = column
        return best

    def position(self) -> tuple[list[int], int]:
        """The current v, far enough along the ray if there is one that the falling line is negative."""
        table = self.table
        values = [0] * table.dim
        length = 0
        if self.ray is not None:
            column, direction = self.ray
            length = direction * (abs(table.lines[self.line][-1]) + 1)
            if table.outside[column] < table.dim:
                values[table.outside[column]] = length * table.denominator
        for row, variable in enumerate(table.basic):
            if variable < table.dim:
                line = table.lines[row]
                values[variable] = line[-1] + (length * line[self.ray[0]] if self.ray is not None else 0)
        return values, table.denominator
