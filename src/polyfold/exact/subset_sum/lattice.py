"""Equations over 0/1 variables, by a reduced basis of all their solutions in integers.

Weights that are floats make equations with numbers of a hundred digits in base two, so that integer solutions are long.
A basis of short ones (LLL) shows it: zeros and ones leave its coefficients so little room that they must all be zero.
That is how a few equations decide over a hundred variables, where searching decides over forty.

The basis is checked to be one, so it does not matter how it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from flint import fmpq, fmpq_mat, fmpz_mat

from polyfold._base.clock import tick

# More digits than this, for each variable, do not help.
_DIGITS = 8
# Combinations of basis vectors that are tried one by one.
_MOST_COMBINATIONS = 1 << 12

Vector = list[int]


@dataclass(frozen=True)
class Found:
    """Whether there is no solution, proved; else choices of variables that may be one."""

    none: bool
    proposals: tuple[tuple[int, ...], ...] = ()


def seconds_for(variables: int) -> float:
    """About how long `by_lattice` takes: what was measured for 60 and 100 variables."""
    return 4.0 * (variables / 100) ** 4


def by_lattice(equations: Sequence[Sequence[int]], targets: Sequence[int], nonempty: bool) -> Found:
    """Look for zeros and ones that satisfy all equations; with `nonempty`, targets are zero and so is no answer."""
    variables = len(equations[0])
    # With a target, a last variable that has to be 1 makes all equations homogeneous.
    rows = [[*row] if nonempty else [*row, -target] for row, target in zip(equations, targets, strict=True)]
    basis = kernel_basis(_enough(rows))
    if basis is None:
        return Found(False)
    fixed = 0 if nonempty else 1
    proposals = [vector for row in basis for vector in (row, [-x for x in row])]
    ranges = _narrowed(basis, fixed)
    if ranges is None:
        return Found(True)
    if prod(high - low + 1 for _, low, high in ranges) <= _MOST_COMBINATIONS:
        proposals = _combinations(ranges)
        if not any(_is_choice(vector, fixed) for vector in proposals):
            return Found(True)
    chosen = (vector for vector in proposals if _is_choice(vector, fixed))
    return Found(False, tuple(tuple(j for j in range(variables) if vector[j]) for vector in chosen))


def kernel_basis(rows: Sequence[Sequence[int]]) -> list[Vector] | None:
    """A basis, of vectors that are rather short, of all integer vectors on which the rows vanish; None if LLL failed.

    >>> kernel_basis([[1, 1, -1]])
    [[-1, 1, 0], [1, 0, 1]]
    """
    size = len(rows[0])
    scale = 1 << (size // 2 + 8)  # larger than short vectors are, so that rows that do not vanish are no part of them
    columns = [[scale * row[j] for row in rows] for j in range(size)]
    start = [[int(i == j) for j in range(size)] + columns[i] for i in range(size)]
    # One vector after the other, with a look at the clock in between: all at once would take as long unwatched.
    basis = fmpz_mat(0, len(start[0]))
    for line in start:
        tick()
        basis = fmpz_mat([*basis.tolist(), line]).lll()
    reduced = [[int(entry) for entry in line] for line in basis.tolist()]
    turned, tails = fmpz_mat([line[:size] for line in reduced]), [line[size:] for line in reduced]
    # All of the integers' lattice, and every vector with the values that it has; what does not vanish is independent.
    whole = abs(int(turned.det())) == 1 and turned * fmpz_mat(columns) == fmpz_mat(tails)
    rest = [tail for tail in tails if any(tail)]
    if not whole or (rest and fmpz_mat(rest).rank() != len(rest)):
        return None
    return [line[:size] for line, tail in zip(reduced, tails, strict=True) if not any(tail)]


def _enough(rows: list[list[int]]) -> list[list[int]]:
    """The first equations that have digits enough."""
    total, some = 0, []
    for row in rows:
        some.append(row)
        total += max(abs(entry) for entry in row).bit_length()
        if total > _DIGITS * len(row):
            break
    return some


def _narrowed(basis: list[Vector], fixed: int) -> list[tuple[Vector, int, int]] | None:
    """The basis vectors that zeros and ones may need, with the least and largest coefficients; None if there are none.

    Coefficients are the products with the dual basis. Vectors whose coefficient must be zero are left out, which makes
    those of the others smaller. The last `fixed` entries are 1.
    """
    kept = basis
    while kept:
        vectors = fmpz_mat(kept)
        dual = (fmpq_mat(vectors * vectors.transpose()).inv() * fmpq_mat(vectors)).tolist()
        ranges = []
        tick()
        for vector, row in zip(kept, dual, strict=True):
            free, sure = row[: len(row) - fixed], sum(row[len(row) - fixed :], fmpq(0))
            low = sure + sum((entry for entry in free if entry < 0), fmpq(0))
            high = sure + sum((entry for entry in free if entry > 0), fmpq(0))
            ranges.append((vector, int(low.ceil()), int(high.floor())))
        if any(low > high for _, low, high in ranges):
            return None
        needed = [entry for entry in ranges if entry[1:] != (0, 0)]
        if len(needed) == len(kept):
            return needed
        kept = [vector for vector, _, _ in needed]
    return None


def _combinations(ranges: list[tuple[Vector, int, int]]) -> list[Vector]:
    found = []
    for factors in product(*(range(low, high + 1) for _, low, high in ranges)):
        tick()
        pairs = list(zip(factors, (vector for vector, _, _ in ranges), strict=True))
        found.append([sum(factor * vector[j] for factor, vector in pairs) for j in range(len(ranges[0][0]))])
    return found


def _is_choice(vector: Vector, fixed: int) -> bool:
    """Whether a vector is of zeros and ones, not all zero, and ones where it has to be."""
    return set(vector) <= {0, 1} and any(vector) and all(vector[len(vector) - fixed :])
