"""Flats: intersections of hyperplanes, each in one way only.

A row (a, b) of integers is the form a . x + b. It is primitive if its integers have no common divisor, and points
forward if its first non-zero coefficient is positive: one such row for every hyperplane. A flat is given by the rows
of its reduced echelon form, primitive and forward, of which there is again one; a form on the flat is given by a row
that is zero in the flat's pivot columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

Row = tuple[int, ...]


def primitive(row: Sequence[int]) -> Row:
    """The row divided by what its integers have in common.

    >>> primitive([4, -6])
    (2, -3)
    """
    common = gcd(*row) or 1
    return tuple(entry // common for entry in row)


def pivot(row: Row) -> int | None:
    """The column of the first coefficient that is not zero; None for a constant.

    >>> pivot((0, 3, 1)), pivot((0, 0, 1))
    (1, None)
    """
    return next((column for column, entry in enumerate(row[:-1]) if entry), None)


def forward(row: Row) -> tuple[Row, int] | None:
    """The row of the hyperplane where a form is zero, and on which of its sides the form is positive.

    None if the form is constant.

    >>> forward((-2, 4, 6))
    ((1, -2, -3), -1)
    """
    column = pivot(row)
    if column is None:
        return None
    row = primitive(row)
    return (row, 1) if row[column] > 0 else (tuple(-entry for entry in row), -1)


@dataclass(frozen=True)
class Flat:
    """The points where all rows are zero; the rows are a reduced echelon form, in any order.

    >>> line = Flat().cut((1, 1, 0)).cut((0, 1, -2))
    >>> line.rows
    ((1, 0, 2), (0, 1, -2))
    >>> Flat().cut((1, 1, 0)).restrict((3, 1, 5))
    ((0, 2, -5), -1)
    """

    rows: tuple[Row, ...] = ()

    def restrict(self, form: Sequence[int]) -> tuple[Row, int] | None:
        """The flat's own forward row for the zeros of a form on it, and the side where the form is positive."""
        row = tuple(form)
        for own in self.rows:
            row = _without(row, own)
        return forward(row)

    def cut(self, row: Row) -> Flat:
        """The part of the flat where one of its own forward rows is zero."""
        return Flat((*(primitive(_without(own, row)) for own in self.rows), row))


def _without(row: Row, other: Row) -> Row:
    """A positive multiple of the row less one of the other row, so that the other row's pivot column is zero."""
    column = pivot(other)
    assert column is not None
    factor = row[column]
    if not factor:
        return row
    scale = other[column]
    return tuple(scale * mine - factor * theirs for mine, theirs in zip(row, other, strict=True))
