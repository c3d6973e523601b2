"""The ONNX operators that can be read: one function for each family, in the table ONNX_OPS.

A handler gets the Site and the node's inputs in order: computed tensors as Values, constant ones as NumPy
arrays in their own type, absent ones as None. Attributes come as keywords, under ONNX's names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import onnx

from polyfold.exact.tolerances import ONNX_BATCH_NORM_EPSILON
from polyfold.network import compose
from polyfold.network.builder import Operand, Site, Value
from polyfold.network.ops import Shape

Handler: TypeAlias = Callable[..., Any]

ONNX_OPS: dict[str, Handler] = {}
ENDINGS = frozenset({"Softmax", "LogSoftmax", "Sigmoid", "ArgMax", "Hardmax"})
FLOAT_TYPES = frozenset(
    {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
)


@dataclass(frozen=True)
class OnnxSite(Site):
    """A Site that can run its own operator on constants."""

    run: Callable[[Sequence[Any]], list[Any]]


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for these operators."""

    def register(handler: Handler) -> Handler:
        ONNX_OPS.update(dict.fromkeys(names, handler))
        return handler

    return register


def operand(argument: Any) -> Operand:
    """An input as a value or a float64 constant."""
    return argument if isinstance(argument, Value) else np.asarray(argument, dtype=np.float64)


def full_shape(x: Value) -> Shape:
    """The shape of the ONNX tensor, where a batch axis has length one."""
    return (1, *x.shape) if x.batched else x.shape


def axes_without_batch(site: Site, x: Value, axes: Sequence[int]) -> tuple[Value, list[int]]:
    """Axes of the ONNX tensor as axes of the value, which loses its batch axis if that is among them."""
    positive = [int(axis) % x.rank for axis in axes]
    if x.batched and 0 in positive:
        x = site.unbatch(x)
    return x, [axis - x.batched for axis in positive]


# Affine maps


@handles("Gemm")
def _gemm(
    site: OnnxSite,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    x, y = (
        _transposed(site, operand(factor)) if turn else operand(factor) for factor, turn in ((a, transA), (b, transB))
    )
    if isinstance(x, Value) and not isinstance(y, Value) and _is_bias(c, y.shape[1]):
        bias = None if c is None else np.broadcast_to(beta * c.astype(np.float64), (1, y.shape[1])).ravel()
        return compose.linear(site, x, alpha * y.T, bias)
    product = replace(site, name=f"{site.name}.product")
    result = compose.multiply(product, compose.matmul(product, x, y), np.array(alpha))
    if c is None:
        return result
    offset = operand(c)
    scaled = compose.scale(site, offset, np.array(beta), "beta") if isinstance(offset, Value) else beta * offset
    return compose.add(site, result, scaled)


def _is_bias(c: Any, width: int) -> bool:
    """Whether C adds the same numbers to every row."""
    if c is None:
        return True
    return not isinstance(c, Value) and c.shape in {(), (1,), (width,), (1, 1), (1, width)}


def _transposed(site: Site, x: Operand) -> Operand:
    if not isinstance(x, Value):
        return x.T
    x = site.unbatch(x)
    return compose.rearrange(site, x, compose.positions(x.shape).T, part="turned")


@handles("MatMul")
def _matmul(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.matmul(site, operand(a), operand(b))


@handles("Add")
def _add(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.add(site, operand(a), operand(b))


@handles("Sub")
def _sub(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.subtract(site, operand(a), operand(b))


@handles("Mul")
def _mul(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.multiply(site, operand(a), operand(b))


@handles("Div")
def _div(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.divide(site, operand(a), operand(b))


@handles("Neg")
def _neg(site: OnnxSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("Sum")
def _sum(site: OnnxSite, *terms: Any) -> Value:
    return compose.fold(site, [operand(term) for term in terms], "sum")


@handles("BatchNormalization")
def _batch_norm(
    site: OnnxSite,
    x: Value,
    gamma: Any,
    beta: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float = ONNX_BATCH_NORM_EPSILON,
    training_mode: int = 0,
    **options: Any,
) -> Value:
    if training_mode:
        site.refuse("it normalises by the batch's own statistics (training_mode=1)")
    if not x.batched:
        site.refuse("its input has no batch axis")
    numbers = [np.asarray(part, dtype=np.float64) for part in (gamma, beta, mean, variance)]
    return compose.batch_norm(site, x, numbers[0], numbers[1], numbers[2], numbers[3], epsilon)


@handles("ReduceSum", "ReduceMean")
def _reduce(
    site: OnnxSite, x: Value, axes_input: Any = None, *, axes: Any = None, keepdims: int = 1, **options: Any
) -> Value:
    chosen = axes if axes_input is None else axes_input.tolist()
    if not chosen:
        if options.get("noop_with_empty_axes"):
            return x
        chosen = range(x.rank)
    x, inner = axes_without_batch(site, x, list(chosen))
    return compose.total(site, x, inner, keepdims=bool(keepdims), mean=site.op == "ReduceMean")


# Switches


@handles("Relu")
def _relu(site: OnnxSite, x: Value) -> Value:
    return compose.relu(site, x)


@handles("LeakyRelu")
def _leaky_relu(site: OnnxSite, x: Value, *, alpha: float = 0.01) -> Value:
    return compose.rectify(site, x, np.array(1.0), np.array(alpha))


@handles("PRelu")
def _prelu(site: OnnxSite, x: Value, slope: Any) -> Value:
    if isinstance(slope, Value):
        site.refuse("its slope is computed from the network's input")
    x, slopes = compose.fit_constant(site, x, np.asarray(slope, dtype=np.float64))
    return compose.rectify(site, x, np.array(1.0), slopes)


@handles("Abs")
def _abs(site: OnnxSite, x: Value) -> Value:
    return compose.rectify(site, x, np.array(1.0), np.array(-1.0))


@handles("Clip")
def _clip(site: OnnxSite, x: Value, low: Any = None, high: Any = None, **bounds: float) -> Value:
    low, high = bounds.get("min", low), bounds.get("max", high)
    return compose.clamp(site, x, None if low is None else operand(low), None if high is None else operand(high))


@handles("HardSigmoid")
def _hard_sigmoid(site: OnnxSite, x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    scaled = compose.scale(site, x, np.array(alpha), part="alpha")
    shifted = compose.shift(site, scaled, np.array(beta), part="beta")
    return compose.clamp(site, shifted, np.array(0.0), np.array(1.0))


@handles("Max")
def _max(site: OnnxSite, *operands: Any) -> Value:
    return compose.fold(site, [operand(item) for item in operands], "max")


@handles("Min")
def _min(site: OnnxSite, *operands: Any) -> Value:
    return compose.fold(site, [operand(item) for item in operands], "min")


# Nothing happens to the numbers


@handles("Identity")
def _identity(site: OnnxSite, x: Value) -> Value:
    return x


@handles("Dropout")
def _dropout(site: OnnxSite, x: Value, ratio: Any = None, training: Any = None, **options: Any) -> Value:
    if training is not None and bool(np.any(training)):
        site.refuse("it drops values at random (training_mode is true)")
    return x


@handles("Cast", "CastLike")
def _cast(site: OnnxSite, x: Value, like: Any = None, *, to: int = onnx.TensorProto.FLOAT, **options: Any) -> Value:
    if to not in FLOAT_TYPES:
        site.refuse(f"a cast to {onnx.TensorProto.DataType.Name(to)} is not continuous")
    return x


# The numbers move

RESHAPES = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
# What may follow a softmax at the end: ops that keep all numbers in their order.
KEEPS_THE_ORDER = frozenset({*RESHAPES, "Identity", "Dropout", "Cast", "CastLike"})


@handles(
    *RESHAPES,
    *("Transpose", "Slice", "Gather", "GatherND", "Split", "Expand", "Tile", "DepthToSpace", "SpaceToDepth"),
)
def _move(site: OnnxSite, x: Any, *rest: Any, **options: Any) -> Any:
    """Let ONNX's own definition move the positions of the numbers, and read off where they went."""
    if not isinstance(x, Value) or any(isinstance(item, Value) for item in rest):
        site.refuse("which numbers it takes depends on the network's input")
    moved = site.run([compose.positions(full_shape(x)), *rest])
    pieces = [_moved(site, x, piece, str(k) if len(moved) > 1 else "") for k, piece in enumerate(moved)]
    return pieces if len(pieces) > 1 else pieces[0]


def _moved(site: OnnxSite, x: Value, index: Any, part: str) -> Value:
    """A piece of the moved value, with a batch axis if one of length one is (still or again) in front."""
    if index.shape[:1] == (1,) and (x.batched or (site.single and index.ndim > 1)):
        return compose.rearrange(site, replace(x, batched=True), index[0], part)
    return compose.rearrange(site, site.unbatch(x), index, part)


@handles("Concat")
def _concat(site: OnnxSite, *pieces: Any, axis: int) -> Value:
    return compose.concat(site, [operand(piece) for piece in pieces], axis)
