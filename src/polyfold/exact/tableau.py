"""The simplex method's table in integers.

Every line says its value as a combination of the variables outside the basis, all over one common denominator: each
division in a pivot then comes out even, and no greatest common divisors have to be taken (Edmonds, 1967). Ties go to
the smallest variable (Bland's rule), which keeps degenerate programs from cycling.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyfold._base.clock import tick

Row = Sequence[int]


class Tableau:
    """Variables 0..dim-1 are free, variable dim+i is the value of line i and must not become negative.

    Line i reads  denominator * basic[i] = sum_j line[j] * outside[j] + line[-1]. Further lines, behind those of the
    basic variables, ride along and are never exchanged.
    """

    def __init__(self, lines: Sequence[Row], dim: int, basic: int) -> None:
        self.dim = dim
        self.outside = list(range(dim))
        self.basic = list(range(dim, dim + basic))
        self.lines = [list(line) for line in lines]
        self.denominator = 1

    def expression(self, variable: int) -> list[int]:
        """A variable as a line of this table."""
        if variable not in self.outside:
            return self.lines[self.basic.index(variable)]
        unit = [0] * (self.dim + 1)
        unit[self.outside.index(variable)] = self.denominator
        return unit

    def combined(self, form: Row) -> list[int]:
        """The form a . v + s over the free variables v, given as (a, s), as a line of this table."""
        line = [0] * self.dim + [self.denominator * form[-1]]
        for variable, factor in enumerate(form[:-1]):
            if factor:
                line = [x + factor * y for x, y in zip(line, self.expression(variable), strict=True)]
        return line

    def leaving(self, column: int, direction: int, free: int = -1) -> int | None:
        """The row that is the first to reach zero when the column's variable grows (1) or falls (-1).

        None if none ever does. Variable number `free` is no obstacle.
        """
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

    def pivot(self, row: int, column: int) -> None:
        """Exchange the basic variable of a row with the outside variable of a column."""
        tick()
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

    def copy(self) -> Tableau:
        """A table to go on with while this one stays as it is."""
        other = Tableau((), self.dim, 0)
        other.outside, other.basic, other.denominator = list(self.outside), list(self.basic), self.denominator
        other.lines = list(self.lines)  # lines are replaced by pivots, never changed in place
        return other
