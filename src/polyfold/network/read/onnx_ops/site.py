"""What all readers of ONNX operators share: the table, and inputs as values or constants.

A handler gets the Site and the node's inputs in order: computed tensors as Values, constant ones as NumPy
arrays in their own type (or as Folded, if the handler says that it can read those), absent ones as None.
Attributes come as keywords, under ONNX's names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx

from polyfold.network.ops.op import Shape
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.folding.folded import Folded
from polyfold.network.read.registry import Readings

ONNX_OPS = Readings()
FLOAT_TYPES = frozenset(
    {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
)


@dataclass(frozen=True)
class OnnxSite(Site):
    """A Site that can run its own operator on constants, and knows the version of the operators."""

    run: Callable[[Sequence[Any]], list[Any]]
    opset: int


def array(numbers: Any) -> Constant:
    """A constant input in float64, or as it is if floats cannot hold it."""
    return numbers.exact if isinstance(numbers, Folded) else np.asarray(numbers, dtype=np.float64)


def operand(argument: Any) -> Operand:
    """An input as a value or a constant."""
    return argument if isinstance(argument, Value) else array(argument)


def optional(argument: Any) -> Constant | None:
    """A constant that may be absent."""
    return None if argument is None else array(argument)


def optional_operand(argument: Any) -> Operand | None:
    """A value or constant that may be absent."""
    return None if argument is None else operand(argument)


def text(attribute: Any) -> str:
    """ONNX keeps strings as bytes."""
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)


def full_shape(x: Value) -> Shape:
    """The shape of the ONNX tensor, where a batch axis has length one."""
    return x.full_shape(1)


def axes_without_batch(site: Site, x: Value, axes: Sequence[int]) -> tuple[Value, list[int]]:
    """Axes of the ONNX tensor as axes of the value, which loses its batch axis if that is among them."""
    positive = [int(axis) % x.rank for axis in axes]
    if x.batched and 0 in positive:
        x = site.unbatch(x)
    return x, [axis - x.batched for axis in positive]


def with_channels(site: Site, x: Value, axes: int | None = None) -> Value:
    """The value as a batch of (channels, *space)."""
    if axes is not None and x.rank != axes + 2:
        site.refuse(f"its input has {x.rank} axes, but must be (batch, channels, {axes} spatial axes)")
    if x.rank < 3:
        site.refuse(f"its input has {x.rank} axes, but must be (batch, channels, spatial axes)")
    if x.batched:
        return x
    if x.shape[0] != 1:
        site.refuse(f"its input has {x.shape[0]} samples in one input of the network; export it with a batch of one")
    return replace(compose.reshape(site, x, x.shape[1:], part="sample"), batched=True)
