"""The rows of a domain, applied to many points. Those of a box read one coordinate each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.types import Array, Ids

# Matrices with more entries, of which few are not zero, are multiplied entry by entry.
_LARGE, _SPARSE = 1 << 16, 16


@dataclass(frozen=True, eq=False)
class Rows:
    """A matrix (rows, columns) of which each row may have only one entry.

    >>> Rows(np.array([[0.0, 2.0], [-1.0, 0.0]])).at(np.array([[3.0, 5.0]])).tolist()
    [[10.0, -3.0]]
    """

    matrix: Array

    @cached_property
    def single(self) -> tuple[Ids, Array] | None:
        """The column and the value of each row's only entry; None if a row has several, or none."""
        some = self.matrix != 0
        if not some.size or not (np.count_nonzero(some, axis=1) == 1).all():
            return None
        column = some.argmax(axis=1)
        return column, self.matrix[np.arange(len(column)), column]

    def at(self, points: Array) -> Array:
        """The value of every row at every point (n_points, columns)."""
        if self.single is None:
            product: Array = (self._matrices[0] @ points.T).T
            return product
        column, value = self.single
        return points[:, column] * value

    def sizes_at(self, points: Array) -> Array:
        """The same with the absolute values of all entries."""
        if self.single is None:
            product: Array = (self._matrices[1] @ points.T).T
            return product
        column, value = self.single
        return points[:, column] * np.abs(value)

    @cached_property
    def _matrices(self) -> tuple[Any, Any]:
        """The matrix and its absolute values, as sparse as they are."""
        matrix: Any = self.matrix
        if matrix.size > _LARGE and _SPARSE * np.count_nonzero(matrix) < matrix.size:
            # Imported here because SciPy takes longer to import than all of polyfold.
            from scipy.sparse import csr_array

            matrix = csr_array(matrix)
        return matrix, abs(matrix)
