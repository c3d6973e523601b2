"""Operations on values with channels and space, and others whose outputs each read only a few entries.

A value is (channels, *space). Like all ops these are frozen, evaluate themselves on a batch, and tell their output's
shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from polyfold.errors import ShapeError
from polyfold.network.ops.convolve import Window, convolve, convolve_back
from polyfold.network.ops.ops import Array, Op, Shape, size

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class Convolution(Op):
    """Windows of the value weighted with kernels (outputs, channels / groups, *window), plus a bias an output."""

    kind: ClassVar[str] = "Convolution"

    kernel: Array
    bias: Array
    window: Window

    def infer(self, *shapes: Shape) -> Shape:
        channels, space = channels_and_space(shapes[0], self.kernel)
        if channels != self.kernel.shape[1] * self.window.groups:
            raise ShapeError(
                f"a convolution of {self.kernel.shape[1] * self.window.groups} channels was given shape {shapes[0]}"
            )
        return (len(self.kernel), *self.window.output_space(space, self.kernel.shape[2:]))

    def evaluate(self, *values: Array) -> Array:
        return convolve(values[0], self.kernel, self.window) + spread_bias(self.bias, self.window)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.kernel, self.bias)


@dataclass(frozen=True, eq=False)
class TransposedConvolution(Op):
    """Every entry of the value spread by kernels (channels, outputs / groups, *window), plus a bias an output.

    It is the transpose of the convolution with the same kernel and window that maps `space` to the value's space.
    """

    kind: ClassVar[str] = "TransposedConvolution"

    kernel: Array
    bias: Array
    window: Window
    space: tuple[int, ...]

    def infer(self, *shapes: Shape) -> Shape:
        channels, space = channels_and_space(shapes[0], self.kernel)
        if channels != len(self.kernel) or self.window.output_space(self.space, self.kernel.shape[2:]) != space:
            raise ShapeError(
                f"a transposed convolution of {len(self.kernel)} channels to {self.space} was given shape {shapes[0]}"
            )
        return (self.kernel.shape[1] * self.window.groups, *self.space)

    def evaluate(self, *values: Array) -> Array:
        spread = convolve_back(values[0], self.kernel, self.window, self.space)
        return spread + spread_bias(self.bias, self.window)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.kernel, self.bias)


@dataclass(frozen=True, eq=False)
class Combine(Op):
    """Fixed combinations of few entries each, divided by numbers: average pools, padding, interpolation.

    `matrix` is (outputs, inputs) over the flattened value; `shape` is the output's. `divisor` has a number for each
    output, in the order of the flattened value; without it nothing is divided.
    """

    kind: ClassVar[str] = "Combine"

    matrix: sparse.csr_array
    shape: Shape
    divisor: Array | None = None

    def infer(self, *shapes: Shape) -> Shape:
        if self.matrix.shape != (size(self.shape), size(shapes[0])):
            raise ShapeError(f"combinations of {self.matrix.shape[1]} entries were given a value of shape {shapes[0]}")
        if self.divisor is not None and self.divisor.shape != (size(self.shape),):
            raise ShapeError(f"divisors of shape {self.divisor.shape} were given for {size(self.shape)} combinations")
        return self.shape

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        return np.asarray((self.divided @ x.reshape(len(x), -1).T).T.reshape(len(x), *self.shape))

    @cached_property
    def divided(self) -> sparse.csr_array:
        """The matrix with each row divided by its divisor, in floats."""
        return self.matrix if self.divisor is None else divided_rows(self.matrix, self.divisor)

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.matrix.data,) if self.divisor is None else (self.matrix.data, self.divisor)


@dataclass(frozen=True, eq=False)
class Largest(Op):
    """The largest of some entries of the flattened value, the first of equal ones: max pools, the maximum over axes.

    `members` is (*output shape, most members); a place without a member holds -1. Every output has a first member.
    """

    kind: ClassVar[str] = "Largest"

    members: npt.NDArray[np.int64]

    def infer(self, *shapes: Shape) -> Shape:
        if self.members.size and int(self.members.max()) >= size(shapes[0]):
            raise ShapeError(f"entry {int(self.members.max())} lies outside a value of shape {shapes[0]}")
        if (self.members[..., 0] < 0).any():
            raise ShapeError("a maximum over no entries at all")
        return self.members.shape[:-1]

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        flat = x.reshape(len(x), -1)
        return np.asarray(flat[:, self._filled].max(axis=-1))

    @cached_property
    def _filled(self) -> npt.NDArray[np.int64]:
        """The members, empty places filled with the first one: that does not change a maximum."""
        return np.where(self.members < 0, self.members[..., :1], self.members)


def channels_and_space(shape: Shape, kernel: Array) -> tuple[int, tuple[int, ...]]:
    """The two parts of a value's shape, which must have as many spatial axes as the kernel."""
    if len(shape) != kernel.ndim - 1:
        raise ShapeError(f"a kernel of shape {kernel.shape} was given a value of shape {shape}")
    return shape[0], shape[1:]


def divided_rows(matrix: sparse.csr_array, divisor: Array) -> sparse.csr_array:
    """A sparse matrix with each row divided by a number."""
    quotient = matrix.copy()
    quotient.data = matrix.data / np.repeat(divisor, np.diff(matrix.indptr))
    return quotient


def spread_bias(bias: Array, window: Window) -> Array:
    """A number a channel, with spatial axes to broadcast along."""
    return bias.reshape(-1, *([1] * len(window.stride)))
