"""Linear layers, sums, products with constants, batch normalisation."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from polyfold.exact.error_free import products_are_exact
from polyfold.exact.reals import are_reals
from polyfold.exact.tolerances import ONNX_BATCH_NORM_EPSILON
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import products, reductions
from polyfold.network.read.compose.choose import Comparison, product
from polyfold.network.read.folding import arithmetic
from polyfold.network.read.folding.folded import Folded
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, array, axes_without_batch, operand, text
from polyfold.network.read.registry import COMPUTED_WEIGHTS

handles = ONNX_OPS.family("Affine maps")


@handles("Gemm", becomes="`Linear`", limits="one factor constant", exact=True)
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
    added = None if c is None else operand(c)
    if isinstance(x, Value) and not isinstance(y, Value) and _is_bias(added, y.shape[1]):
        bias = np.zeros(1) if added is None else added
        # What is multiplied without rounding is one layer; numbers that are no floats always are.
        known = any(are_reals(numbers) for numbers in (y, bias))
        if known or (products_are_exact(y, np.array(alpha)) and products_are_exact(bias, np.array(beta))):
            weight, offset = arithmetic.multiply(y.T, np.array(alpha)), arithmetic.multiply(bias, np.array(beta))
            offset = np.broadcast_to(offset, (1, y.shape[1])).ravel()
            return compose.linear(site, x, weight, None if added is None else offset)
    return products.product_and_sum(site, x, y, added, alpha, beta)


def _is_bias(c: Operand | None, width: int) -> TypeGuard[Constant | None]:
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
    exact=True,
)
def _matmul(site: OnnxSite, a: Any, b: Any) -> Value:
    return products.matmul(site, operand(a), operand(b))


@handles("Add", becomes="`Add`, `Shift`", exact=True)
def _add(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.add(site, operand(a), operand(b))


@handles("Sub", becomes="`Subtract`, `Shift`", exact=True)
def _sub(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.subtract(site, operand(a), operand(b))


@handles(
    "Mul",
    becomes="`Scale`, or like Where",
    limits="one factor constant or a comparison, as in h * (h > 0)",
    chooses=True,
    exact=True,
)
def _mul(site: OnnxSite, a: Any, b: Any) -> Value:
    x, y = (item if isinstance(item, Comparison) else operand(item) for item in (a, b))
    return product(site, x, y)


@handles("Div", becomes="`Scale`", limits="constant denominator", exact=True)
def _div(site: OnnxSite, a: Any, b: Any) -> Value:
    return compose.divide(site, operand(a), operand(b))


@handles("Pow", becomes="nothing, or `Scale` and `Shift`", limits="exponents 0 and 1")
def _power(site: OnnxSite, x: Any, exponent: Any) -> Value:
    return compose.power(site, operand(x), operand(exponent))


@handles("Neg", becomes="`Scale`", batch_anywhere=True)
def _neg(site: OnnxSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("Sum", becomes="`Add`, `Shift`", exact=True)
def _sum(site: OnnxSite, *terms: Any) -> Value:
    return compose.fold(site, [operand(term) for term in terms], "sum")


@handles("Mean", becomes="`Add`, `Shift`, `Scale`", exact=True)
def _mean(site: OnnxSite, *terms: Any) -> Value:
    total = compose.fold(site, [operand(term) for term in terms], "sum")
    return compose.over(site, total, np.array(float(len(terms))), part="mean")


@handles(
    "Einsum",
    becomes="`Linear`, `Combine`, `Scale`, `Take`",
    limits="one computed factor",
    exact=True,
)
def _einsum(site: OnnxSite, *factors: Any, equation: Any) -> Value:
    return products.einsum(site, text(equation), [operand(factor) for factor in factors])


@handles(
    "CumSum",
    becomes="`Linear`",
    limits="not along an open batch axis",
    one_computed="its axis depends on the network's input",
)
def _running_sum(site: OnnxSite, x: Value, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Value:
    x, (inner,) = axes_without_batch(site, x, [int(np.ravel(axis)[0])])
    return reductions.running_sum(site, x, inner, exclusive=bool(exclusive), backwards=bool(reverse))


@handles(
    "BatchNormalization",
    becomes="`Normalise`",
    limits="training_mode=0",
    exact=True,
    one_computed=COMPUTED_WEIGHTS,
)
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
    if x.rank < 2:
        site.refuse(f"its input has {x.rank} axes, but must be (batch, channels, ...)")
    if isinstance(variance, Folded) and variance.terms is not None and not epsilon and variance.terms[1].size == 1:
        # An epsilon that is no float32 is added in the file itself: a normalisation keeps the two apart.
        variance, epsilon = variance.terms[0], float(variance.terms[1].reshape(()))
    return compose.batch_norm(site, x, array(gamma), array(beta), array(mean), array(variance), epsilon)
