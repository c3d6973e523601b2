"""Sums of products of the rows of matrices of local maps, part by part and in float64, and the space that rows span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.apart import apart
from polyfold._base.clock import tick
from polyfold._base.types import AnyArray
from polyfold.exact.tolerances import MAPS_REACH

Floats = npt.NDArray[np.float64]

# Rows that are taken together at most, and numbers that are multiplied before the next look at the clock.
AT_ONCE = 8192
PRODUCTS = 1 << 29


@dataclass(frozen=True, eq=False)
class Span:
    """The directions that rows reach: orthonormal columns (columns, rank), and the sum of squares along each."""

    directions: Floats
    squares: Floats

    @property
    def rank(self) -> int:
        return len(self.squares)


def products(a: AnyArray, b: AnyArray) -> Floats:
    """a^T b for matrices with equally many rows."""
    total = np.zeros((a.shape[1], b.shape[1]))
    same = a is b
    step = max(16, min(AT_ONCE, PRODUCTS // max(1, total.size)))
    for start in range(0, len(a), step):
        tick()
        left = a[start : start + step].astype(np.float64)
        total += left.T @ (left if same else b[start : start + step].astype(np.float64))
    return total


def times(a: AnyArray, b: AnyArray) -> AnyArray:
    """a b, some rows of a after the other."""
    step = max(16, min(AT_ONCE, PRODUCTS // max(1, b.size)))
    parts = []
    for start in range(0, max(1, len(a)), step):
        tick()
        parts.append(a[start : start + step] @ b)
    return np.concatenate(parts)


def means(a: AnyArray) -> Floats:
    """The mean row."""
    total = np.zeros(a.shape[1])
    for start in range(0, len(a), AT_ONCE):
        tick()
        total += a[start : start + AT_ONCE].sum(axis=0, dtype=np.float64)
    return total / max(1, len(a))


def span(gram: Floats) -> Span:
    """What a matrix with these products of columns reaches; directions that only rounding reaches are left out."""
    squares, directions = apart(lambda: np.linalg.eigh(gram))
    reached = squares > MAPS_REACH * max(float(squares[-1]), 0.0)
    return Span(np.ascontiguousarray(directions[:, reached]), squares[reached])
