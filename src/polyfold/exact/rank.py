"""Exact rank of a float matrix: floats are rationals, so the rank has a true answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.exact.rational import rational_matrix


def column_rank(matrix: npt.NDArray[np.float64]) -> int:
    """The number of linearly independent columns, in rational arithmetic.

    >>> column_rank(np.array([[0.1, 0.2], [0.1, 0.2]]))
    1
    """
    return int(rational_matrix(matrix).rank())
