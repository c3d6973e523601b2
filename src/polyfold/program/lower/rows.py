"""Rows: affine functions of a program's sources while it is being written; there are three kinds that do not mix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.program.affine import Affine
from polyfold.program.lower.changes import Change, Sizes, added, upwards
from polyfold.program.lower.numbers import Numbers
from polyfold.program.operators import Operator

if TYPE_CHECKING:
    from scipy import sparse

Index = npt.NDArray[np.int64]


class Rows(ABC):
    """Affine functions of the sources, one for each entry of a flattened value; lowering combines these.

    `change` bounds how far that has moved them from what the network's own numbers make of it; None if not at all.
    """

    bias: npt.NDArray[Any]
    """What each adds: floats, or rationals."""
    change: Change | None

    @property
    @abstractmethod
    def size(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """The largest source that some row depends on; zero for constants too."""

    @classmethod
    @abstractmethod
    def entries(cls, source: int, first: int, count: int) -> Self:
        """Consecutive entries of a source."""

    @classmethod
    @abstractmethod
    def numbers(cls, values: Array) -> Self:
        """Constants."""

    @classmethod
    @abstractmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, one part after the other."""

    @abstractmethod
    def take(self, index: Index) -> Self:
        """Rows by index."""

    @abstractmethod
    def scaled(self, factor: Array) -> Self:
        """Each row times a factor."""

    @abstractmethod
    def divided(self, divisor: Array) -> Self:
        """Each row divided by a number."""

    @abstractmethod
    def shifted(self, offset: Array) -> Self:
        """Each row plus a number."""

    @abstractmethod
    def affinely(self, factor: Numbers, offset: Numbers) -> Self:
        """Each row times a number, plus a number, neither of which need be a float."""

    @abstractmethod
    def plus(self, other: Self) -> Self:
        """The sum, row by row."""

    @abstractmethod
    def times(self, weight: Array, bias: Array) -> Self:
        """weight @ rows + bias on each of the equal groups of rows that there are."""

    @abstractmethod
    def through(self, operator: Operator, bias: Array) -> Self:
        """An operator on all rows, plus bias."""

    @property
    @abstractmethod
    def sizes(self) -> Sizes:
        """For every source the sums of the coefficients' sizes, row by row."""

    @property
    def bias_sizes(self) -> Array:
        """The sizes of what each row adds."""
        return np.asarray(np.abs(self.bias))

    @abstractmethod
    def moved(self, change: Change) -> Self:
        """The same rows, which stand for others that are off by that."""

    def through_numbers(self, operator: Operator, coefficients: Numbers, bias: Numbers) -> Self:
        """An operator on all rows, plus bias, whose numbers need not be floats; the operator has those next to them."""
        found = self.through(operator, bias.floats)
        return found.moved(self.off_by(operator, coefficients.float_error, bias.float_error))

    def off_by(self, operator: Operator, coefficients: Array, bias: Array) -> Change:
        """What an operator's results are off by if its coefficients and the bias are."""
        whole = added([Change(self.sizes, self.bias_sizes), self.change])
        if whole is None:
            return Change({}, bias)
        own = whole.through(operator.changed(lambda factors: coefficients.reshape(factors.shape)))
        return Change(own.of_source, upwards(own.of_bias + bias, 1))

    @abstractmethod
    def combined(self, matrix: sparse.csr_array, divisor: Array | None) -> Self:
        """Few rows each added up with factors, and divided by numbers if there are such."""

    @abstractmethod
    def affine(self, widths: Sequence[int]) -> Affine:
        """What a program holds of it, once the sources have their final widths."""

    def negated(self) -> Self:
        """Each row times -1."""
        return self.scaled(np.full(self.size, -1.0))

    def minus(self, other: Self) -> Self:
        """The difference, row by row."""
        return self.plus(other.negated())


def frozen(array: Array) -> Array:
    """A read-only copy, because the same array may still belong to the network."""
    array = np.array(array, order="C")
    array.setflags(write=False)
    return array
