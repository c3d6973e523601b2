"""Ops whose numbers are no floats: a third that a file computes, a root, the weights of an interpolation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.exact.reals import Reals, are_reals, nearest_floats, settled
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear, Scale, Shift
from polyfold.network.ops.op import Op, Shape, constant
from polyfold.network.ops.spatial import Convolution, TransposedConvolution

if TYPE_CHECKING:
    from polyfold.network.ops.convolve import Window

Constants: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Unrounded(Op):
    """A linear op whose numbers are no floats, kept as rationals or balls; it evaluates with the floats next to them.

    `op` has these floats. `coefficients` is what values are multiplied with (weight, kernel or factor), `offsets` what
    is added (bias or offset); None where the op's own are the numbers.
    """

    op: Op
    coefficients: Reals | None
    offsets: Reals | None

    def infer(self, *shapes: Shape) -> Shape:
        return self.op.infer(*shapes)

    def evaluate(self, *values: Array) -> Array:
        return self.op.evaluate(*values)

    @property
    def constants(self) -> tuple[Array, ...]:
        return self.op.constants

    @property
    def parts(self) -> tuple[Reals | None, Reals | None]:
        """The coefficients and the offsets."""
        return self.coefficients, self.offsets

    @property
    def exactly(self) -> Op:
        """The op with its numbers in the places of floats: not to be evaluated, but to be written down."""
        changes = dict(zip(_FIELDS[type(self.op)], self.parts, strict=True))
        return replace(self.op, **{name: each for name, each in changes.items() if name and each is not None})


# What the coefficients and the offsets of an op are called.
_FIELDS: dict[type[Op], tuple[str | None, str | None]] = {
    Linear: ("weight", "bias"),
    Scale: ("factor", None),
    Shift: (None, "offset"),
    Convolution: ("kernel", "bias"),
    TransposedConvolution: ("kernel", "bias"),
}


def in_floats(op: Op) -> Op:
    """An op whose numbers are floats, or the one with the floats next to its numbers."""
    return op.op if isinstance(op, Unrounded) else op


def network_in_floats(network: Network) -> Network:
    """The network as it evaluates: with the floats next to its numbers."""
    if not any(isinstance(node.op, Unrounded) for node in network.nodes):
        return network
    return replace(network, nodes=tuple(replace(node, op=in_floats(node.op)) for node in network.nodes))


def linear(weight: Constants, bias: Constants) -> Op:
    """A Linear op with these numbers, whatever they are."""
    (near, exact), (offset, offsets) = _both(weight), _both(bias)
    return _kept(Linear(near, offset), exact, offsets)


def scale(factor: Constants) -> Op:
    """A Scale op."""
    near, exact = _both(factor)
    return _kept(Scale(near), exact, None)


def shift(offset: Constants) -> Op:
    """A Shift op."""
    near, exact = _both(offset)
    return _kept(Shift(near), None, exact)


def convolution(kernel: Constants, bias: Constants, window: Window) -> Op:
    """A Convolution."""
    (near, exact), (offset, offsets) = _both(kernel), _both(bias)
    return _kept(Convolution(near, offset, window), exact, offsets)


def transposed_convolution(kernel: Constants, bias: Constants, window: Window, space: tuple[int, ...]) -> Op:
    """A TransposedConvolution."""
    (near, exact), (offset, offsets) = _both(kernel), _both(bias)
    return _kept(TransposedConvolution(near, offset, window, space), exact, offsets)


def _kept(op: Op, coefficients: Reals | None, offsets: Reals | None) -> Op:
    return op if coefficients is None and offsets is None else Unrounded(op, coefficients, offsets)


def _both(numbers: Constants) -> tuple[Array, Reals | None]:
    """Floats, and what the numbers are if these are none."""
    if are_reals(numbers):
        numbers = settled(numbers)
    if not are_reals(numbers):
        return constant(numbers), None
    exact = np.array(numbers, dtype=object, order="C")
    exact.setflags(write=False)
    return constant(nearest_floats(exact)), exact
