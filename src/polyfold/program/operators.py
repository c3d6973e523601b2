"""Fixed linear maps that are kept as they are: a matrix, a sparse matrix, a convolution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Array
from polyfold.network.ops.convolve import Window, convolve, convolve_back, entries_read

if TYPE_CHECKING:
    from scipy import sparse

Change = Callable[[Array], Array]


class Operator(ReadOnly, ABC):
    """A fixed linear map from rows of `columns` numbers to rows of `rows` numbers.

    `kind` is its name in digests and files, which stays whatever the class is called.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def rows(self) -> int: ...

    @property
    @abstractmethod
    def columns(self) -> int: ...

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """W x for every row x."""

    @abstractmethod
    def pull(self, y: Array) -> Array:
        """y W for every row y."""

    def row(self, number: int) -> tuple[npt.NDArray[np.int64], Array]:
        """The entries of one row of W that may not be zero: their columns, and what they are."""
        unit = np.zeros((1, self.rows))
        unit[0, number] = 1.0
        row = self.pull(unit)[0]
        columns = np.flatnonzero(row)
        return columns, row[columns]

    @abstractmethod
    def changed(self, change: Change) -> Operator:
        """The operator with its coefficients changed one by one."""

    @property
    @abstractmethod
    def terms(self) -> int:
        """Bounds how many products are added up for one number, either way."""

    @property
    @abstractmethod
    def products(self) -> int:
        """How many products one row takes."""

    @property
    def laid_out(self) -> int:
        """How many numbers one row is laid out as on the way."""
        return 0

    @property
    @abstractmethod
    def factors(self) -> Array:
        """The numbers that values are multiplied with."""

    @property
    @abstractmethod
    def structure(self) -> bytes:
        """Whatever else tells it from another operator of its kind."""


@dataclass(frozen=True, eq=False)
class Matrix(Operator):
    """A matrix on each of equal groups of numbers."""

    kind: ClassVar[str] = "Matrix"

    weight: Array
    groups: int = 1

    @property
    def rows(self) -> int:
        return len(self.weight) * self.groups

    @property
    def columns(self) -> int:
        return int(self.weight.shape[1]) * self.groups

    def apply(self, x: Array) -> Array:
        return np.asarray((x.reshape(len(x), self.groups, -1) @ self.weight.T).reshape(len(x), -1))

    def pull(self, y: Array) -> Array:
        return np.asarray((y.reshape(len(y), self.groups, -1) @ self.weight).reshape(len(y), -1))

    def row(self, number: int) -> tuple[npt.NDArray[np.int64], Array]:
        group, own = divmod(number, len(self.weight))
        columns = np.flatnonzero(self.weight[own])
        return group * int(self.weight.shape[1]) + columns, self.weight[own, columns]

    def changed(self, change: Change) -> Operator:
        return Matrix(change(self.weight), self.groups)

    @property
    def terms(self) -> int:
        return int(max(self.weight.shape))

    @property
    def products(self) -> int:
        return self.weight.size * self.groups

    @property
    def factors(self) -> Array:
        return self.weight

    @property
    def structure(self) -> bytes:
        return f"{self.weight.shape} {self.groups}".encode()


@dataclass(frozen=True, eq=False)
class Sparse(Operator):
    """A matrix with few entries per row."""

    kind: ClassVar[str] = "Sparse"

    matrix: sparse.csr_array

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> int:
        return int(self.matrix.shape[1])

    def apply(self, x: Array) -> Array:
        return np.ascontiguousarray((self.matrix @ x.T).T)

    def pull(self, y: Array) -> Array:
        return np.ascontiguousarray((self._transposed @ y.T).T)

    def row(self, number: int) -> tuple[npt.NDArray[np.int64], Array]:
        here = slice(*self.matrix.indptr[number : number + 2].tolist())
        return np.asarray(self.matrix.indices[here], dtype=np.int64), np.asarray(self.matrix.data[here])

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        return self.matrix.T.tocsr()

    def changed(self, change: Change) -> Operator:
        matrix = self.matrix.copy()
        matrix.data = change(matrix.data)
        return Sparse(matrix)

    @property
    def terms(self) -> int:
        lengths = (np.diff(matrix.indptr).max(initial=1) for matrix in (self.matrix, self._transposed))
        return int(max(lengths))

    @property
    def products(self) -> int:
        return int(self.matrix.nnz)

    @property
    def factors(self) -> Array:
        return np.asarray(self.matrix.data)

    @property
    def structure(self) -> bytes:
        places = np.concatenate([self.matrix.indptr, self.matrix.indices]).astype("<i8")
        return f"{self.matrix.shape}".encode() + places.tobytes()


@dataclass(frozen=True, eq=False)
class Convolved(Operator):
    """A convolution of values (channels, *space), or, turned round, its transpose."""

    kind: ClassVar[str] = "Convolved"

    kernel: Array
    window: Window
    space: tuple[int, ...]
    turned: bool = False

    @cached_property
    def _inputs(self) -> tuple[int, ...]:
        return (self.kernel.shape[1] * self.window.groups, *self.space)

    @cached_property
    def _outputs(self) -> tuple[int, ...]:
        return (len(self.kernel), *self.window.output_space(self.space, self.kernel.shape[2:]))

    @property
    def rows(self) -> int:
        return int(np.prod(self._inputs if self.turned else self._outputs))

    @property
    def columns(self) -> int:
        return int(np.prod(self._outputs if self.turned else self._inputs))

    def apply(self, x: Array) -> Array:
        return self._back(x) if self.turned else self._forth(x)

    def pull(self, y: Array) -> Array:
        return self._forth(y) if self.turned else self._back(y)

    def _forth(self, x: Array) -> Array:
        return convolve(x.reshape(len(x), *self._inputs), self.kernel, self.window).reshape(len(x), -1)

    def _back(self, y: Array) -> Array:
        spread = convolve_back(y.reshape(len(y), *self._outputs), self.kernel, self.window, self.space)
        return spread.reshape(len(y), -1)

    def row(self, number: int) -> tuple[npt.NDArray[np.int64], Array]:
        if self.turned:
            return super().row(number)
        channel, *place = np.unravel_index(number, self._outputs)
        inputs, window = self.kernel.shape[1], self.window
        first = int(channel) // (len(self.kernel) // window.groups) * inputs
        axes = [
            int(p) * stride + dilation * np.arange(k) - before
            for p, stride, dilation, k, (before, _) in zip(
                place, window.stride, window.dilation, self.kernel.shape[2:], window.padding, strict=True
            )
        ]
        # What lies in the padding is left out.
        inside = [(axis >= 0) & (axis < n) for axis, n in zip(axes, self.space, strict=True)]
        grid = np.ix_(first + np.arange(inputs), *(axis[ok] for axis, ok in zip(axes, inside, strict=True)))
        weights = self.kernel[int(channel)][np.ix_(np.arange(inputs), *inside)]
        return np.ravel_multi_index(np.broadcast_arrays(*grid), self._inputs).ravel(), weights.ravel()

    @cached_property
    def entries_read(self) -> npt.NDArray[np.int64]:
        """For each group which entry a kernel's terms read at each place: (groups, terms, places).

        What lies in the padding has the number behind the last entry.
        """
        return entries_read(self._inputs, self.kernel.shape[2:], self.window)

    def changed(self, change: Change) -> Operator:
        return Convolved(change(self.kernel), self.window, self.space, self.turned)

    @property
    def terms(self) -> int:
        outputs, inputs, *size = self.kernel.shape
        return int(max(outputs, inputs) * np.prod(size))

    @property
    def products(self) -> int:
        return self.kernel.size * int(np.prod(self._outputs[1:]))

    @property
    def laid_out(self) -> int:
        return int(self.window.groups * self.kernel[0].size) * int(np.prod(self._outputs[1:]))

    @property
    def factors(self) -> Array:
        return self.kernel

    @property
    def structure(self) -> bytes:
        return f"{self.kernel.shape} {self.window} {self.space} {self.turned}".encode()
