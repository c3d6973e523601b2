"""The piecewise-linear operations that a Network is made of.

There are few of them on purpose: importers translate the many operators of torch and ONNX into these, and
everything behind them (evaluation, lowering, export) handles just these. Arrays carry a batch axis in front;
the shapes that operations speak of do not. Every op is a frozen value that can evaluate itself and tell its
output's shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from polyfold.errors import ShapeError, how_many

Array = npt.NDArray[np.float64]
Shape = tuple[int, ...]


def constant(values: Any) -> Array:
    """A read-only float64 copy: constants of a network never change after import."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Op:
    """Base of all operations. `kind` is its name in files, which stays whatever the class is called."""

    kind: ClassVar[str]

    def infer(self, *shapes: Shape) -> Shape:
        """The output's shape for inputs of these shapes; raises ShapeError where they do not fit."""
        raise AssertionError(f"{type(self).__name__} does not say its output shape")

    def evaluate(self, *values: Array) -> Array:
        """The output for a batch; every array is (batch, *shape)."""
        raise AssertionError(f"{type(self).__name__} cannot be evaluated")

    @property
    def constants(self) -> tuple[Array, ...]:
        """The trained numbers in this op, to be checked for NaN and infinity."""
        return ()


@dataclass(frozen=True, eq=False)
class Linear(Op):
    """y = W x + b along the last axis; W is (outputs, inputs)."""

    kind: ClassVar[str] = "Linear"

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

    kind: ClassVar[str] = "Scale"

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

    kind: ClassVar[str] = "Normalise"

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

    kind: ClassVar[str] = "Shift"

    offset: Array

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(shapes[0], self.offset.shape)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(align(values[0], self.offset.ndim) + self.offset)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.offset,)


@dataclass(frozen=True, eq=False)
class Reshape(Op):
    """The same numbers in the same order under another shape (flatten, squeeze and unsqueeze too)."""

    kind: ClassVar[str] = "Reshape"

    shape: Shape

    def infer(self, *shapes: Shape) -> Shape:
        if size(shapes[0]) != size(self.shape):
            raise ShapeError(f"a value of shape {shapes[0]} cannot be reshaped to {self.shape}")
        return self.shape

    def evaluate(self, *values: Array) -> Array:
        return values[0].reshape(len(values[0]), *self.shape)


@dataclass(frozen=True, eq=False)
class Take(Op):
    """Entries of the flattened input by index: slicing, selecting, permuting, splitting, repeating."""

    kind: ClassVar[str] = "Take"

    index: npt.NDArray[np.int64]

    def infer(self, *shapes: Shape) -> Shape:
        if self.index.size and int(self.index.max()) >= size(shapes[0]):
            raise ShapeError(f"index {int(self.index.max())} lies outside a value of shape {shapes[0]}")
        return self.index.shape

    def evaluate(self, *values: Array) -> Array:
        return values[0].reshape(len(values[0]), -1)[:, self.index]


@dataclass(frozen=True, eq=False)
class Concat(Op):
    """The inputs side by side along one axis (not counting the batch axis)."""

    kind: ClassVar[str] = "Concat"

    axis: int

    def infer(self, *shapes: Shape) -> Shape:
        first = shapes[0]
        if not 0 <= self.axis < len(first):
            raise ShapeError(f"there is no axis {self.axis} to concatenate values of shape {first} along")
        for other in shapes[1:]:
            same = len(other) == len(first) and all(
                a == b for k, (a, b) in enumerate(zip(first, other, strict=True)) if k != self.axis
            )
            if not same:
                raise ShapeError(f"values of shapes {first} and {other} cannot be concatenated along axis {self.axis}")
        return (*first[: self.axis], sum(s[self.axis] for s in shapes), *first[self.axis + 1 :])

    def evaluate(self, *values: Array) -> Array:
        return np.concatenate(values, axis=self.axis + 1)


@dataclass(frozen=True, eq=False)
class Add(Op):
    """The sum of two values, broadcast against each other."""

    kind: ClassVar[str] = "Add"

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        a, b = aligned(values)
        return np.asarray(a + b)


@dataclass(frozen=True, eq=False)
class Subtract(Op):
    """The difference of two values, broadcast against each other."""

    kind: ClassVar[str] = "Subtract"

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        a, b = aligned(values)
        return np.asarray(a - b)


@dataclass(frozen=True, eq=False)
class Rectify(Op):
    """slope_on * x where x > 0, slope_off * x elsewhere: ReLU (1, 0), LeakyReLU (1, a), abs (1, -1)."""

    kind: ClassVar[str] = "Rectify"

    slope_on: Array
    slope_off: Array

    def infer(self, *shapes: Shape) -> Shape:
        shape = broadcast(shapes[0], np.broadcast_shapes(self.slope_on.shape, self.slope_off.shape))
        if shape != shapes[0]:
            raise ShapeError(f"slopes of shape {self.slope_off.shape} do not fit a value of shape {shapes[0]}")
        return shape

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        return np.asarray(x * np.where(x > 0, self.slope_on, self.slope_off))

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.slope_on, self.slope_off)


@dataclass(frozen=True, eq=False)
class Clamp(Op):
    """min(max(x, low), high) with scalar bounds (clip, Hardtanh, ReLU6); an absent bound is infinite.

    `flat_at_bounds` tells which side a value belongs to that is one of the bounds: False for the sloping one, as
    torch.clamp differentiates, True for the flat one, as torch's hardtanh does.
    """

    kind: ClassVar[str] = "Clamp"

    low: float
    high: float
    flat_at_bounds: bool = False

    def infer(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def evaluate(self, *values: Array) -> Array:
        return np.clip(values[0], self.low, self.high)

    @property
    def constants(self) -> tuple[Array, ...]:
        low = [] if self.low == -np.inf else [self.low]
        high = [] if self.high == np.inf else [self.high]
        return (constant(low + high),)


@dataclass(frozen=True, eq=False)
class Maximum(Op):
    """The larger of two values, entry by entry; the first one where they are equal."""

    kind: ClassVar[str] = "Maximum"

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(np.maximum(*aligned(values)))


@dataclass(frozen=True, eq=False)
class Minimum(Op):
    """The smaller of two values, entry by entry; the first one where they are equal."""

    kind: ClassVar[str] = "Minimum"

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(np.minimum(*aligned(values)))


def size(shape: Shape) -> int:
    """How many numbers a value of this shape holds."""
    return int(np.prod(shape, dtype=np.int64))


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's broadcasting rule, with an error of ours."""
    try:
        return tuple(int(n) for n in np.broadcast_shapes(*shapes))
    except ValueError:
        raise ShapeError(f"values of shapes {' and '.join(map(str, shapes))} cannot be combined") from None


def per_channel(numbers: Array, axes: int) -> Array:
    """A number for every entry of the first of so many axes, to broadcast along the others."""
    return numbers.reshape(-1, *([1] * (axes - 1)))


def align(value: Array, ndim: int) -> Array:
    """Insert axes behind the batch axis: a shorter shape broadcasts from the right, not into the batch."""
    missing = ndim - (value.ndim - 1)
    return value.reshape(len(value), *([1] * missing), *value.shape[1:]) if missing > 0 else value


def aligned(values: tuple[Array, ...]) -> tuple[Array, ...]:
    """Give all batched values the same number of axes."""
    ndim = max(v.ndim - 1 for v in values)
    return tuple(align(v, ndim) for v in values)
