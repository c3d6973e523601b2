"""Linear layers, sums, products with constants, batch normalisation."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import torch
from scipy import sparse

from polyfold.network.read.builder import MIXES_THE_BATCH, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import products, reductions
from polyfold.network.read.compose.choose import Comparison, product
from polyfold.network.read.compose.combining import combine
from polyfold.network.read.folding.folded import Folded
from polyfold.network.read.registry import COMPUTED_WEIGHTS, values_in
from polyfold.network.read.torch_ops.site import (
    TORCH_OPS,
    TorchSite,
    array,
    axes_behind_batch,
    operand,
    optional,
)

handles = TORCH_OPS.family("Affine maps")


@handles(
    "linear",
    becomes="`Linear`",
    limits="constant weights",
    batch_anywhere=True,
    exact=True,
    one_computed=COMPUTED_WEIGHTS,
)
def _linear(site: TorchSite, x: Value, weight: Any, bias: Any = None) -> Value:
    if x.batch_axis == x.rank - 1 and x.batch_axis > 0:
        site.refuse(MIXES_THE_BATCH)
    matrix = array(weight)
    if matrix.ndim != 2:
        site.refuse(f"its weight has shape {matrix.shape}, which is no matrix")
    return compose.linear(site, x, matrix, optional(bias))


@handles("addmm", becomes="`Linear`, `Shift`", limits="one factor and the bias constant", exact=True)
def _addmm(site: TorchSite, bias: Any, x: Any, y: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    if isinstance(bias, Value):
        site.refuse("its bias is computed from the network's input")
    return products.product_and_sum(site, operand(x), operand(y), array(bias), alpha, beta)


@handles(
    *("matmul", "mm", "bmm", "mv", "dot"),
    becomes="`Linear`, or `Combine` for a stack of constants or a sparse one on the left",
    limits="one factor constant (a fixed adjacency matrix, say)",
    batch_anywhere=True,
    exact=True,
)
def _matmul(site: TorchSite, x: Any, y: Any) -> Value:
    if isinstance(y, Value) and not isinstance(x, Value) and y.rank == 2 and y.batch_axis == 1:
        return _times_samples(site, x, y)
    if any(value.batch_axis for value in values_in([x, y])):
        site.refuse(MIXES_THE_BATCH)
    return products.matmul(site, operand(x), operand(y))


@handles(
    "_sparse_mm",
    becomes="`Combine`",
    limits="a sparse constant times columns that are the samples",
    batch_anywhere=True,
)
def _sparse_times(site: TorchSite, x: Any, y: Any) -> Value:
    if not isinstance(y, Value) or isinstance(x, Value) or y.rank != 2 or y.batch_axis != 1:
        site.refuse(
            f"{MIXES_THE_BATCH}; make the sparse tensor dense (to_dense()), its zeros are kept out by themselves"
        )
    return _times_samples(site, x, y)


def _times_samples(site: TorchSite, x: Any, y: Value) -> Value:
    """A matrix times a matrix whose columns are the samples."""
    if isinstance(x, Folded) or x.layout is torch.strided:
        return compose.linear(site, y, array(x))
    entries = x.detach().to_sparse_coo().coalesce()
    rows, columns = entries.indices().numpy()
    matrix = sparse.csr_array((array(entries.values()), (rows, columns)), shape=tuple(x.shape))
    return combine(site, y, matrix, (x.shape[0],))


@handles("add", becomes="`Add`, `Shift`", exact=True)
def _add(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return _sum(site, x, y, alpha, compose.add)


@handles("sub", "subtract", becomes="`Subtract`, `Shift`", exact=True)
def _sub(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return _sum(site, x, y, alpha, compose.subtract)


@handles("rsub", becomes="`Subtract`, `Shift`", exact=True)
def _rsub(site: TorchSite, x: Any, y: Any, alpha: float = 1) -> Value:
    return _sum(site, y, x, alpha, compose.subtract)


def _sum(site: TorchSite, x: Any, y: Any, alpha: float, combine: Callable[[Site, Operand, Operand], Value]) -> Value:
    """x + alpha * y or x - alpha * y."""
    if alpha == 1:
        return combine(site, operand(x), operand(y))
    if isinstance(y, Value):
        return combine(site, operand(x), compose.scale(site, y, array(alpha), part="alpha"))
    assert isinstance(x, Value)
    return compose.shift_by_multiple(site, x, alpha if combine is compose.add else -alpha, array(y))


@handles(
    *("mul", "multiply"),
    becomes="`Scale`, or like where",
    limits="one factor constant or a comparison, as in h * (h > 0)",
    chooses=True,
    exact=True,
)
def _mul(site: TorchSite, x: Any, y: Any) -> Value:
    x, y = (item if isinstance(item, Comparison) else operand(item) for item in (x, y))
    return product(site, x, y)


@handles("div", "divide", "true_divide", becomes="`Scale`", limits="constant denominator, no rounding", exact=True)
def _div(site: TorchSite, x: Any, y: Any, *, rounding_mode: str | None = None) -> Value:
    if rounding_mode is not None:
        site.refuse("a rounded quotient is not continuous")
    return compose.divide(site, operand(x), operand(y))


@handles("pow", becomes="nothing, or `Scale` and `Shift`", limits="exponents 0 and 1")
def _power(site: TorchSite, x: Any, exponent: Any) -> Value:
    return compose.power(site, operand(x), operand(exponent))


@handles("neg", "negative", becomes="`Scale`", batch_anywhere=True)
def _neg(site: TorchSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("sum", "mean", becomes="`Linear`", limits="not over the batch axis")
def _total(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    axes = axes_behind_batch(site, x, dim)
    mean = site.op.startswith("mean")
    return compose.total(site, x, axes, keepdims=keepdim, mean=mean)


@handles(
    "einsum",
    becomes="`Linear`, `Combine`, `Scale`, `Take`",
    limits="one computed factor",
    exact=True,
)
def _einsum(site: TorchSite, equation: str, factors: Sequence[Any], *, path: Any = None) -> Value:
    return products.einsum(site, equation, [operand(factor) for factor in factors])


@handles("tensordot", becomes="`Linear`", limits="one factor constant; not over the batch axis", exact=True)
def _tensordot(site: TorchSite, x: Any, y: Any, x_dims: Sequence[int], y_dims: Sequence[int]) -> Value:
    factors = [operand(x), operand(y)]
    ranks = [item.rank if isinstance(item, Value) else item.ndim for item in factors]
    left, right = list(string.ascii_lowercase[: ranks[0]]), list(string.ascii_uppercase[: ranks[1]])
    for i, j in zip(x_dims, y_dims, strict=True):
        right[j] = left[i]
    result = [index for index in left + right if (left + right).count(index) == 1]
    return products.einsum(site, f"{''.join(left)},{''.join(right)}->{''.join(result)}", factors)


@handles("cumsum", becomes="`Linear`", limits="not along the batch axis")
def _running_sum(site: TorchSite, x: Value, dim: int, *, dtype: Any = None) -> Value:
    (axis,) = axes_behind_batch(site, x, dim)
    return reductions.running_sum(site, x, axis)


@handles(
    "batch_norm",
    becomes="`Normalise`",
    limits="with running statistics (evaluation mode)",
    exact=True,
    one_computed=COMPUTED_WEIGHTS,
)
def _batch_norm(
    site: TorchSite,
    x: Value,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn: bool = False,
) -> Value:
    if training or mean is None or variance is None:
        site.refuse(BATCH_STATISTICS)
    return compose.batch_norm(site, x, optional(weight), optional(bias), array(mean), array(variance), eps)


@handles("_native_batch_norm_legit_no_training", becomes="`Normalise`", exact=True, one_computed=COMPUTED_WEIGHTS)
def _folded_batch_norm(
    site: TorchSite, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Value]:
    return (_batch_norm(site, x, weight, bias, mean, variance, False, momentum, eps),)


BATCH_STATISTICS = "it normalises by the batch's own statistics; give it track_running_stats=True"
TORCH_OPS.refuse("_native_batch_norm_legit", "native_batch_norm", because=BATCH_STATISTICS)
