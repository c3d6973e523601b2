"""Ranks by elimination with entries 1 and -1, against dense ranks in rationals and over two elements."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpz_mat, nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from polyfold import _core as core
from polyfold.topology.betti import ranks


def rank(matrix: np.ndarray, coefficients: str) -> int:
    return ranks([csc_array((0, matrix.shape[0]), dtype=np.int8), csc_array(matrix)], coefficients)[1]


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 14), st.integers(1, 14), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_random_matrices(rows: int, columns: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-size, size + 1, (rows, columns)) * (rng.random((rows, columns)) < rng.random())
    matrix = np.concatenate([matrix, matrix @ rng.integers(-1, 2, (columns, 2))], axis=1).clip(-127, 127)
    matrix = matrix.astype(np.int8)
    entries = matrix.astype(int).tolist()
    assert rank(matrix, "rationals") == fmpz_mat(entries).rank()
    assert rank(matrix, "gf2") == nmod_mat(rows, columns + 2, [x % 2 for row in entries for x in row], 2).rank()


def test_entries_that_are_never_one() -> None:
    matrix = np.array([[2, 4, 6], [4, 8, 10], [0, 0, 0]], dtype=np.int8)
    assert rank(matrix, "rationals") == 2
    assert rank(matrix, "gf2") == 0


@pytest.mark.parametrize("size", [6, 40])
def test_numbers_that_outgrow_the_core(size: int) -> None:
    """Each column takes 100 times the one before away: its entries grow like powers of 100 before they are done."""
    matrix = np.eye(size, dtype=np.int8)
    matrix += np.eye(size, k=1, dtype=np.int8) * 100
    matrix[-1] = 1
    found = core.sparse_rank(
        size,
        np.arange(0, size * size + 1, size, dtype=np.int64),
        np.tile(np.arange(size), size).astype(np.int64),
        np.ascontiguousarray(matrix.T).ravel(),
        np.zeros(size, dtype=np.uint8),
        False,
    )
    assert found["overflow"] == (size == 40)
    assert rank(matrix, "rationals") == fmpz_mat(matrix.astype(int).tolist()).rank() == size
