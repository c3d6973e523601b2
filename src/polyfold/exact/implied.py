"""Which linear inequalities follow from others, exactly.

A polyhedron {v : a_i . v + s_i >= 0} is seen from an inner point, v = 0, so all s_i > 0. The tableau writes every form
as a combination of the variables that are zero at the current corner; further forms ride along as lines that are never
exchanged. A form that has only non-negative coefficients there, and a non-negative constant, is >= 0 wherever the
inequalities hold. Bland's rule (always the smallest index) keeps degenerate programs from cycling, and integers over
one common denominator keep all divisions even (see `linear_program`).
"""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[int]


class Inequalities:
    """Integer forms (a, s) with a . v + s >= 0 and s > 0, and further forms to be asked about.

    >>> triangle = Inequalities([[1, 0, 1], [0, 1, 1], [-1, -1, 1]], [[-1, 0, 3], [-1, 0, 2]])
    >>> triangle.implies(0), triangle.implies(1)
    (True, False)
    >>> triangle.beyond(0)
    ([-2, 0], 1)
    """

    def __init__(self, forms: Sequence[Row], others: Sequence[Row] = ()) -> None:
        assert forms or others
        self.dim = len((forms or others)[0]) - 1
        self.forms = len(forms)
        # Variables 0..dim-1 are the free v, variable dim+i is the value of form i. A line holds the coefficients of the
        # variables outside and then the constant; it stands for its value times the denominator.
        self.outside = list(range(self.dim))
        self.basic = list(range(self.dim, self.dim + len(forms)))
        self.lines = [list(form) for form in (*forms, *others)]
        self.denominator = 1

    def implies(self, other: int) -> bool:
        """Whether further form number `other` is >= 0 wherever all forms are."""
        return self._descend(self._line_of_other(other), free=-1)

    def beyond(self, form: int) -> tuple[list[int], int] | None:
        """Some v (numerators, denominator) where this form is negative and all others are >= 0, or None."""
        kept = self._state()
        variable = self.dim + form
        line = len(self.lines)
        if variable in self.outside:
            unit = [0] * (self.dim + 1)
            unit[self.outside.index(variable)] = self.denominator
            self.lines.append(unit)
        else:
            self.lines.append(list(self.lines[self.basic.index(variable)]))
        found = None if self._descend(line, free=variable) else self._position()
        self.outside, self.basic, self.lines, self.denominator, self._ray = kept
        return found

    # -- the simplex method

    _ray: tuple[int, int] | None = None  # column and direction along which the last descent fell for ever

    def _state(self) -> tuple[list[int], list[int], list[list[int]], int, None]:
        # Lines are replaced by pivots, never changed in place.
        return list(self.outside), list(self.basic), list(self.lines), self.denominator, None

    def _line_of_other(self, other: int) -> int:
        return self.forms + other

    def _descend(self, line: int, free: int) -> bool:
        """Lower a line as far as it goes, or below zero. Whether it stays >= 0; `free` is no inequality for now."""
        self._ray = None
        while self.lines[line][-1] >= 0:
            column = self._entering(self.lines[line], free)
            if column is None:
                return True
            direction = -1 if self.lines[line][column] > 0 else 1
            row = self._leaving(column, direction, free)
            if row is None:
                self._ray = (column, direction)
                return False
            self._pivot(row, column)
        return False

    def _entering(self, objective: Row, free: int) -> int | None:
        best: int | None = None
        for column, variable in enumerate(self.outside):
            rate = objective[column]
            useful = rate < 0 or (rate > 0 and (variable < self.dim or variable == free))
            if useful and (best is None or variable < self.outside[best]):
                best = column
        return best

    def _leaving(self, column: int, direction: int, free: int) -> int | None:
        best: tuple[int, int, int] | None = None
        for row, variable in enumerate(self.basic):
            rate = -direction * self.lines[row][column]
            if variable < self.dim or variable == free or rate <= 0:
                continue
            value = self.lines[row][-1]
            if best is not None:
                difference = value * best[1] - best[0] * rate
                if difference > 0 or (difference == 0 and variable > self.basic[best[2]]):
                    continue
            best = (value, rate, row)
        return None if best is None else best[2]

    def _pivot(self, row: int, column: int) -> None:
        """Exchange the basic variable of a row with the outside variable of a column."""
        # basic = (a x + rest) / D  becomes  x = (D basic - rest) / a; the denominator becomes |a|.
        pivot_line, old = self.lines[row], self.denominator
        a = pivot_line[column]
        sign = 1 if a > 0 else -1
        scale = sign * a
        for r, line in enumerate(self.lines):
            if r == row:
                continue
            factor = line[column]
            if factor:
                signed = sign * factor
                changed = [(scale * x - signed * y) // old for x, y in zip(line, pivot_line, strict=True)]
                changed[column] = signed
                self.lines[r] = changed
            elif scale != old:
                self.lines[r] = [scale * x // old for x in line]
        turned = [-sign * x for x in pivot_line]
        turned[column] = sign * old
        self.lines[row] = turned
        self.denominator = scale
        self.basic[row], self.outside[column] = self.outside[column], self.basic[row]

    def _position(self) -> tuple[list[int], int]:
        """The current v, far enough along the ray if there is one that the falling line is negative."""
        values = [0] * self.dim
        length = 0
        if self._ray is not None:
            column, direction = self._ray
            length = direction * (abs(self.lines[-1][-1]) + 1)
            if self.outside[column] < self.dim:
                values[self.outside[column]] = length * self.denominator
        for row, variable in enumerate(self.basic):
            if variable < self.dim:
                line = self.lines[row]
                values[variable] = line[-1] + (length * line[self._ray[0]] if self._ray is not None else 0)
        return values, self.denominator
