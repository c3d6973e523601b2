"""Ranks of boundary matrices, exactly: over two elements and over the rationals.

Rows are cleared by entries 1 and -1 in the core, which needs no fractions, so that what it counts holds over the
rationals. Columns that have no such entry left, which torsion makes, are few, and their rank is computed in integers of
any size.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from polyfold import _core as core
from polyfold.errors import PolyfoldError

Flags = npt.NDArray[np.bool_]
Coefficients = Literal["rationals", "gf2"]

# Entries of a matrix that may be written out where numbers in the core have outgrown 64 bits.
_MOST_WRITTEN_OUT = 1 << 22


def ranks(matrices: list[Any], coefficients: Coefficients) -> list[int]:
    """The ranks of the boundary matrices of a chain complex: matrices[k] is (k - 1)-faces by k-faces.

    The image of one matrix lies in the kernel of the next: columns of it that a pivot of the one before stands for
    depend on the others, and are not looked at.
    """
    found = [0] * len(matrices)
    if not matrices:
        return found
    depends = np.zeros(matrices[-1].shape[1], dtype=np.uint8)
    for k in range(len(matrices) - 1, 0, -1):
        matrix = matrices[k].tocsc()
        found[k], pivots = _rank(matrix, depends, coefficients)
        depends = np.zeros(matrix.shape[0], dtype=np.uint8)
        depends[pivots] = 1
    return found


def _rank(matrix: Any, depends: npt.NDArray[np.uint8], coefficients: Coefficients) -> tuple[int, npt.NDArray[np.int64]]:
    found = core.sparse_rank(
        matrix.shape[0],
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int8),
        depends,
        coefficients == "gf2",
    )
    if found["overflow"]:
        return _written_out_rank(matrix, depends), np.zeros(0, dtype=np.int64)
    pivots = found["pivot_rows"]
    start = found["rest_start"]
    if len(start) == 1:
        return len(pivots), pivots
    rows, place = np.unique(found["rest_row"], return_inverse=True)
    rest = fmpz_mat(len(start) - 1, len(rows))
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    for i, j, value in zip(owner.tolist(), place.tolist(), found["rest_value"].tolist(), strict=True):
        rest[i, j] = value
    return len(pivots) + int(rest.rank()), pivots


def _written_out_rank(matrix: Any, depends: npt.NDArray[np.uint8]) -> int:
    kept = matrix[:, depends == 0]
    if kept.shape[0] * kept.shape[1] > _MOST_WRITTEN_OUT:
        raise PolyfoldError(
            f"the rank of a boundary matrix of shape {kept.shape} could not be decided over the rationals: on the way "
            "numbers outgrow 64 bits; over 'gf2' it can be"
        )
    return int(fmpz_mat(kept.toarray().astype(int).tolist()).rank())
