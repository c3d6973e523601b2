"""Operations that move numbers and change none: reshaping, taking entries by index, putting values side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.errors import ShapeError
from polyfold.network.ops.op import Op, Shape, size


@dataclass(frozen=True, eq=False)
class Reshape(Op):
    """The same numbers in the same order under another shape (flatten, squeeze and unsqueeze too)."""

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

    index: Ids

    def infer(self, *shapes: Shape) -> Shape:
        if self.index.size and int(self.index.max()) >= size(shapes[0]):
            raise ShapeError(f"index {int(self.index.max())} lies outside a value of shape {shapes[0]}")
        return self.index.shape

    def evaluate(self, *values: Array) -> Array:
        return values[0].reshape(len(values[0]), -1)[:, self.index]


@dataclass(frozen=True, eq=False)
class Concat(Op):
    """The inputs side by side along one axis (not counting the batch axis)."""

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
