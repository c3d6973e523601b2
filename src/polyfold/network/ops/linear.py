"""Operations that are affine in what they read: layers, factors, offsets, sums and differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import ShapeError, how_many
from polyfold.network.ops.op import Op, Shape, align, aligned, broadcast, constant, per_channel


@dataclass(frozen=True, eq=False)
class Linear(Op):
    """y = W x + b along the last axis; W is (outputs, inputs)."""

    weight: Array
    bias: Array

    def infer(self, *shapes: Shape) -> Shape:
        (shape,) = shapes
        if not shape or shape[-1] != self.weight.shape[1]:
            raise ShapeError(
                f"a linear layer with {how_many(self.weight.shape[1], 'input')} was given a value of shape {shape}"
            )
        return (*shape[:-1], self.weight.shape[0])

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        return np.asarray(x @ self.weight.T + self.bias)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.weight, self.bias)


@dataclass(frozen=True, eq=False)
class Scale(Op):
    """y = factor * x / divisor, both broadcast against the value's shape; without a divisor nothing is divided.

    A third is no float: a network that divides by three says so, instead of multiplying by what is next to a third.
    """

    factor: Array
    divisor: Array | None = None

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(shapes[0], *(numbers.shape for numbers in self.constants))

    def evaluate(self, *values: Array) -> Array:
        x = align(values[0], max(numbers.ndim for numbers in self.constants))
        return np.asarray(x * self.factor if self.divisor is None else x * self.factor / self.divisor)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.factor,) if self.divisor is None else (self.factor, self.divisor)


@dataclass(frozen=True, eq=False)
class Normalise(Op):
    """y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, a number of each for every entry of the first axis.

    Batch normalisation in evaluation mode, in the model's own numbers. Its roots are hardly ever rational, so what
    `folded` makes of them is rounded.
    """

    gamma: Array
    beta: Array
    mean: Array
    variance: Array
    epsilon: float

    def infer(self, *shapes: Shape) -> Shape:
        if not shapes[0] or any(numbers.shape != shapes[0][:1] for numbers in self._arrays):
            raise ShapeError(f"a normalisation of {how_many(len(self.mean), 'channel')} was given shape {shapes[0]}")
        return shapes[0]

    def evaluate(self, *values: Array) -> Array:
        factor, offset = (per_channel(numbers, values[0].ndim - 1) for numbers in self.folded)
        return np.asarray(values[0] * factor + offset)

    @cached_property
    def folded(self) -> tuple[Array, Array]:
        """factor and offset with y = factor * x + offset, in floats."""
        factor = self.gamma * (1.0 / np.sqrt(self.variance + self.epsilon))
        return constant(factor), constant(self.beta - self.mean * factor)

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.gamma, self.beta, self.mean, self.variance

    @property
    def constants(self) -> tuple[Array, ...]:
        return (*self._arrays, constant(self.epsilon))


@dataclass(frozen=True, eq=False)
class Shift(Op):
    """y = x + offset, the offset broadcast against the value's shape."""

    offset: Array

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(shapes[0], self.offset.shape)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(align(values[0], self.offset.ndim) + self.offset)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.offset,)


@dataclass(frozen=True, eq=False)
class Add(Op):
    """The sum of two values, broadcast against each other."""

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        a, b = aligned(values)
        return np.asarray(a + b)


@dataclass(frozen=True, eq=False)
class Subtract(Op):
    """The difference of two values, broadcast against each other."""

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        a, b = aligned(values)
        return np.asarray(a - b)
