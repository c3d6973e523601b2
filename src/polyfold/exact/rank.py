"""Exact ranks: floats are rationals, so the rank of a matrix has a true answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import nmod_mat

from polyfold.exact.rational import rational_matrix
from polyfold.exact.rational_arrays import Rationals

# The largest prime below 2^62.
_PRIME = 2**62 - 57


def column_rank(matrix: npt.NDArray[np.float64]) -> int:
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
    entries = [int(value.p) * pow(int(value.q), -1, _PRIME) % _PRIME for value in matrix.ravel().tolist()]
    return int(nmod_mat(*matrix.shape, entries, _PRIME).rank())
