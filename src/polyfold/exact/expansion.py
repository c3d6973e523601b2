"""Numbers as quotients of sums of floats, so that files that hold floats can hold them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import fmpq

from polyfold._base.types import Array
from polyfold.exact.near import Near
from polyfold.exact.rational import as_float, rational
from polyfold.exact.reals import Reals

# Floats that what is not rational is written with: more than 200 bits.
_PARTS_OF_THE_REST = 4


class Expansion(NamedTuple):
    """(top[0] + top[1] + ...) / (bottom[0] + bottom[1] + ...); without a bottom nothing is divided."""

    top: list[Array]
    bottom: list[Array]


def expansion(numbers: Reals) -> Expansion:
    """Rationals exactly, and what is none within 2^-200 of itself; OverflowError for what is too large or small.

    >>> expansion(np.array([fmpq(1, 6), fmpq(2)], dtype=object))
    Expansion(top=[array([0.5, 2. ])], bottom=[array([3., 1.])])
    >>> [part.tolist() for part in expansion(np.array([1 + fmpq(1, 2**70)], dtype=object)).top]
    [[1.0], [8.470329472543003e-22]]
    """
    tops, bottoms = [], []
    for value in numbers.ravel().tolist():
        if isinstance(value, Near):
            tops.append(_parts(value.drawn()[0])[:_PARTS_OF_THE_REST])
            bottoms.append([1.0])
            continue
        whole = int(value.q)
        odd = whole // (whole & -whole)
        tops.append(_parts(value * odd))
        bottoms.append(_parts(fmpq(odd)))
    divided = any(parts != [1.0] for parts in bottoms)
    return Expansion(_stacked(tops, numbers.shape), _stacked(bottoms, numbers.shape) if divided else [])


def _parts(value: fmpq) -> list[float]:
    """Floats that add up to a number over a power of two."""
    found = []
    while value:
        near = as_float(value)
        if not np.isfinite(near) or near == 0:
            raise OverflowError("a number is too large, or has too small a part, to be a sum of floats")
        found.append(near)
        value -= rational(near)
    return found or [0.0]


def _stacked(parts: Sequence[Sequence[float]], shape: tuple[int, ...]) -> list[Array]:
    count = max((len(each) for each in parts), default=1)
    filled = np.array([[*each, *[0.0] * (count - len(each))] for each in parts]).reshape(*shape, count)
    return [np.ascontiguousarray(filled[..., k]) for k in range(count)]
