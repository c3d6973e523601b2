"""Op: the base of the piecewise-linear operations that a Network is made of, and what all of them need.

There are few operations on purpose: importers translate the many operators of torch and ONNX into these, and
everything behind them (evaluation, lowering, export) handles just these. Arrays carry a batch axis in front;
the shapes that operations speak of do not. Every op is a frozen value that can evaluate itself and tell its
output's shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import ShapeError

Shape = tuple[int, ...]


def constant(values: Any) -> Array:
    """A read-only float64 copy: constants of a network never change after import."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Op:
    """Base of all operations."""

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


def size(shape: Shape) -> int:
    """How many numbers a value of this shape holds."""
    return int(prod(shape))


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
