"""Operations with gates: what they do to a number depends on which side of something it lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.errors import ShapeError
from polyfold.network.ops.op import Op, Shape, aligned, broadcast, constant, size


@dataclass(frozen=True, eq=False)
class Rectify(Op):
    """slope_on * x where x > 0, slope_off * x elsewhere: ReLU (1, 0), LeakyReLU (1, a), abs (1, -1)."""

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

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(np.maximum(*aligned(values)))


@dataclass(frozen=True, eq=False)
class Minimum(Op):
    """The smaller of two values, entry by entry; the first one where they are equal."""

    def infer(self, *shapes: Shape) -> Shape:
        return broadcast(*shapes)

    def evaluate(self, *values: Array) -> Array:
        return np.asarray(np.minimum(*aligned(values)))


@dataclass(frozen=True, eq=False)
class Largest(Op):
    """The largest of some entries of the flattened value, the first of equal ones: max pools, the maximum over axes.

    `members` is (*output shape, most members); a place without a member holds -1. Every output has a first member.
    """

    members: Ids

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
    def _filled(self) -> Ids:
        """The members, empty places filled with the first one: that does not change a maximum."""
        return np.where(self.members < 0, self.members[..., :1], self.members)
