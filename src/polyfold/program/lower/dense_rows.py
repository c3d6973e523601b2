"""Affine expressions over the sources of a Program that are written out as matrices where they have to be.

A coefficient matrix is a Selection as long as each row is one entry of its source times a factor; so
reshapes, slices, normalisation and the weights of a plain layer cost nothing and change no bit. Where rows
mix entries it is dense. A source may still grow while expressions refer to it: a dense matrix with too few
columns has zeros in the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.error_free import (
    matrix_products_are_exact,
    products_are_exact,
    quotients_are_exact,
    sums_are_exact,
)
from polyfold.exact.rounding import relative
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.lower.changes import Change, Sizes, added, relative_change, upwards
from polyfold.program.lower.changes import stacked as stacked_changes
from polyfold.program.lower.numbers import Numbers
from polyfold.program.lower.rows import Index, Rows, frozen
from polyfold.program.operators import Matrix as MatrixOperator
from polyfold.program.operators import Operator, Sparse

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class Selection:
    """Row i is factor[i] times entry index[i] of the source."""

    index: Index
    factor: Array

    def dense(self, width: int) -> Array:
        """The same matrix written out, with at least the columns that it needs."""
        width = max(width, int(self.index.max(initial=-1)) + 1)
        matrix = np.zeros((len(self.index), width))
        matrix[np.arange(len(self.index)), self.index] = self.factor
        return matrix


Matrix: TypeAlias = Selection | Array


@dataclass(frozen=True, eq=False)
class Expression(Rows):
    """sum over sources of matrix @ source, plus bias, with all matrices written out where they have to be."""

    terms: dict[int, Matrix]
    bias: Array
    change: Change | None = None

    @property
    def size(self) -> int:
        return len(self.bias)

    @property
    def depth(self) -> int:
        return max((source for source, matrix in self.terms.items() if not is_zero(matrix)), default=0)

    @classmethod
    def entries(cls, source: int, first: int, count: int) -> Self:
        return cls({source: Selection(np.arange(first, first + count), np.ones(count))}, np.zeros(count))

    @classmethod
    def numbers(cls, values: Array) -> Self:
        return cls({}, values)

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        sources = dict.fromkeys(source for part in parts for source in part.terms)
        terms = {source: _stacked([(part.terms.get(source), part.size) for part in parts]) for source in sources}
        change = stacked_changes([(part.change, part.size) for part in parts])
        return cls(terms, np.concatenate([part.bias for part in parts]), change)

    def take(self, index: Index) -> Self:
        terms = {source: _rows(matrix, index) for source, matrix in self.terms.items()}
        return type(self)(terms, self.bias[index], None if self.change is None else self.change.take(index))

    @property
    def sizes(self) -> Sizes:
        return {source: upwards(_row_sums(matrix), _width(matrix)) for source, matrix in self.terms.items()}

    def _rounded(self, roundings: int) -> Change:
        """What rows have moved by if each of their coefficients was rounded so often."""
        width = max((_width(matrix) for matrix in self.terms.values()), default=1)
        return relative_change(self.sizes, self.bias, relative(roundings), roundings * width)

    def scaled(self, factor: Array) -> Self:
        terms = {source: _scaled(matrix, factor) for source, matrix in self.terms.items()}
        exact = products_are_exact(factor, self.bias) and all(_scales(m, factor) for m in self.terms.values())
        found = type(self)(terms, factor * self.bias, None if self.change is None else self.change.scaled(factor))
        return found if exact else found.moved(found._rounded(2))

    def divided(self, divisor: Array) -> Self:
        terms = {source: _divided(matrix, divisor) for source, matrix in self.terms.items()}
        exact = quotients_are_exact(self.bias, divisor) and all(_divides(m, divisor) for m in self.terms.values())
        change = None if self.change is None else self.change.mapped(lambda moved: moved / np.abs(divisor), 1)
        found = type(self)(terms, self.bias / divisor, change)
        return found if exact else found.moved(found._rounded(2))

    def shifted(self, offset: Array) -> Self:
        found = type(self)(self.terms, self.bias + offset, self.change)
        return found if sums_are_exact(self.bias, offset) else found.moved(_of_bias(found.bias, 2))

    def affinely(self, factor: Numbers, offset: Numbers) -> Self:
        own = relative_change(self.sizes, self.bias, factor.float_error)
        return self.scaled(factor.floats).shifted(offset.floats).moved(own).moved(Change({}, offset.float_error))

    def moved(self, change: Change) -> Self:
        return replace(self, change=added([self.change, change]))

    def plus(self, other: Self) -> Self:
        terms = dict(self.terms)
        exact = sums_are_exact(self.bias, other.bias)
        for source, matrix in other.terms.items():
            if source in terms:
                exact = exact and _adds(terms[source], matrix)
                terms[source] = _sum(terms[source], matrix)
            else:
                terms[source] = matrix
        found = type(self)(terms, self.bias + other.bias, added([self.change, other.change]))
        return found if exact else found.moved(found._rounded(2))

    def times(self, weight: Array, bias: Array) -> Self:
        groups = self.size // weight.shape[1]
        # A sum with exact zeros would still turn -0.0 into 0.0: the user's bias stays as it is.
        offset = np.tile(bias, groups)
        exact = all(_applies(weight, m, groups) for m in self.terms.values())
        if self.bias.any():
            before, passed = self.bias.reshape(groups, -1), (self.bias.reshape(groups, -1) @ weight.T).ravel()
            exact = exact and matrix_products_are_exact(before, weight.T) and sums_are_exact(passed, offset)
            offset = passed + offset
        terms = {source: _applied(weight, m, groups) for source, m in self.terms.items()}
        operator = MatrixOperator(weight, groups)
        found = type(self)(terms, offset, None if self.change is None else self.change.through(operator))
        return found if exact else found.moved(self._rounded_by(operator, np.tile(bias, groups)))

    def through(self, operator: Operator, bias: Array) -> Self:
        terms: dict[int, Matrix] = {
            source: operator.apply(dense(matrix, _width(matrix)).T).T for source, matrix in self.terms.items()
        }
        found = type(self)(
            terms,
            operator.apply(self.bias[None])[0] + bias,
            None if self.change is None else self.change.through(operator),
        )
        # Operators add up in ways of their own: what they put out counts as rounded.
        return found.moved(self._rounded_by(operator, bias))

    def _rounded_by(self, operator: Operator, bias: Array) -> Change:
        """What an operator's sums of products, and the bias added to them, are rounded by."""
        sizes = Change(self.sizes, np.abs(self.bias)).through(operator)
        width = max((_width(matrix) for matrix in self.terms.values()), default=1)
        roundings = operator.terms + 2
        return relative_change(
            sizes.of_source, sizes.of_bias + np.abs(bias), relative(roundings), roundings * (width + 1)
        )

    def combined(self, matrix: sparse.csr_array, divisor: Array | None) -> Self:
        nothing = np.zeros(matrix.shape[0])
        if divisor is None:
            return self.through(Sparse(matrix), nothing)
        return self.through(Sparse(matrix), nothing).divided(divisor)

    def affine(self, widths: Sequence[int]) -> Affine:
        """Zero terms are left out."""
        blocks = tuple(
            Block(source, frozen(dense(matrix, widths[source])))
            for source, matrix in sorted(self.terms.items())
            if not is_zero(matrix)
        )
        return WrittenOut(blocks, frozen(self.bias))


def is_zero(matrix: Matrix) -> bool:
    """Whether a matrix has no nonzero coefficient."""
    return not (matrix.factor if isinstance(matrix, Selection) else matrix).any()


def dense(matrix: Matrix, width: int) -> Array:
    """A matrix written out with exactly `width` columns."""
    if isinstance(matrix, Selection):
        return matrix.dense(width)
    return _padded(matrix, width)


def _rows(matrix: Matrix, index: Index) -> Matrix:
    if isinstance(matrix, Selection):
        return Selection(matrix.index[index], matrix.factor[index])
    return matrix[index]


def _scaled(matrix: Matrix, factor: Array) -> Matrix:
    if isinstance(matrix, Selection):
        return Selection(matrix.index, factor * matrix.factor)
    return factor[:, None] * matrix


def _scales(matrix: Matrix, factor: Array) -> bool:
    """Whether rows times factors are exact."""
    if isinstance(matrix, Selection):
        return products_are_exact(factor, matrix.factor)
    return products_are_exact(factor[:, None], matrix)


def _divided(matrix: Matrix, divisor: Array) -> Matrix:
    if isinstance(matrix, Selection):
        return Selection(matrix.index, matrix.factor / divisor)
    return matrix / divisor[:, None]


def _divides(matrix: Matrix, divisor: Array) -> bool:
    """Whether rows over divisors are exact."""
    if isinstance(matrix, Selection):
        return quotients_are_exact(matrix.factor, divisor)
    return quotients_are_exact(matrix, divisor[:, None])


def _row_sums(matrix: Matrix) -> Array:
    return np.abs(matrix.factor) if isinstance(matrix, Selection) else np.abs(matrix).sum(axis=1)


def _of_bias(bias: Array, roundings: int) -> Change:
    """What a bias that was rounded so often has moved by."""
    return relative_change({}, bias, relative(roundings))


def _adds(a: Matrix, b: Matrix) -> bool:
    """Whether the sum is exact."""
    width = max(_width(a), _width(b))
    return sums_are_exact(dense(a, width), dense(b, width))


def _sum(a: Matrix, b: Matrix) -> Matrix:
    width = max(_width(a), _width(b))
    return dense(a, width) + dense(b, width)


def _stacked(blocks: list[tuple[Matrix | None, int]]) -> Matrix:
    """Matrices below each other; an absent one is zero."""
    filled = [
        Selection(np.zeros(rows, dtype=np.int64), np.zeros(rows)) if matrix is None else matrix
        for matrix, rows in blocks
    ]
    selections = [matrix for matrix in filled if isinstance(matrix, Selection)]
    if len(selections) == len(filled):
        return Selection(
            np.concatenate([matrix.index for matrix in selections]),
            np.concatenate([matrix.factor for matrix in selections]),
        )
    width = max(_width(matrix) for matrix in filled)
    return np.concatenate([dense(matrix, width) for matrix in filled])


def _applied(weight: Array, matrix: Matrix, groups: int) -> Matrix:
    if isinstance(matrix, Selection):
        return _weights_in_place(weight, matrix, groups)
    product = weight @ matrix.reshape(groups, weight.shape[1], -1)
    return product.reshape(groups * len(weight), -1)


def _applies(weight: Array, matrix: Matrix, groups: int) -> bool:
    """Whether weight times a matrix is exact."""
    if not isinstance(matrix, Selection):
        return matrix_products_are_exact(weight, matrix.reshape(groups, weight.shape[1], -1))
    used, factor = np.flatnonzero(matrix.factor), matrix.factor
    group = np.repeat(np.arange(groups), weight.shape[1])
    if not _all_differ(group[used] * _width(matrix) + matrix.index[used]):
        return False
    return bool((np.abs(factor[used]) == 1).all()) or products_are_exact(weight, factor.reshape(groups, 1, -1))


def _weights_in_place(weight: Array, selection: Selection, groups: int) -> Array:
    """weight times a selection: its columns, moved to where the entries come from."""
    width = _width(selection)
    result = np.zeros((groups, len(weight), width))
    for group, index, factor in zip(
        result, selection.index.reshape(groups, -1), selection.factor.reshape(groups, -1), strict=True
    ):
        if _all_differ(index):
            group[:, index] = weight * factor
        else:
            np.add.at(group.T, index, (weight * factor).T)
    return result.reshape(groups * len(weight), width)


def _all_differ(numbers: Index) -> bool:
    ascending = np.sort(numbers)
    return bool((ascending[1:] != ascending[:-1]).all())


def _width(matrix: Matrix) -> int:
    return int(matrix.index.max(initial=-1)) + 1 if isinstance(matrix, Selection) else matrix.shape[1]


def _padded(matrix: Array, width: int) -> Array:
    missing = width - matrix.shape[1]
    return np.pad(matrix, ((0, 0), (0, missing))) if missing else matrix
