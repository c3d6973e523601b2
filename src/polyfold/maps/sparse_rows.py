"""A linear op as a sparse matrix, and blocks of coefficients pulled back through it by the compiled core."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold._base.types import AnyArray
from polyfold._core import pull_rows_double, pull_rows_single
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import Op, Shape, size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution

if TYPE_CHECKING:
    from scipy import sparse

Places = npt.NDArray[np.int32]

# Entries of one matrix that may be written down: some 200 MB. Larger convolutions stay their kernels.
MOST_ENTRIES = 1 << 24


# Columns are taken in blocks whose sums, for ten outputs or so, stay in the nearest cache.
BLOCK = 160


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix in one type of floats, by blocks of columns and in each of them by rows.

    The entries of row r in block b are start[b, r] to start[b, r + 1] - 1; their columns are counted from the block's
    first one on.
    """

    start: npt.NDArray[np.int64]
    column: Places
    value: AnyArray
    columns: int

    @classmethod
    def of(cls, matrix: sparse.csr_array, dtype: npt.DTypeLike) -> SparseRows:
        rows, columns = matrix.shape
        blocks = max(1, -(-columns // BLOCK))
        row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
        block = matrix.indices // BLOCK
        order = np.lexsort((matrix.indices, row, block))
        counts = np.bincount(block.astype(np.int64) * rows + row, minlength=blocks * rows).reshape(blocks, rows)
        start = np.zeros((blocks, rows + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=start[:, 1:])
        start += np.concatenate([[0], np.cumsum(counts.sum(axis=1))[:-1]])[:, None]
        column = (matrix.indices[order] % BLOCK).astype(np.int32)
        return cls(start, column, matrix.data[order].astype(dtype), int(columns))

    @classmethod
    def identity(cls, width: int, dtype: npt.DTypeLike) -> SparseRows:
        """The matrix that only adds up what belongs to the same entry."""
        from scipy import sparse

        return cls.of(sparse.eye_array(width, format="csr"), dtype)

    def pull(
        self, rows: AnyArray, which: Places | None, factor: AnyArray | None, threads: int, out: AnyArray | None = None
    ) -> AnyArray:
        """Coefficients (n, m, k) on the matrix's values as coefficients (n, m, columns) on what it reads.

        Entry k of block n belongs to row which[n, k], or to row k, and counts factor[n, k] times, or once.
        """
        count = self.start.shape[1] - 1
        if which is None:
            assert rows.shape[2] == count
        else:
            assert which.shape == (len(rows), rows.shape[2])
            assert not which.size or 0 <= int(which.min()) <= int(which.max()) < count
        assert factor is None or factor.shape == (len(rows), rows.shape[2])
        result = np.empty((*rows.shape[:2], self.columns), dtype=rows.dtype) if out is None else out
        assert result.shape == (*rows.shape[:2], self.columns) and result.strides[2] == result.itemsize
        pull = pull_rows_single if rows.dtype == np.float32 else pull_rows_double
        whole = np.ascontiguousarray(rows)
        pull(whole, which, factor, self.start, self.column, self.value, BLOCK, result, threads)
        return result


@singledispatch
def matrix_of(op: Op, shape: Shape) -> sparse.csr_array | None:
    """The op without its bias, on values of this shape, as a matrix; None if it is not sparse, or too large."""
    return None


@matrix_of.register(Combine)
def _(op: Combine, shape: Shape) -> sparse.csr_array | None:
    return op.divided if op.matrix.nnz <= MOST_ENTRIES else None


@matrix_of.register(Convolution)
def _(op: Convolution, shape: Shape) -> sparse.csr_array | None:
    return _windows_matrix(op.kernel, op.window, shape[1:])


@matrix_of.register(TransposedConvolution)
def _(op: TransposedConvolution, shape: Shape) -> sparse.csr_array | None:
    matrix = _windows_matrix(op.kernel, op.window, op.space)
    return None if matrix is None else matrix.T.tocsr()


def _windows_matrix(kernel: AnyArray, window: Window, space: Shape) -> sparse.csr_array | None:
    """The matrix of a convolution of values (channels, *space): one row per kernel and place."""
    from scipy import sparse

    outputs, inputs, *sizes = kernel.shape
    places = window.output_space(space, tuple(sizes))
    if kernel.size * size(places) > MOST_ENTRIES:
        return None
    # Every axis by itself: which entry each tap of the window reads at each place, and whether that is padding.
    where = np.zeros((1, 1), dtype=np.int64)
    inside = np.ones((1, 1), dtype=bool)
    for n, k, count, s, d, (before, _) in zip(
        space, sizes, places, window.stride, window.dilation, window.padding, strict=True
    ):
        axis = s * np.arange(count)[:, None] + d * np.arange(k)[None, :] - before
        where = (where[:, None, :, None] * n + axis[None, :, None, :]).reshape(len(where) * count, -1)
        within = (axis >= 0) & (axis < n)
        inside = (inside[:, None, :, None] & within[None, :, None, :]).reshape(len(inside) * count, -1)
    channel = np.arange(outputs) // (outputs // window.groups) * inputs
    first = (channel[:, None] + np.arange(inputs)) * size(space)
    shape = (outputs, len(where), inputs, where.shape[1])
    column = np.broadcast_to(first[:, None, :, None] + where[None, :, None, :], shape)
    value = np.broadcast_to(kernel.reshape(outputs, 1, inputs, -1), shape)
    used = np.broadcast_to(inside[None, :, None, :], shape)
    start = np.concatenate([[0], np.cumsum(used.sum(axis=(2, 3)).ravel())])
    columns = inputs * window.groups * size(space)
    return sparse.csr_array((value[used], column[used], start), shape=(outputs * len(where), columns))
