"""Arrays of rational numbers: object arrays whose entries are all fmpq, so that they can be sliced like others."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold._base.clock import tick
from polyfold.exact.rational import as_float, rational

Rationals = npt.NDArray[np.object_]
Array = npt.NDArray[np.float64]
_ZERO, _ONE = fmpq(0), fmpq(1)
# Products of entries between two looks at the clock.
_AT_ONCE = 1 << 18


def rationals(values: Any) -> Rationals:
    """Floats, integers, fractions or rationals as an array of rationals: nothing is rounded.

    >>> rationals([[0.5, 3]])
    array([[1/2, 3]], dtype=object)
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return filled([rational(value) for value in values.ravel().tolist()], values.shape)
    array = np.asarray(values, dtype=object)
    return filled([_one(value) for value in array.ravel().tolist()], array.shape)


def filled(entries: Sequence[fmpq], shape: tuple[int, ...]) -> Rationals:
    """Entries in row-major order under a shape."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def zeros(*shape: int) -> Rationals:
    """All zero."""
    return np.full(shape, _ZERO, dtype=object)


def identity(size: int) -> Rationals:
    """The unit matrix."""
    array = zeros(size, size)
    array[np.arange(size), np.arange(size)] = _ONE
    return array


def product(a: Rationals, b: Rationals) -> Rationals:
    """The matrix product; a vector on the right counts as a column.

    >>> product(rationals([[1, 2]]), rationals([3, 4]))
    array([11], dtype=object)
    """
    column = b.ndim == 1
    right = b[:, None] if column else b
    if not a.size or not right.size:
        found = zeros(a.shape[0], right.shape[1])
    else:
        found = filled(_entries(a, matrix(right)), (a.shape[0], right.shape[1]))
    return found[:, 0] if column else found


def _entries(a: Rationals, right: fmpq_mat) -> list[fmpq]:
    """Of the product, some rows at a time: nothing can stop flint."""
    step = max(1, _AT_ONCE // max(1, right.nrows() * right.ncols()))
    entries: list[fmpq] = []
    for start in range(0, len(a), step):
        tick()
        entries += (matrix(a[start : start + step]) * right).entries()
    return entries


def matrix(array: Rationals) -> fmpq_mat:
    """A two-dimensional array as flint's matrix, for products, ranks and solutions."""
    return fmpq_mat(*array.shape, array.ravel().tolist())


def nearest(array: Rationals) -> Array:
    """The floats nearest to all entries."""
    floats = [as_float(value) if value else 0.0 for value in array.ravel().tolist()]
    return np.array(floats, dtype=np.float64).reshape(array.shape)


def are_floats(array: Rationals) -> bool:
    """Whether every entry is a float, so that `nearest` rounds nothing.

    >>> are_floats(rationals([0.1])), are_floats(rationals([fmpq(1, 10)]))
    (True, False)
    """
    return all(_is_float(value) for value in array.ravel().tolist())


def _is_float(value: fmpq) -> bool:
    try:
        found = int(value.p) / int(value.q)
    except OverflowError:
        return False
    return bool(rational(found) == value)


def _one(value: Any) -> fmpq:
    if isinstance(value, fmpq):
        return value
    if isinstance(value, Integral):
        return fmpq(int(value))
    return fmpq(*value.as_integer_ratio())
