"""Arrays of rational numbers: object arrays whose entries are all fmpq, so that they can be sliced like others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational import as_float, rational

Rationals = npt.NDArray[np.object_]
_ZERO, _ONE = fmpq(0), fmpq(1)
# Entries, and products of two, between two looks at the clock.
_AT_ONCE, _PRODUCTS_AT_ONCE = 1 << 14, 1 << 23
# Rows of a product that are found together at least: what both factors have in common is found once for all of them.
_FEWEST_ROWS = 64

T = TypeVar("T")


def rationals(values: Any) -> Rationals:
    """Floats, integers, fractions or rationals as an array of rationals: nothing is rounded.

    >>> rationals([[0.5, 3]])
    array([[1/2, 3]], dtype=object)
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return filled(list(_each(rational, values)), values.shape)
    array = np.asarray(values, dtype=object)
    return filled(list(_each(_one, array)), array.shape)


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
        rows = max(_FEWEST_ROWS, _PRODUCTS_AT_ONCE // right.size)
        by, entries = matrix(right), []
        for start in range(0, len(a), rows):
            tick()
            entries += (matrix(a[start : start + rows]) * by).entries()
        found = filled(entries, (a.shape[0], right.shape[1]))
    return found[:, 0] if column else found


def matrix(array: Rationals) -> fmpq_mat:
    """A two-dimensional array as flint's matrix, for products, ranks and solutions."""
    return fmpq_mat(*array.shape, array.ravel().tolist())


def by_rows(function: Callable[..., npt.NDArray[Any]], *arrays: Rationals) -> npt.NDArray[Any]:
    """A function of arrays that takes their rows one by one, with a look at the clock now and then.

    >>> by_rows(lambda row, factor: row * factor[:, None], rationals([[1, 2], [3, 4]]), rationals([2, 3]))
    array([[2, 4],
           [9, 12]], dtype=object)
    """
    count = len(arrays[0])
    step = max(1, _AT_ONCE * count // max(1, *(array.size for array in arrays)))
    parts = []
    for start in range(0, max(1, count), step):
        tick()
        parts.append(function(*(array[start : start + step] for array in arrays)))
    return np.concatenate(parts)


def nearest(array: Rationals) -> Array:
    """The floats nearest to all entries."""
    floats = list(_each(lambda value: as_float(value) if value else 0.0, array))
    return np.array(floats, dtype=np.float64).reshape(array.shape)


def are_floats(array: Rationals) -> bool:
    """Whether every entry is a float, so that `nearest` rounds nothing.

    >>> are_floats(rationals([0.1])), are_floats(rationals([fmpq(1, 10)]))
    (True, False)
    """
    return all(_each(_is_float, array))


def _each(function: Callable[[Any], T], array: npt.NDArray[Any]) -> Iterable[T]:
    """A function of every entry, one after the other, with a look at the clock now and then."""
    entries = array.ravel().tolist()
    for start in range(0, len(entries), _AT_ONCE):
        tick()
        yield from map(function, entries[start : start + _AT_ONCE])


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
