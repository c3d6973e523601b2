"""Arrays of real numbers: of floats where these hold all of them, else object arrays of rationals and `Near`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array
from polyfold.exact.near import Near, Number
from polyfold.exact.rational import as_float
from polyfold.exact.rational_arrays import are_floats, nearest, rationals

# Entries are fmpq or Near.
Reals = npt.NDArray[np.object_]


def are_reals(numbers: npt.NDArray[Any]) -> bool:
    """Whether these are numbers that floats cannot hold."""
    return numbers.dtype == object


def reals(numbers: npt.NDArray[Any]) -> Reals:
    """Numbers as an object array. Floats are rational: nothing is rounded."""
    return numbers if are_reals(numbers) else rationals(np.asarray(numbers, dtype=np.float64))


def settled(numbers: Reals) -> npt.NDArray[Any]:
    """The same numbers, as floats if floats hold all of them.

    >>> settled(reals(np.array([0.5, 0.25])) / 2), settled(reals(np.array([1.0])) / 3)
    (array([0.25 , 0.125]), array([1/3], dtype=object))
    """
    entries = numbers.ravel().tolist()
    if any(isinstance(value, Near) for value in entries) or not are_floats(numbers):
        return numbers
    return nearest(numbers)


def nearest_floats(numbers: npt.NDArray[Any]) -> Array:
    """The floats next to all numbers."""
    if not are_reals(numbers):
        return np.asarray(numbers, dtype=np.float64)
    floats = [as_float(middle(value)) for value in numbers.ravel().tolist()]
    return np.array(floats, dtype=np.float64).reshape(numbers.shape)


def middle(number: Number) -> fmpq:
    """A rational number, or the one next to another."""
    return number.drawn()[0] if isinstance(number, Near) else number


def mapped(function: Callable[[Any], Any], numbers: npt.NDArray[Any]) -> Reals:
    """A function of every number."""
    found = np.empty(numbers.size, dtype=object)
    found[:] = [function(value) for value in reals(numbers).ravel().tolist()]
    return found.reshape(numbers.shape)
