"""Sums of products of the rows of matrices of local maps, part by part and in float64, and the space that rows span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.exact.tolerances import MAPS_REACH

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Rows that are taken together: some 50 MB for pictures of 28 x 28.
AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Span:
    """The directions that rows reach: orthonormal columns (columns, rank), and the sum of squares along each."""

    directions: Floats
    squares: Floats

    @property
    def rank(self) -> int:
        return len(self.squares)


def products(a: Array, b: Array) -> Floats:
    """a^T b for matrices with equally many rows."""
    total = np.zeros((a.shape[1], b.shape[1]))
    same = a is b
    for start in range(0, len(a), AT_ONCE):
        left = a[start : start + AT_ONCE].astype(np.float64)
        total += left.T @ (left if same else b[start : start + AT_ONCE].astype(np.float64))
    return total


def means(a: Array) -> Floats:
    """The mean row."""
    total = np.zeros(a.shape[1])
    for start in range(0, len(a), AT_ONCE):
        total += a[start : start + AT_ONCE].sum(axis=0, dtype=np.float64)
    return total / max(1, len(a))


def span(gram: Floats) -> Span:
    """What a matrix with these products of columns reaches; directions that only rounding reaches are left out."""
    squares, directions = np.linalg.eigh(gram)
    reached = squares > MAPS_REACH * max(float(squares[-1]), 0.0)
    return Span(np.ascontiguousarray(directions[:, reached]), squares[reached])
