"""Between floats and rationals. A float is a rational with a power of two below; nothing is lost on the way in."""

from __future__ import annotations

from fractions import Fraction
from math import ldexp, sqrt

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat


def rational(value: float) -> fmpq:
    """The rational number that a float is.

    >>> rational(0.75)
    3/4
    """
    return fmpq(*float(value).as_integer_ratio())


def as_float(value: fmpq) -> float:
    """The float nearest to a rational number; infinity where it is too large for one.

    >>> as_float(fmpq(3, 4)), as_float(-fmpq(10) ** 400)
    (0.75, -inf)
    """
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def fraction(value: fmpq) -> Fraction:
    """The same number for somebody who has Python only.

    >>> fraction(fmpq(3, 4))
    Fraction(3, 4)
    """
    return Fraction(int(value.p), int(value.q))


def square_root(value: fmpq) -> float:
    """The square root of a rational number as a float, of any size; infinity where it is too large for one.

    >>> square_root(fmpq(9, 4)), square_root(fmpq(10) ** 400) == 1e200, square_root(fmpq(10) ** -800)
    (1.5, True, 0.0)
    """
    exponent = (int(value.p).bit_length() - int(value.q).bit_length()) // 2
    return _scaled(sqrt(as_float(value * fmpq(4) ** -exponent)), exponent)


def _scaled(value: float, exponent: int) -> float:
    try:
        return ldexp(value, exponent)
    except OverflowError:
        return float("inf")


def rational_matrix(matrix: npt.NDArray[np.float64]) -> fmpq_mat:
    """A float matrix as an exact one."""
    rows, columns = matrix.shape
    return fmpq_mat(rows, columns, [rational(value) for value in matrix.ravel().tolist()])
