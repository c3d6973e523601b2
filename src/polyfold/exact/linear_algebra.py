"""Ranks and pseudo-inverses: in rationals, or in floats with a rank that is decided in rationals.

The pseudo-inverse jumps where a rank changes, so a tolerance on singular values would decide what it is. Ranks are
integers with a true answer. Only how to divide by singular values is left to floats, of large matrices; of small ones,
and where floats would lose too many digits, it is left to balls: numbers of more digits with a bound on their error.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, ctx

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.modular import blocks
from polyfold.exact.rational import rational_matrix
from polyfold.exact.rational_arrays import Rationals, filled, matrix, nearest, product, zeros
from polyfold.exact.tolerances import BALLS_ARE_KNOWN, INVERTS_WELL

# The largest prime below 2^62.
_PRIME = 2**62 - 57
# So many products of long numbers take a fraction of a second.
_AT_ONCE = 1 << 16


def column_rank(matrix: Array) -> int:
    """The number of linearly independent columns, in rational arithmetic.

    >>> column_rank(np.array([[0.1, 0.2], [0.1, 0.2]]))
    1
    """
    return int(rational_matrix(matrix).rank())


def rank_at_least(matrix: Rationals) -> int:
    """A lower bound of the rank, found quickly: the rank modulo a large prime, which is the rank itself nearly always.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> rank_at_least(rationals([[1, 2], [2, 4], [0.5, 0.25]]))
    2
    """
    return len(pivots_modulo(matrix))


def pivots_modulo(matrix: Rationals) -> list[int]:
    """Columns that are independent, proved modulo a large prime: nearly always as many as there are, the first ones.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> pivots_modulo(rationals([[1, 2, 3], [2, 4, 7]]))
    [0, 2]
    """
    rows = []
    for row in matrix:
        tick()
        rows.append([int(value.p) * pow(int(value.q), -1, _PRIME) % _PRIME for value in row.tolist()])
    return [pivot for block in blocks(rows, _PRIME) for pivot in block.pivots]


def exact_rank(array: Rationals, at_most: int | None = None) -> int:
    """The rank; `at_most` is an upper bound that is known already, which often saves the elimination.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> exact_rank(rationals([[0.1, 0.2], [0.1, 0.2]]))
    1
    """
    limit = min(array.shape) if at_most is None else min(*array.shape, at_most)
    least = rank_at_least(array) if array.size else 0
    return least if least == limit else int(matrix(array).rank())


def pseudo_inverse(array: Rationals) -> Rationals:
    """The Moore-Penrose inverse in rationals, for any rank.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> pseudo_inverse(rationals([[1, 1], [2, 2]])).tolist()
    [[1/10, 1/5], [1/10, 1/5]]
    """
    rows, columns = array.shape
    rank = exact_rank(array)
    if rank == 0:
        return zeros(columns, rows)
    if rank == rows:
        return product(array.T, _inverse(product(array, array.T)))
    if rank == columns:
        return product(_inverse(product(array.T, array)), array.T)
    tall, wide = _factors(array, rank)
    return product(pseudo_inverse(wide), pseudo_inverse(tall))


def pseudo_inverse_in_floats(array: Rationals, rank: int) -> tuple[Array, float]:
    """The Moore-Penrose inverse of a matrix whose exact rank is known, in floats, and its condition number.

    The condition number is the largest singular value over the smallest one that is not zero, as floats have them: a
    large one is a guess, infinity if the smallest is zero in floats. Where it is large, and of small matrices always,
    the inverse is computed with more digits and rounded. Entries that are too large for floats are infinite.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> found, condition = pseudo_inverse_in_floats(rationals([[2, 0], [0, 4]]), 2)
    >>> found.tolist(), condition
    ([[0.5, 0.0], [0.0, 0.25]], 2.0)
    """
    if rank == 0:
        return np.zeros(array.shape[::-1]), 1.0
    left, sizes, right = np.linalg.svd(nearest(array), full_matrices=False)
    with np.errstate(over="ignore"):
        condition = float(sizes[0] / sizes[rank - 1]) if sizes[rank - 1] > 0 else float("inf")
    work = array.size * min(array.shape)
    if work > _AT_ONCE and sizes[rank - 1] > INVERTS_WELL * sizes[0]:
        return (right[:rank].T / sizes[:rank]) @ left[:, :rank].T, condition
    return _with_more_digits(array, rank), condition


def _with_more_digits(array: Rationals, rank: int) -> Array:
    """The pseudo-inverse by arithmetic with ever more digits, until its entries are known well enough to be rounded."""
    wide, tall = array, None
    if rank < min(array.shape):
        tall, wide = _factors(array, rank)
    bits = 256
    while True:
        with ctx.workprec(bits):
            found = _in_balls(wide)
            if tall is not None and found is not None:
                left = _in_balls(tall)
                found = None if left is None else found * left
        if found is not None:
            entries = found.entries()
            middles = np.array([0.0 if ball.contains(0) else float(ball.mid()) for ball in entries])
            errors = np.array([float(ball.rad()) for ball in entries])
            if errors.max() <= BALLS_ARE_KNOWN * np.abs(middles).max():
                return middles.reshape(array.shape[::-1])
        bits *= 2


def _in_balls(array: Rationals) -> arb_mat | None:
    """The pseudo-inverse of a matrix of full rank at the precision that is set; None if that is too low."""
    balls = arb_mat(*array.shape, [arb(value) for value in array.ravel().tolist()])
    across = balls.transpose()
    try:
        if array.shape[0] <= array.shape[1]:
            return across * (balls * across).inv()
        return (across * balls).inv() * across
    except ZeroDivisionError:
        return None


def _factors(array: Rationals, rank: int) -> tuple[Rationals, Rationals]:
    """array = tall @ wide, both of full rank: its pivot columns, and what elimination leaves."""
    reduced, _ = matrix(array).rref()
    wide = filled(reduced.entries(), array.shape)[:rank]
    pivots = [next(k for k in range(array.shape[1]) if wide[row, k] != 0) for row in range(rank)]
    return array[:, pivots], wide


def _inverse(array: Rationals) -> Rationals:
    return filled(matrix(array).inv().entries(), array.shape)
