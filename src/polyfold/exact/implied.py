"""Which linear inequalities follow from others, exactly.

A polyhedron {v : a_i . v + s_i >= 0} is seen from an inner point, v = 0, so all s_i > 0. The tableau writes every form
as a combination of the variables that are zero at the current corner. A form that has only non-negative coefficients
there, and a non-negative constant, is >= 0 wherever the inequalities hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyfold.exact.tableau import Row, Tableau


class Inequalities:
    """Integer forms (a, s) with a . v + s >= 0 and s > 0 over R^dim, and questions about them.

    >>> triangle = Inequalities([[1, 0, 1], [0, 1, 1], [-1, -1, 1]], 2)
    >>> triangle.implies([-1, 0, 3]), triangle.implies([-1, 0, 1])
    (True, False)
    >>> triangle.beyond(0)
    ([-2, 3], 1)
    """

    def __init__(self, forms: Sequence[Row], dim: int) -> None:
        self.dim = dim
        self._table = Tableau(forms, dim, len(forms))

    def implies(self, form: Row) -> bool:
        """Whether a further form is >= 0 wherever all forms are."""
        table = self._table
        line = len(table.lines)
        # It rides along for as long as the question takes. Where it ends is a good corner for the next one to start.
        table.lines.append(table.combined(form))
        try:
            return _Descent(table, line).run()
        finally:
            table.lines.pop()

    def beyond(self, form: int) -> tuple[list[int], int] | None:
        """Some v (numerators, denominator) where this form is negative and all others are >= 0, or None."""
        table = self._table.copy()
        variable = self.dim + form
        line = len(table.lines)
        table.lines.append(table.expression(variable))
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
