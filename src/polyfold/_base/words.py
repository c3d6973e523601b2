"""Numbers and linear models in words."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import ShapeError, how_many

# So many terms are said; of more only the largest, and how many there are besides.
_MOST_TERMS = 8


def in_words(slopes: Array, constant: float, names: Sequence[str], *, most: int = _MOST_TERMS, times: str = "x") -> str:
    """An affine function of named features, rounded to three digits. Terms whose factor is zero are left out.

    >>> in_words(np.array([2.1, -0.3]), 1.2, ["petal length", "petal width"])
    '2.1 x petal length - 0.3 x petal width + 1.2'
    >>> in_words(np.array([0.0, -1.0, 3.0]), 0.0, ["a", "b", "c"], most=1)
    '3 x c + 1 smaller term'
    """
    there = np.flatnonzero(slopes)
    said = np.sort(there[np.argsort(-np.abs(slopes[there]), kind="stable")[:most]])
    terms = [(float(slopes[k]), f"{abs(float(slopes[k])):.3g} {times} {names[k]}") for k in said]
    if constant or not terms:
        terms.append((constant, f"{abs(constant):.3g}"))
    text = ("-" if terms[0][0] < 0 else "") + terms[0][1]
    text += "".join(f" {'-' if value < 0 else '+'} {term}" for value, term in terms[1:])
    left = len(there) - len(said)
    return f"{text} + {how_many(left, 'smaller term')}" if left else text


def names_for(given: Sequence[str] | None, count: int, letter: str, what: str) -> tuple[str, ...]:
    """Names of features or outputs: those given, or letters with numbers.

    >>> names_for(None, 3, "x", "input")
    ('x0', 'x1', 'x2')
    """
    if given is None:
        return tuple(f"{letter}{k}" for k in range(count))
    if isinstance(given, str) or len(given) != count:
        raise ShapeError(f"there are {how_many(count, what)}; these are the names: {given!r}")
    names = tuple(str(name) for name in given)
    if len(set(names)) < count:
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"two {what}s are named {twice!r}: names must differ")
    return names


def in_digits(value: float | Fraction, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Six digits, rounded as told; numbers too large or too small for floats have them, too."""
    if value == inf:
        return "infinity"
    exact = Fraction(value)
    context = decimal.Context(prec=6, rounding=rounding, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
    quotient = context.divide(decimal.Decimal(exact.numerator), decimal.Decimal(exact.denominator))
    found = context.normalize(quotient)
    return f"{found:f}" if -5 <= found.adjusted() < context.prec else f"{found:e}"
