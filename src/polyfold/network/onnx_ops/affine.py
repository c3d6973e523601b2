"""Linear layers, sums, products with constants, batch normalisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.exact.error_free import products_are_exact
from polyfold.exact.tolerances import ONNX_BATCH_NORM_EPSILON
from polyfold.network import compose, products, reductions
from polyfold.network.builder import Operand, Site, Value
from polyfold.network.choose import Comparison, keep
from polyfold.network.onnx_ops.site import ONNX_OPS, OnnxSite, axes_without_batch, operand, reduced_axes, text
from polyfold.network.unrounded_sums import variance_and_epsilon

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
        bias = np.zeros(1) if c is None else c.astype(np.float64)
        # What is multiplied without rounding is one layer.
        if products_are_exact(y, np.array(alpha)) and products_are_exact(bias, np.array(beta)):
            offset = None if c is None else np.broadcast_to(beta * bias, (1, y.shape[1])).ravel()
            return compose.linear(site, x, alpha * y.T, offset)
    product = replace(site, name=f"{site.name}.product")
    result = products.matmul(product, x, y)
    if alpha != 1:
        result = compose.scale(product, result, np.array(alpha))
    if c is None:
        return result
    added = operand(c)
    if isinstance(added, Value):
        return compose.add(site, result, compose.scale(site, added, np.array(beta), "beta"))
    return compose.shift_by_multiple(site, result, beta, added)


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
    becomes="`Linear`, or `Combine` for a stack of constants or a sparse one on the left",
    limits="one factor constant (a fixed adjacency matrix, say)",
)
def _matmul(site: OnnxSite, a: Any, b: Any) -> Value:
    return products.matmul(site, operand(a), operand(b))


@handles("Add", becomes="`Add`, `Shift`")
def _add(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.add(site, operand(a), operand(b))


@handles("Sub", becomes="`Subtract`, `Shift`")
def _sub(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.subtract(site, operand(a), operand(b))


@handles(
    "Mul",
    becomes="`Scale`, or like Where",
    limits="one factor constant or a comparison, as in h * (h > 0)",
    chooses=True,
)
def _mul(site: OnnxSite, a: Any, b: Any) -> Value:
    factors = [item if isinstance(item, Comparison) else operand(item) for item in (a, b)]
    kept = keep(site, factors[0], factors[1])
    return compose.multiply(site, operand(a), operand(b)) if kept is None else kept


@handles("Div", becomes="`Scale`", limits="constant denominator")
def _div(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.divide(site, operand(a), operand(b))


@handles("Neg", becomes="`Scale`", batch_anywhere=True)
def _neg(site: OnnxSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("Sum", becomes="`Add`, `Shift`")
def _sum(site: OnnxSite, *terms: Any) -> Value:
    return compose.fold(site, [operand(term) for term in terms], "sum")


@handles("Mean", becomes="`Add`, `Shift`, `Scale`")
def _mean(site: OnnxSite, *terms: Any) -> Value:
    total = compose.fold(site, [operand(term) for term in terms], "sum")
    return compose.over(site, total, np.array(float(len(terms))), part="mean")


@handles(
    "Einsum",
    becomes="`Linear`, `Combine`, `Scale`, `Take`",
    limits="one computed factor",
)
def _einsum(site: OnnxSite, *factors: Any, equation: Any) -> Value:
    return products.einsum(site, text(equation), [operand(factor) for factor in factors])


@handles("CumSum", becomes="`Linear`", limits="not along an open batch axis")
def _running_sum(site: OnnxSite, x: Value, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Value:
    if isinstance(axis, Value):
        site.refuse("its axis depends on the network's input")
    x, (inner,) = axes_without_batch(site, x, [int(np.ravel(axis)[0])])
    return reductions.running_sum(site, x, inner, exclusive=bool(exclusive), backwards=bool(reverse))


@handles("BatchNormalization", becomes="`Normalise`", limits="training_mode=0")
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
    if x.rank < 2 or any(isinstance(part, Value) for part in (gamma, beta, mean, variance)):
        site.refuse("its input must be (batch, channels, ...) and its numbers constant")
    scale, offset, centre = (np.asarray(part, dtype=np.float64) for part in (gamma, beta, mean))
    return compose.batch_norm(site, x, scale, offset, centre, *variance_and_epsilon(variance, epsilon))


@handles("ReduceSum", "ReduceMean", becomes="`Linear`", limits="not over an open batch axis")
def _reduce(
    site: OnnxSite, x: Value, axes_input: Any = None, *, axes: Any = None, keepdims: int = 1, **options: Any
) -> Value:
    chosen = reduced_axes(x, axes_input, axes, options)
    if chosen is None:
        return x
    x, inner = axes_without_batch(site, x, chosen)
    return compose.total(site, x, inner, keepdims=bool(keepdims), mean=site.op == "ReduceMean")
