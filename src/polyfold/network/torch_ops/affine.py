"""Linear layers, sums, products with constants, batch normalisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from scipy import sparse

from polyfold.network import compose
from polyfold.network.builder import MIXES_THE_BATCH, Operand, Value
from polyfold.network.combining import combine
from polyfold.network.torch_ops.site import TORCH_OPS, TorchSite, array, axes_behind_batch, operand, optional, values_in

handles = TORCH_OPS.family("Affine maps")


@handles("linear", becomes="`Linear`", limits="constant weights", batch_anywhere=True)
def _linear(site: TorchSite, x: Operand, weight: Any, bias: Any = None) -> Value:
    if isinstance(weight, Value) or isinstance(bias, Value) or not isinstance(x, Value):
        site.refuse("its weights are computed from the network's input")
    if x.batch_axis == x.rank - 1 and x.batch_axis > 0:
        site.refuse(MIXES_THE_BATCH)
    matrix = array(weight)
    if matrix.ndim != 2:
        site.refuse(f"its weight has shape {matrix.shape}, which is no matrix")
    return compose.linear(site, x, matrix, optional(bias))


@handles("addmm", becomes="`Linear`, `Shift`", limits="one factor and the bias constant")
def _addmm(site: TorchSite, bias: Any, x: Any, y: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    if isinstance(bias, Value):
        site.refuse("its bias is computed from the network's input")
    product = replace(site, name=f"{site.name}.product")
    scaled = compose.matmul(product, operand(x), alpha * array(y) if not isinstance(y, Value) else y)
    if isinstance(y, Value):
        scaled = compose.scale(product, scaled, array(alpha))
    return compose.shift(site, scaled, beta * array(bias))


@handles(
    *("matmul", "mm", "bmm", "mv", "dot"),
    becomes="`Linear`, or `Combine` for a sparse constant on the left",
    limits="one factor constant (a fixed adjacency matrix, say)",
    batch_anywhere=True,
)
def _matmul(site: TorchSite, x: Any, y: Any) -> Value:
    if isinstance(y, Value) and not isinstance(x, Value) and y.rank == 2 and y.batch_axis == 1:
        return _times_samples(site, x, y)
    if any(value.batch_axis for value in values_in([x, y])):
        site.refuse(MIXES_THE_BATCH)
    return compose.matmul(site, operand(x), operand(y))


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
    if x.layout is torch.strided:
        return compose.linear(site, y, array(x))
    entries = x.detach().to_sparse_coo().coalesce()
    rows, columns = entries.indices().numpy()
    matrix = sparse.csr_array((array(entries.values()), (rows, columns)), shape=tuple(x.shape))
    return combine(site, y, matrix, (x.shape[0],))


@handles("add", becomes="`Add`, `Shift`")
def _add(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return compose.add(site, operand(x), _times(site, y, alpha))


@handles("sub", "subtract", becomes="`Subtract`, `Shift`")
def _sub(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return compose.subtract(site, operand(x), _times(site, y, alpha))


@handles("rsub", becomes="`Subtract`, `Shift`")
def _rsub(site: TorchSite, x: Any, y: Any, alpha: float = 1) -> Value:
    return compose.subtract(site, operand(y), _times(site, x, alpha))


def _times(site: TorchSite, x: Any, alpha: float) -> Operand:
    if isinstance(x, Value):
        return x if alpha == 1 else compose.scale(site, x, array(alpha), part="alpha")
    return array(x) * alpha


@handles("mul", "multiply", becomes="`Scale`", limits="one factor constant")
def _mul(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.multiply(site, operand(x), operand(y))


@handles("div", "divide", "true_divide", becomes="`Scale`", limits="constant denominator, no rounding")
def _div(site: TorchSite, x: Any, y: Any, *, rounding_mode: str | None = None) -> Value:
    if rounding_mode is not None:
        site.refuse("a rounded quotient is not continuous")
    return compose.divide(site, operand(x), operand(y))


@handles("neg", "negative", becomes="`Scale`", batch_anywhere=True)
def _neg(site: TorchSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("sum", "mean", becomes="`Linear`", limits="not over the batch axis")
def _total(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    axes = axes_behind_batch(site, x, dim)
    mean = site.op.startswith("mean")
    return compose.total(site, x, axes, keepdims=keepdim, mean=mean)


@handles("batch_norm", becomes="`Scale`, `Shift`", limits="with running statistics (evaluation mode)")
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


@handles("_native_batch_norm_legit_no_training", becomes="`Scale`, `Shift`")
def _folded_batch_norm(
    site: TorchSite, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Value]:
    return (_batch_norm(site, x, weight, bias, mean, variance, False, momentum, eps),)


BATCH_STATISTICS = "it normalises by the batch's own statistics; give it track_running_stats=True"
TORCH_OPS.refuse("_native_batch_norm_legit", "native_batch_norm", because=BATCH_STATISTICS)
