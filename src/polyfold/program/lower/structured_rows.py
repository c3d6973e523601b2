"""Affine expressions that stay as they were built, for convolutions and for whatever is too large to write out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.error_free import products_are_exact, quotients_are_exact, sums_are_exact
from polyfold.exact.rounding import relative, rounded_part
from polyfold.network.ops.spatial import divided_rows
from polyfold.program.affine import Affine, Structured
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.lower.changes import Change, Sizes, added, relative_change, sizes_of
from polyfold.program.lower.changes import stacked as stacked_changes
from polyfold.program.lower.numbers import Numbers
from polyfold.program.lower.rows import Index, Rows, frozen
from polyfold.program.operators import Matrix, Operator, Sparse

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class StructuredExpression(Rows):
    """A form that stays as it was built, plus bias. Only the bias is ever computed."""

    form: Form
    bias: Array
    change: Change | None = None

    @property
    def size(self) -> int:
        return len(self.bias)

    @property
    def depth(self) -> int:
        return max(self.form.sources, default=0)

    @classmethod
    def entries(cls, source: int, first: int, count: int) -> Self:
        return cls(Entries(source, first, count), np.zeros(count))

    @classmethod
    def numbers(cls, values: Array) -> Self:
        return cls(Nothing(len(values)), values)

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        form = Stacked(tuple(part.form for part in parts))
        change = stacked_changes([(part.change, part.size) for part in parts])
        return cls(form, np.concatenate([part.bias for part in parts]), change)

    def take(self, index: Index) -> Self:
        if len(index) == self.size and (index == np.arange(self.size)).all():
            return self
        return type(self)(
            Taken(index, self.form), self.bias[index], None if self.change is None else self.change.take(index)
        )

    @property
    def sizes(self) -> Sizes:
        return sizes_of(self.form)

    def moved(self, change: Change) -> Self:
        return replace(self, change=added([self.change, change]))

    def _with_rounded_bias(self, roundings: int, size: Array) -> Self:
        """The same rows, whose bias was rounded so often on the way to numbers of this size."""
        return self.moved(relative_change({}, size, relative(roundings), roundings))

    def scaled(self, factor: Array) -> Self:
        change = None if self.change is None else self.change.scaled(factor)
        found = type(self)(Scaled(factor, self.form), factor * self.bias, change)
        return found if products_are_exact(factor, self.bias) else found._with_rounded_bias(2, found.bias)

    def divided(self, divisor: Array) -> Self:
        reciprocal = 1.0 / divisor
        found = self.scaled(reciprocal)
        if quotients_are_exact(np.ones(len(divisor)), divisor):
            return found
        return found.moved(relative_change(found.sizes, found.bias, rounded_part(reciprocal)))

    def shifted(self, offset: Array) -> Self:
        found = type(self)(self.form, self.bias + offset, self.change)
        return found if sums_are_exact(self.bias, offset) else found._with_rounded_bias(2, found.bias)

    def affinely(self, factor: Numbers, offset: Numbers) -> Self:
        own = relative_change(self.sizes, self.bias, factor.float_error)
        return self.scaled(factor.floats).shifted(offset.floats).moved(own).moved(Change({}, offset.float_error))

    def plus(self, other: Self) -> Self:
        change = added([self.change, other.change])
        found = type(self)(Summed((self.form, other.form)), self.bias + other.bias, change)
        return found if sums_are_exact(self.bias, other.bias) else found._with_rounded_bias(2, found.bias)

    def times(self, weight: Array, bias: Array) -> Self:
        groups = self.size // weight.shape[1]
        return self.through(Matrix(weight, groups), np.tile(bias, groups))

    def through(self, operator: Operator, bias: Array) -> Self:
        change = None if self.change is None else self.change.through(operator)
        form = Applied(operator, self.form)
        if not self.bias.any():
            return type(self)(form, bias, change)
        found = type(self)(form, operator.apply(self.bias[None])[0] + bias, change)
        size = operator.changed(np.abs).apply(np.abs(self.bias[None]))[0] + np.abs(bias)
        return found._with_rounded_bias(operator.terms + 4, size)

    def combined(self, matrix: sparse.csr_array, divisor: Array | None) -> Self:
        nothing = np.zeros(matrix.shape[0])
        if divisor is None:
            return self.through(Sparse(matrix), nothing)
        quotients = divided_rows(matrix, divisor)
        found = self.through(Sparse(quotients), nothing)
        part = float(rounded_part(quotients.data).max(initial=0.0))
        return found.moved(relative_change(found.sizes, found.bias, part))

    def affine(self, widths: Sequence[int]) -> Affine:
        return Structured(self.form, frozen(self.bias), tuple(widths))
