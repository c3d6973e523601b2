"""Pseudo-inverses: in rationals, or in floats with a rank that is decided in rationals.

The pseudo-inverse jumps where a rank changes, so a tolerance on singular values would decide what it is. Ranks are
integers with a true answer; only how to divide by singular values is left to floats, and where that would lose too
many digits, the rational answer is rounded instead.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.exact.rank import rank_at_least
from polyfold.exact.rational_arrays import Rationals, filled, matrix, nearest, product, zeros
from polyfold.exact.tolerances import INVERTS_WELL

Array = npt.NDArray[np.float64]


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
    # array = tall @ wide: its pivot columns, times what elimination leaves.
    reduced, _ = matrix(array).rref()
    wide = filled(reduced.entries(), (rows, columns))[:rank]
    pivots = [next(k for k in range(columns) if wide[row, k] != 0) for row in range(rank)]
    return product(pseudo_inverse(wide), pseudo_inverse(array[:, pivots]))


def pseudo_inverse_in_floats(array: Rationals, rank: int) -> tuple[Array, float]:
    """The Moore-Penrose inverse of a matrix whose exact rank is known, in floats, and its condition number.

    The condition number is the largest singular value over the smallest one that is not zero; infinite where floats
    cannot tell. Then, and wherever it is large, the inverse is computed in rationals and rounded once.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> found, condition = pseudo_inverse_in_floats(rationals([[2, 0], [0, 4]]), 2)
    >>> found.tolist(), condition
    ([[0.5, 0.0], [0.0, 0.25]], 2.0)
    """
    if rank == 0:
        return np.zeros(array.shape[::-1]), 1.0
    left, sizes, right = np.linalg.svd(nearest(array), full_matrices=False)
    with np.errstate(divide="ignore", over="ignore"):
        condition = float(sizes[0] / sizes[rank - 1])
    if sizes[rank - 1] > INVERTS_WELL * sizes[0]:
        return (right[:rank].T / sizes[:rank]) @ left[:, :rank].T, condition
    return nearest(pseudo_inverse(array)), condition


def _inverse(array: Rationals) -> Rationals:
    return filled(matrix(array).inv().entries(), array.shape)
