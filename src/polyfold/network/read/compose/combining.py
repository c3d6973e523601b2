"""Sparse matrices over the entries of a value, and the nodes that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyfold.exact.reals import are_reals
from polyfold.network.ops.op import Shape, constant, size
from polyfold.network.ops.spatial import Combine
from polyfold.network.read.builder import Constant, Site, Value

if TYPE_CHECKING:
    from scipy import sparse

# A constant factor with at least this many entries, of which at most this part is not zero, is kept sparse.
SPARSE_SIZE = 256
SPARSE_PART = 0.25


def combine(
    site: Site, x: Value, matrix: sparse.csr_array, shape: Shape, part: str = "", divisor: Constant | None = None
) -> Value:
    """Fixed combinations of the entries of x, each divided by a number of its own if there are such."""
    matrix.data.setflags(write=False)
    op = Combine(matrix, shape) if divisor is None else Combine(matrix, shape, constant(divisor))
    return site.emit(op, x, part=part)


def repeated(one: sparse.csr_array, times: int) -> sparse.csr_array:
    """The same matrix so many times along the diagonal."""
    from scipy import sparse

    number = np.arange(times, dtype=np.int64)[:, None]
    starts = (one.indptr[1:].astype(np.int64) + one.nnz * number).ravel()
    columns = (one.indices.astype(np.int64) + one.shape[1] * number).ravel()
    return sparse.csr_array(
        (np.tile(one.data, times), columns, np.concatenate([[0], starts])),
        shape=(times * one.shape[0], times * one.shape[1]),
    )


def is_sparse(matrix: Constant) -> bool:
    """Whether a constant matrix is worth keeping as its nonzero entries, like the adjacency of a large graph."""
    if are_reals(matrix):
        return False
    return matrix.size >= SPARSE_SIZE and int(np.count_nonzero(matrix)) <= SPARSE_PART * matrix.size


def sparse_times_value(site: Site, matrix: Constant, x: Value) -> Value:
    """matrix @ x along the last but one axis of x."""
    from scipy import sparse

    *lead, _, width = x.shape
    across = sparse.kron(sparse.csr_array(matrix), sparse.eye_array(width), format="csr")
    shape = (*lead, len(matrix), width)
    return combine(site, x, repeated(sparse.csr_array(across), size(tuple(lead))), shape)
