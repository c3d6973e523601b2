"""Affine functions of a program's sources in rationals: lowering that never rounds, for networks of moderate size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np

from polyfold.exact.rational_arrays import Rationals, are_floats, identity, nearest, product, rationals, zeros
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.changes import Change, Sizes, added, relative_change, upwards
from polyfold.program.changes import stacked as stacked_changes
from polyfold.program.fold import fold
from polyfold.program.numbers import Numbers
from polyfold.program.operators import Matrix, Operator, Sparse
from polyfold.program.rows import Array, Index, Rows, frozen

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class RationalRows(Rows):
    """sum over sources of matrix @ source, plus bias.

    A source may still grow while rows refer to it: a matrix with too few columns has zeros in the rest.
    """

    terms: dict[int, Rationals]
    bias: Rationals
    change: Change | None = None

    @property
    def size(self) -> int:
        return len(self.bias)

    @property
    def depth(self) -> int:
        return max((source for source, matrix in self.terms.items() if matrix.any()), default=0)

    @classmethod
    def entries(cls, source: int, first: int, count: int) -> Self:
        return cls({source: np.concatenate([zeros(count, first), identity(count)], axis=1)}, zeros(count))

    @classmethod
    def numbers(cls, values: Array) -> Self:
        return cls({}, rationals(values))

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        widths: dict[int, int] = {}
        for part in parts:
            for source, matrix in part.terms.items():
                widths[source] = max(widths.get(source, 0), matrix.shape[1])
        terms = {
            source: np.concatenate([padded(part.terms.get(source), part.size, width) for part in parts])
            for source, width in widths.items()
        }
        change = stacked_changes([(part.change, part.size) for part in parts])
        return cls(terms, np.concatenate([part.bias for part in parts]), change)

    def take(self, index: Index) -> Self:
        change = None if self.change is None else self.change.take(index)
        return type(self)({source: matrix[index] for source, matrix in self.terms.items()}, self.bias[index], change)

    @property
    def sizes(self) -> Sizes:
        """For every source the sums of the coefficients' sizes, row by row."""
        return {s: upwards(np.abs(nearest(m)).sum(axis=1), m.shape[1] + 1) for s, m in self.terms.items()}

    def scaled(self, factor: Array) -> Self:
        return self._scaled(rationals(factor))

    def _scaled(self, factor: Rationals) -> Self:
        terms = {source: matrix * factor[:, None] for source, matrix in self.terms.items()}
        change = None if self.change is None else self.change.scaled(upwards(np.abs(nearest(factor)), 1))
        return type(self)(terms, self.bias * factor, change)

    def divided(self, divisor: Array) -> Self:
        return self._scaled(1 / rationals(divisor))

    def shifted(self, offset: Array) -> Self:
        return type(self)(self.terms, self.bias + rationals(offset), self.change)

    def affinely(self, factor: Numbers, offset: Numbers) -> Self:
        found = self._scaled(factor.rationals)
        found = type(self)(found.terms, found.bias + offset.rationals, found.change)
        if not (factor.rational_error.any() or offset.rational_error.any()):
            return found
        own = relative_change(self.sizes, nearest(self.bias), factor.rational_error)
        return replace(found, change=added([found.change, own, Change({}, offset.rational_error)]))

    def plus(self, other: Self) -> Self:
        terms = dict(self.terms)
        for source, matrix in other.terms.items():
            width = max(matrix.shape[1], terms[source].shape[1] if source in terms else 0)
            terms[source] = padded(terms.get(source), self.size, width) + padded(matrix, self.size, width)
        return type(self)(terms, self.bias + other.bias, added([self.change, other.change]))

    def times(self, weight: Array, bias: Array) -> Self:
        exact, groups = rationals(weight), self.size // weight.shape[1]
        terms = {source: _in_groups(exact, matrix, groups) for source, matrix in self.terms.items()}
        offset = _in_groups(exact, self.bias[:, None], groups)[:, 0] + np.tile(rationals(bias), groups)
        change = None if self.change is None else self.change.through(Matrix(weight, groups))
        return type(self)(terms, offset, change)

    def through(self, operator: Operator, bias: Array) -> Self:
        # Every entry of an operator's matrix is one of its coefficients: unit vectors are mapped without rounding.
        return self.times(operator.apply(np.eye(operator.columns)).T, bias)

    def combined(self, matrix: sparse.csr_array, divisor: Array | None) -> Self:
        found = self.through(Sparse(matrix), np.zeros(matrix.shape[0]))
        return found if divisor is None else found.divided(divisor)

    def affine(self, widths: Sequence[int]) -> Affine:
        """The nearest floats. Zero terms are left out."""
        blocks = tuple(
            Block(source, frozen(nearest(padded(matrix, self.size, widths[source]))))
            for source, matrix in sorted(self.terms.items())
            if matrix.any()
        )
        return WrittenOut(blocks, frozen(nearest(self.bias)))

    @property
    def in_floats(self) -> bool:
        """Whether `affine` rounds nothing."""
        return are_floats(self.bias) and all(are_floats(matrix) for matrix in self.terms.values())


def padded(matrix: Rationals | None, rows: int, width: int) -> Rationals:
    """A matrix with zeros in the columns that it lacks; None is nothing but zeros."""
    if matrix is None:
        return zeros(rows, width)
    return np.concatenate([matrix, zeros(rows, width - matrix.shape[1])], axis=1)


def _in_groups(weight: Rationals, matrix: Rationals, groups: int) -> Rationals:
    """weight @ each of the equal groups of rows."""
    each = matrix.reshape(groups, -1, matrix.shape[1])
    return np.concatenate([product(weight, group) for group in each])


def rows_of(affine: Affine, widths: Sequence[int]) -> RationalRows:
    """An affine function's coefficients on sources of these widths, to the last digit."""
    sources = [RationalRows.entries(source, 0, width) for source, width in enumerate(widths)]
    return fold(affine, sources, _RowTerms())


class _RowTerms:
    """What forms do to rows over the sources (`program/fold.py`)."""

    def entries(self, value: RationalRows, first: int, count: int) -> RationalRows:
        return value.take(np.arange(first, first + count))

    def zeros(self, values: Sequence[RationalRows], count: int) -> RationalRows:
        return RationalRows.numbers(np.zeros(count))

    def through(self, operator: Operator, value: RationalRows) -> RationalRows:
        return value.through(operator, np.zeros(operator.rows))

    def scaled(self, factor: Array, value: RationalRows) -> RationalRows:
        return value.scaled(factor)

    def taken(self, index: Index, value: RationalRows) -> RationalRows:
        return value.take(index)

    def summed(self, parts: Sequence[RationalRows]) -> RationalRows:
        return reduce(RationalRows.plus, parts)

    def stacked(self, parts: Sequence[RationalRows]) -> RationalRows:
        return RationalRows.stacked(parts)

    def shifted(self, value: RationalRows, bias: Array) -> RationalRows:
        return value.shifted(bias)
