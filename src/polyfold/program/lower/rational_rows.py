"""Affine functions of a program's sources in rationals: lowering that never rounds, for networks of moderate size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational_arrays import Rationals, are_floats, by_rows, identity, nearest, product, rationals, zeros
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.lower.changes import Change, Sizes, added, relative_change, upwards
from polyfold.program.lower.changes import stacked as stacked_changes
from polyfold.program.lower.numbers import Numbers
from polyfold.program.lower.rows import Index, Rows, frozen
from polyfold.program.operators import Matrix, Operator, Sparse
from polyfold.program.passes.fold import fold

if TYPE_CHECKING:
    from scipy import sparse

# Zeros are looked for if so many times fewer products are left.
_WORTH_LOOKING_FOR_ZEROS = 8


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
    def sources(self) -> frozenset[int]:
        """The sources that they read."""
        return frozenset(self.terms)

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
        return {s: upwards(np.abs(nearest(m)).sum(axis=1), m.shape[1] + 1) for s, m in self.terms.items()}

    @property
    def bias_sizes(self) -> Array:
        return upwards(np.abs(nearest(self.bias)), 1)

    def moved(self, change: Change) -> Self:
        return replace(self, change=added([self.change, change]))

    def scaled(self, factor: Array) -> Self:
        return self._scaled(rationals(factor))

    def _scaled(self, factor: Rationals) -> Self:
        terms = {source: by_rows(_times_factors, matrix, factor) for source, matrix in self.terms.items()}
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
        groups = self.size // weight.shape[1]
        change = None if self.change is None else self.change.through(Matrix(weight, groups))
        return self._times(_mostly_zeros(weight), np.tile(rationals(bias), groups), change)

    def _times(self, weight: Rationals, bias: Rationals, change: Change | None) -> Self:
        groups = self.size // weight.shape[1]
        terms = {source: _in_groups(weight, matrix, groups) for source, matrix in self.terms.items()}
        offset = _in_groups(weight, self.bias[:, None], groups)[:, 0] + bias
        return type(self)(terms, offset, change)

    def through(self, operator: Operator, bias: Array) -> Self:
        # Every entry of an operator's matrix is one of its coefficients: unit vectors are mapped without rounding.
        return self.times(operator.apply(np.eye(operator.columns)).T, bias)

    def through_numbers(self, operator: Operator, coefficients: Numbers, bias: Numbers) -> Self:
        weight = coefficients.rationals
        if not isinstance(operator, Matrix):
            # Coefficients are numbered, so that their places in the operator's matrix are seen.
            numbered = operator.changed(lambda factors: np.arange(1.0, factors.size + 1).reshape(factors.shape))
            places = numbered.apply(np.eye(operator.columns)).T.astype(np.int64)
            weight = np.concatenate([zeros(1), weight.ravel()])[places]
        change = None if self.change is None else self.change.through(operator)
        found = self._times(weight, bias.rationals, change)
        if not (coefficients.rational_error.any() or bias.rational_error.any()):
            return found
        return found.moved(self.off_by(operator, coefficients.rational_error, bias.rational_error))

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


def _times_factors(matrix: Rationals, factor: Rationals) -> Rationals:
    found: Rationals = matrix * factor[:, None]
    return found


def _is_there(array: Rationals) -> npt.NDArray[np.bool_]:
    return np.asarray(array != 0, dtype=np.bool_)


def _mostly_zeros(matrix: Array) -> Rationals:
    """A matrix in rationals, of which only what is not zero has to be made."""
    exact, there = zeros(*matrix.shape), np.nonzero(matrix)
    exact[there] = rationals(matrix[there])
    return exact


def _in_groups(weight: Rationals, matrix: Rationals, groups: int) -> Rationals:
    """weight @ each of the equal groups of rows."""
    each = matrix.reshape(groups, weight.shape[1], matrix.shape[1])
    there = by_rows(_is_there, matrix).reshape(each.shape)
    # How many products there are to be made, of all that matrices without zeros would have.
    some = by_rows(_is_there, weight).sum(axis=0) @ there.sum(axis=2).sum(axis=0)
    if some * _WORTH_LOOKING_FOR_ZEROS < groups * weight.size * matrix.shape[1]:
        return np.concatenate([_few_products(weight, group, where) for group, where in zip(each, there, strict=True)])
    return np.concatenate([product(weight, group) for group in each])


def _few_products(weight: Rationals, matrix: Rationals, there: npt.NDArray[np.bool_]) -> Rationals:
    """weight @ matrix, where both are mostly zeros: as convolutions of single entries are."""
    result = zeros(len(weight), matrix.shape[1])
    columns = [np.flatnonzero(row).tolist() for row in there]
    for total, row in zip(result, weight, strict=True):
        tick()
        for k in np.flatnonzero(row).tolist():
            factor = row[k]
            for j in columns[k]:
                total[j] += factor * matrix[k, j]
    return result


def rows_of(affine: Affine, widths: Sequence[int]) -> RationalRows:
    """An affine function's coefficients on sources of these widths, to the last digit."""
    sources = [RationalRows.entries(source, 0, width) for source, width in enumerate(widths)]
    return fold(affine, sources, _RowTerms())


class _RowTerms:
    """What forms do to rows over the sources (`program/passes/fold.py`)."""

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
