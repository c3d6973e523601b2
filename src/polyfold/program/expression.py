"""Affine expressions over the sources of a Program, while it is being written.

A coefficient matrix is a Selection as long as each row is one entry of its source times a factor; so
reshapes, slices, normalisation and the weights of a plain layer cost nothing and change no bit. Where rows
mix entries it is dense. A source may still grow while expressions refer to it: a dense matrix with too few
columns has zeros in the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


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
class Expression:
    """sum over sources of matrix @ source, plus bias; one row for each entry of a flattened value."""

    terms: dict[int, Matrix]
    bias: Array

    @property
    def size(self) -> int:
        return len(self.bias)

    @property
    def depth(self) -> int:
        """The largest source that some row depends on; zero for constants too."""
        return max((source for source, matrix in self.terms.items() if not is_zero(matrix)), default=0)


def entries(source: int, index: Index) -> Expression:
    """Entries of a source."""
    return Expression({source: Selection(index, np.ones(len(index)))}, np.zeros(len(index)))


def numbers(values: Array) -> Expression:
    """A constant."""
    return Expression({}, values)


def take(x: Expression, index: Index) -> Expression:
    """Rows by index."""
    return Expression({source: _rows(matrix, index) for source, matrix in x.terms.items()}, x.bias[index])


def scale(x: Expression, factor: Array) -> Expression:
    """Each row times a factor."""
    return Expression({source: _scaled(matrix, factor) for source, matrix in x.terms.items()}, factor * x.bias)


def shift(x: Expression, offset: Array) -> Expression:
    """Each row plus a number."""
    return Expression(x.terms, x.bias + offset)


def add(x: Expression, y: Expression) -> Expression:
    """The sum, row by row."""
    terms = dict(x.terms)
    for source, matrix in y.terms.items():
        terms[source] = _sum(terms[source], matrix) if source in terms else matrix
    return Expression(terms, x.bias + y.bias)


def subtract(x: Expression, y: Expression) -> Expression:
    """The difference, row by row."""
    return add(x, scale(y, np.full(y.size, -1.0)))


def apply(weight: Array, bias: Array, x: Expression) -> Expression:
    """weight @ x + bias on each of the equal groups of rows that x consists of."""
    groups = x.size // weight.shape[1]
    # A sum with exact zeros would still turn -0.0 into 0.0: the user's bias stays as it is.
    offset = np.tile(bias, groups)
    if x.bias.any():
        offset = (x.bias.reshape(groups, -1) @ weight.T).ravel() + offset
    return Expression({source: _applied(weight, m, groups) for source, m in x.terms.items()}, offset)


def stack(parts: list[Expression]) -> Expression:
    """The rows of all parts, one part after the other."""
    sources = dict.fromkeys(source for part in parts for source in part.terms)
    terms = {source: _stacked([(part.terms.get(source), part.size) for part in parts]) for source in sources}
    return Expression(terms, np.concatenate([part.bias for part in parts]))


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


def _weights_in_place(weight: Array, selection: Selection, groups: int) -> Array:
    """weight times a selection: its columns, moved to where the entries come from."""
    width = _width(selection)
    result = np.zeros((groups, len(weight), width))
    for group, index, factor in zip(
        result, selection.index.reshape(groups, -1), selection.factor.reshape(groups, -1), strict=True
    ):
        if len(np.unique(index)) == len(index):
            group[:, index] = weight * factor
        else:
            np.add.at(group.T, index, (weight * factor).T)
    return result.reshape(groups * len(weight), width)


def _width(matrix: Matrix) -> int:
    return int(matrix.index.max(initial=-1)) + 1 if isinstance(matrix, Selection) else matrix.shape[1]


def _padded(matrix: Array, width: int) -> Array:
    missing = width - matrix.shape[1]
    return np.pad(matrix, ((0, 0), (0, missing))) if missing else matrix
