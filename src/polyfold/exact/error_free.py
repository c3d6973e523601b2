"""Whether floats were added and multiplied without rounding.

A sum's error is itself a float, which five more sums find (Knuth); so is a product's, as long as nothing overflows or
underflows (Dekker).
"""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.rounding import TINY

# Cuts 53 bits into two halves.
_SPLITTER = 2.0**27 + 1


@np.errstate(all="ignore")
def sums_are_exact(a: Array, b: Array) -> bool:
    """Whether no entry of a + b is rounded.

    >>> sums_are_exact(np.array([1.0]), np.array([0.5])), sums_are_exact(np.array([1.0]), np.array([0.1]))
    (True, False)
    """
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    return bool(np.isfinite(total).all() and not error.any())


@np.errstate(all="ignore")
def products_are_exact(a: Array, b: Array) -> bool:
    """Whether surely no entry of a * b is rounded.

    >>> products_are_exact(np.array([3.0]), np.array([0.1])), products_are_exact(np.array([3.0]), np.array([0.25]))
    (False, True)
    """
    plain = (np.abs(a) == 1) | (np.abs(b) == 1) | (a == 0) | (b == 0)
    if plain.all():
        return True
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    in_range = (np.abs(product) > TINY) & (np.abs(product) < 1 / TINY) & (np.maximum(np.abs(a), np.abs(b)) < 1 / TINY)
    return bool((plain | (in_range & (error == 0))).all())


@np.errstate(all="ignore")
def quotients_are_exact(a: Array, b: Array) -> bool:
    """Whether surely no entry of a / b is rounded.

    >>> quotients_are_exact(np.array([1.0]), np.array([8.0])), quotients_are_exact(np.array([1.0]), np.array([3.0]))
    (True, False)
    """
    quotient = a / b
    return bool((quotient * b == a).all()) and products_are_exact(quotient, b)


def matrix_products_are_exact(a: Array, b: Array) -> bool:
    """Whether surely no entry of a @ b is rounded: each must be a single product, and that an exact one."""
    there_a, there_b = (a != 0).astype(np.float64), (b != 0).astype(np.float64)
    if (there_a @ there_b > 1).any():
        return False
    return products_are_exact(a @ there_b, there_a @ b)


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
