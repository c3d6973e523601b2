"""Linear layers, sums, products with constants, batch normalisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.exact.tolerances import ONNX_BATCH_NORM_EPSILON
from polyfold.network import compose
from polyfold.network.builder import Operand, Site, Value
from polyfold.network.onnx_ops.site import ONNX_OPS, OnnxSite, axes_without_batch, operand, reduced_axes

handles = ONNX_OPS.family("Affine maps")


@handles("Gemm", becomes="`Linear`", limits="one factor constant")
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


@handles(
    "MatMul",
    becomes="`Linear`, or `Combine` for a sparse constant on the left",
    limits="one factor constant (a fixed adjacency matrix, say)",
)
def _matmul(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.matmul(site, operand(a), operand(b))


@handles("Add", becomes="`Add`, `Shift`")
def _add(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.add(site, operand(a), operand(b))


@handles("Sub", becomes="`Subtract`, `Shift`")
def _sub(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.subtract(site, operand(a), operand(b))


@handles("Mul", becomes="`Scale`", limits="one factor constant")
def _mul(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.multiply(site, operand(a), operand(b))


@handles("Div", becomes="`Scale`", limits="constant denominator")
def _div(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.divide(site, operand(a), operand(b))


@handles("Neg", becomes="`Scale`", batch_anywhere=True)
def _neg(site: OnnxSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("Sum", becomes="`Add`, `Shift`")
def _sum(site: OnnxSite, *terms: Any) -> Value:
    return compose.fold(site, [operand(term) for term in terms], "sum")


@handles("BatchNormalization", becomes="`Scale`, `Shift`", limits="training_mode=0")
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


@handles("ReduceSum", "ReduceMean", becomes="`Linear`", limits="not over an open batch axis")
def _reduce(
    site: OnnxSite, x: Value, axes_input: Any = None, *, axes: Any = None, keepdims: int = 1, **options: Any
) -> Value:
    chosen = reduced_axes(x, axes_input, axes, options)
    if chosen is None:
        return x
    x, inner = axes_without_batch(site, x, chosen)
    return compose.total(site, x, inner, keepdims=bool(keepdims), mean=site.op == "ReduceMean")
