"""Non-negative combinations of linear forms, exactly: what proves that an inequality follows, or that none can hold.

A form (a, b) means a . u + b >= 0. A float linear program guesses which forms take part; here the multipliers are
solved for in integers, so a guess that works is a proof.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpz_mat

Row = Sequence[int]


def combination(rows: Sequence[Row], target: Row) -> list[fmpq] | None:
    """Non-negative multipliers of the rows whose sum has the target's slopes, or None if none were found.

    >>> combination([[1, 0, 1], [0, 1, 1]], [2, 3, 9])
    [2, 3]
    >>> combination([[1, 0, 1], [0, 1, 1]], [2, -3, 9]) is None
    True
    """
    count = len(rows)
    if not any(target[:-1]):
        return [fmpq(0)] * count
    if not count:
        return None
    slopes = [list(column) for column in zip(*(row[:-1] for row in (*rows, target)), strict=True)]
    reduced, denominator, rank = fmpz_mat([column for column in slopes if any(column)]).rref()
    multipliers = [fmpq(0)] * count
    for line in reduced.tolist()[:rank]:
        pivot = next(j for j, entry in enumerate(line) if entry)
        if pivot == count:
            return None  # the target's slopes are no combination at all
        multipliers[pivot] = fmpq(int(line[count]), int(denominator))
    return None if any(value < 0 for value in multipliers) else multipliers


def follows(rows: Sequence[Row], target: Row) -> bool:
    """Whether multipliers prove the target >= 0 wherever all rows are. False means: not proved this way."""
    multipliers = combination(rows, target)
    return multipliers is not None and target[-1] >= constant(rows, multipliers)


def constant(rows: Sequence[Row], multipliers: Sequence[fmpq]) -> fmpq:
    """The constant term of a combination of rows."""
    return sum((value * fmpq(int(row[-1])) for value, row in zip(multipliers, rows, strict=True)), fmpq(0))
