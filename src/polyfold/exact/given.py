"""Numbers as users give them, to the last digit: floats stay floats, what is none becomes fractions, or is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import lcm
from numbers import Integral, Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array

# Up to here every whole number is a float.
_ALL_FLOATS = 2**53

Fractions = npt.NDArray[np.object_]


def as_given(values: Any) -> Array | Fractions:
    """An array of float64, if that rounds none of the numbers, else one of fractions; TypeError for what is no number.

    Infinity is a float among fractions, too.

    >>> as_given([1, 0.5]), as_given([Fraction(1, 3), 2])
    (array([1. , 0.5]), array([Fraction(1, 3), Fraction(2, 1)], dtype=object))
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    found = np.array(values)
    if found.dtype.kind not in "fiubO":
        kind = (
            "complex numbers" if found.dtype.kind == "c" else "text" if found.dtype.kind in "US" else f"{found.dtype}"
        )
        raise TypeError(f"these are {kind}, not real numbers")
    if found.dtype.kind in "fb" and found.dtype.itemsize <= 8:
        return found.astype(np.float64)
    if found.dtype.kind in "iu" and (not found.size or (found.min() >= -_ALL_FLOATS and found.max() <= _ALL_FLOATS)):
        return found.astype(np.float64)
    if found.dtype.kind in "fiu":
        with np.errstate(over="ignore"):
            floats = found.astype(np.float64)
        if not np.isfinite(found).all() or _are_the_same(floats, found):
            return floats
    exact = [_fraction(value) for value in found.ravel()]
    held = [value if isinstance(value, float) else _as_float(value) for value in exact]
    if None not in held:
        return np.array(held, dtype=np.float64).reshape(found.shape)
    if any(value != value for value in exact):
        raise TypeError("one of these is NaN")
    result = np.empty(len(exact), dtype=object)
    result[:] = exact
    return result.reshape(found.shape)


def is_exact(array: Array | Fractions) -> bool:
    """Whether they are fractions that floats cannot hold."""
    return array.dtype == object


def over_divisors(rows: Fractions) -> tuple[Array, Array]:
    """Rows of fractions as rows of floats, each over an odd whole number; ValueError where floats cannot hold them.

    >>> over_divisors(np.array([[Fraction(1, 6), Fraction(1)]], dtype=object))
    (array([[0.5, 3. ]]), array([3.]))
    """
    numerators, divisors = np.empty(rows.shape), np.empty(len(rows))
    for i, row in enumerate(rows):
        if any(abs(value) == np.inf for value in row):
            raise ValueError(f"row {i} has a number that is not finite")
        whole = lcm(*(Fraction(value).denominator for value in row))
        odd = whole // (whole & -whole)
        found = [_as_float(Fraction(value) * odd) for value in (*row, 1)]
        if None in found:
            raise ValueError(
                f"row {i} has the common denominator {whole}, over which its numbers are longer than a float's 53 bits"
            )
        numerators[i], divisors[i] = found[:-1], found[-1]
    return numerators, divisors


def _are_the_same(floats: Array, found: npt.NDArray[Any]) -> bool:
    if found.dtype.kind == "f":
        return bool((floats.astype(found.dtype) == found).all())
    return all(int(a) == int(b) for a, b in zip(floats.ravel().tolist(), found.ravel().tolist(), strict=True))


def _fraction(value: Any) -> Fraction | float:
    """A number as a fraction; NaN and infinity, which are none, as floats."""
    if isinstance(value, np.bool_ | Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float | np.floating | Decimal):
        return Fraction(*value.as_integer_ratio()) if np.isfinite(float(value)) else float(value)
    raise TypeError(f"{value!r} is no real number")


def _as_float(value: Fraction) -> float | None:
    """The float that a fraction is, if it is one."""
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        return None
    return near if Fraction(near) == value else None
