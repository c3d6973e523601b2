"""Affine expressions that stay as they were built, for convolutions and for whatever is too large to write out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from polyfold.exact.error_free import products_are_exact, sums_are_exact
from polyfold.program.affine import Affine, Structured
from polyfold.program.operators import Matrix, Operator
from polyfold.program.rows import Array, Index, Rows, frozen
from polyfold.program.structured import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken


@dataclass(frozen=True, eq=False)
class StructuredExpression(Rows):
    """A form that stays as it was built, plus bias. Only the bias is ever computed."""

    form: Form
    bias: Array
    rounded: bool = False

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
        return cls(form, np.concatenate([part.bias for part in parts]), any(part.rounded for part in parts))

    def take(self, index: Index) -> Self:
        if len(index) == self.size and (index == np.arange(self.size)).all():
            return self
        return type(self)(Taken(index, self.form), self.bias[index], self.rounded)

    def scaled(self, factor: Array) -> Self:
        rounded = self.rounded or not products_are_exact(factor, self.bias)
        return type(self)(Scaled(factor, self.form), factor * self.bias, rounded)

    def shifted(self, offset: Array) -> Self:
        return type(self)(self.form, self.bias + offset, self.rounded or not sums_are_exact(self.bias, offset))

    def plus(self, other: Self) -> Self:
        rounded = self.rounded or other.rounded or not sums_are_exact(self.bias, other.bias)
        return type(self)(Summed((self.form, other.form)), self.bias + other.bias, rounded)

    def times(self, weight: Array, bias: Array) -> Self:
        groups = self.size // weight.shape[1]
        return self.through(Matrix(weight, groups), np.tile(bias, groups))

    def through(self, operator: Operator, bias: Array) -> Self:
        if not self.bias.any():
            return type(self)(Applied(operator, self.form), bias, self.rounded)
        return type(self)(Applied(operator, self.form), operator.apply(self.bias[None])[0] + bias, True)

    def affine(self, widths: Sequence[int]) -> Affine:
        return Structured(self.form, frozen(self.bias), tuple(widths))
