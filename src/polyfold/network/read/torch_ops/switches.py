"""Where a network bends: rectifiers, clamps, maxima, choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold.network.read.builder import Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import reductions, sorting
from polyfold.network.read.compose.choose import Comparison, choose, compare, select
from polyfold.network.read.registry import COMPUTED_SLOPE, NO_PLACE, Unreadable
from polyfold.network.read.torch_ops.site import (
    TORCH_OPS,
    TorchSite,
    array,
    axes_behind_batch,
    operand,
    optional_operand,
)

handles = TORCH_OPS.family("Switches")


@handles("relu", becomes="`Rectify`", batch_anywhere=True)
def _relu(site: TorchSite, x: Value) -> Value:
    return compose.relu(site, x)


@handles("leaky_relu", becomes="`Rectify`", batch_anywhere=True)
def _leaky_relu(site: TorchSite, x: Value, slope: float = 0.01) -> Value:
    return compose.rectify(site, x, array(1), array(slope))


@handles("rrelu", becomes="`Rectify`", limits="evaluation mode", batch_anywhere=True)
def _rrelu(
    site: TorchSite, x: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *rest: Any
) -> Value:
    if training:
        site.refuse("its slopes are random even in evaluation mode")
    return compose.rectify(site, x, array(1), array((lower + upper) / 2))


@handles("prelu", "_prelu_kernel", becomes="`Rectify`", exact=True, one_computed=COMPUTED_SLOPE)
def _prelu(site: TorchSite, x: Value, weight: Any) -> Value:
    slopes = array(weight)
    if slopes.size == 1:
        slopes = slopes.reshape(())
    elif slopes.ndim == 1:
        slopes = slopes.reshape(-1, *([1] * (x.rank - 2)))
    else:
        x, slopes = compose.fit_constant(site, x, slopes)
    return compose.rectify(site, x, array(1), slopes)


@handles("abs", "absolute", becomes="`Rectify`", batch_anywhere=True)
def _abs(site: TorchSite, x: Value) -> Value:
    return compose.rectify(site, x, array(1), array(-1))


@handles("clamp", "clip", becomes="`Clamp`, or `Rectify` for bounds that differ from entry to entry", exact=True)
def _clamp(site: TorchSite, x: Value, min: Any = None, max: Any = None) -> Value:
    return compose.clamp(site, x, optional_operand(min), optional_operand(max))


@handles("hardtanh", becomes="`Clamp`", batch_anywhere=True)
def _hardtanh(site: TorchSite, x: Value, min_val: float = -1, max_val: float = 1) -> Value:
    return compose.flat_clamp(site, x, min_val, max_val)


@handles("clamp_min", becomes="`Clamp`, `Rectify`", exact=True)
def _clamp_min(site: TorchSite, x: Value, min: Any) -> Value:
    return compose.clamp(site, x, operand(min), None)


@handles("clamp_max", becomes="`Clamp`, `Rectify`", exact=True)
def _clamp_max(site: TorchSite, x: Value, max: Any) -> Value:
    return compose.clamp(site, x, None, operand(max))


@handles("relu6", becomes="`Clamp`", batch_anywhere=True)
def _relu6(site: TorchSite, x: Value) -> Value:
    return compose.flat_clamp(site, x, 0.0, 6.0)


@handles("hardsigmoid", becomes="`Clamp`", batch_anywhere=True)
def _hardsigmoid(site: TorchSite, x: Value) -> Value:
    clamped = compose.flat_clamp(site, compose.shift(site, x, array(3), part="plus3"), 0.0, 6.0)
    return compose.over(site, clamped, array(6), part="sixth")


@handles("threshold", becomes="`Clamp`", limits="a threshold equal to its value", batch_anywhere=True)
def _threshold(site: TorchSite, x: Value, threshold: float, value: float) -> Value:
    if threshold != value:
        site.refuse(f"it jumps from {value} to {threshold}; only a threshold equal to its value is continuous")
    return compose.flat_clamp(site, x, threshold, np.inf)


@handles("maximum", "max.other", "fmax", becomes="`Maximum`, `Clamp`", exact=True)
def _maximum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.larger(site, operand(x), operand(y))


@handles("minimum", "min.other", "fmin", becomes="`Minimum`, `Clamp`", exact=True)
def _minimum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.smaller(site, operand(x), operand(y))


@handles(
    "amax", "max", "max.dim", becomes="`Largest`", limits="not over the batch axis; the place of the maximum is refused"
)
def _largest(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    axes = axes_behind_batch(site, x, dim)
    return _with_place(site, dim, reductions.largest_over_axes(site, x, axes, keepdims=keepdim))


@handles("amin", "min", "min.dim", becomes="`Largest` of negatives", limits="not over the batch axis")
def _smallest(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    axes = axes_behind_batch(site, x, dim)
    return _with_place(site, dim, reductions.smallest_over_axes(site, x, axes, keepdims=keepdim))


def _with_place(site: TorchSite, dim: Any, value: Value) -> Any:
    """max(dim=...) gives the place as well, amax does not."""
    if site.op in ("amax", "amin") or dim is None:
        return value
    return value, Unreadable(site, NO_PLACE)


@handles("aminmax", becomes="`Largest`", limits="not over the batch axis")
def _both(site: TorchSite, x: Value, *, dim: Any = None, keepdim: bool = False) -> Any:
    axes = axes_behind_batch(site, x, dim)
    return (
        reductions.smallest_over_axes(site, x, axes, keepdims=keepdim),
        reductions.largest_over_axes(site, x, axes, keepdims=keepdim),
    )


@handles("cummax", "cummin", becomes="`Largest`", limits="not along the batch axis; the places are refused")
def _running(site: TorchSite, x: Value, dim: int) -> Any:
    (axis,) = axes_behind_batch(site, x, dim)
    running = reductions.running_largest if site.op == "cummax" else reductions.running_smallest
    return running(site, x, axis), Unreadable(site, NO_PLACE)


@handles(
    "linalg_vector_norm", "norm", becomes="`Rectify`, `Linear`, `Largest`", limits="order 1, infinity or -infinity"
)
def _norm(
    site: TorchSite, x: Value, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    return reductions.norm(site, x, axes_behind_batch(site, x, dim), order=ord, keepdims=keepdim)


@handles(
    *("linalg_norm", "linalg_matrix_norm"),
    becomes="`Rectify`, `Linear`, `Largest`",
    limits="order 1, infinity or -infinity (of matrices -1 too), over one or two axes that are named",
)
def _matrix_norm(site: TorchSite, x: Value, *options: Any, **more: Any) -> Value:
    named = dict(zip(("ord", "dim", "keepdim"), options, strict=False)) | more
    order, dim, keepdim = named.get("ord"), named.get("dim"), bool(named.get("keepdim", False))
    if dim is None and site.op == "linalg_matrix_norm":
        dim = (-2, -1)
    if order is None or isinstance(order, str) or dim is None:
        site.refuse(
            f"the norm of order {order!r} is not piecewise linear, or is taken over all axes; name order and dim"
        )
    axes = axes_behind_batch(site, x, dim)
    if len(axes) == 1:
        return reductions.norm(site, x, axes, order=order, keepdims=keepdim)
    return reductions.matrix_norm(site, x, order, axes[0], axes[1], keepdims=keepdim)


SORTED = {
    "becomes": "`Linear`, `Rectify` and `Add` for every layer of comparisons",
    "limits": f"at most {sorting.MOST_ENTRIES} entries, not along the batch axis; their places are refused",
}


@handles("sort", **SORTED)
def _sort(site: TorchSite, x: Value, *options: Any, **more: Any) -> Any:
    # sort(x, dim, descending) and sort(x, stable=..., dim=..., descending=...)
    named = dict(zip(("dim", "descending"), options, strict=False)) | more
    (axis,) = axes_behind_batch(site, x, named.get("dim", -1))
    places = list(range(x.shape[axis]))
    ordered = sorting.chosen(site, x, axis, places, descending=bool(named.get("descending")))
    return ordered, Unreadable(site, NO_PLACE)


@handles("topk", **SORTED)
def _top(site: TorchSite, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    (axis,) = axes_behind_batch(site, x, dim)
    return sorting.chosen(site, x, axis, list(range(k)), descending=largest), Unreadable(site, NO_PLACE)


@handles("kthvalue", "median.dim", "nanmedian.dim", **SORTED)
def _ranked(site: TorchSite, x: Value, *options: Any, **more: Any) -> Any:
    named = dict(zip(("k", "dim", "keepdim") if site.op == "kthvalue" else ("dim", "keepdim"), options, strict=False))
    named |= more
    (axis,) = axes_behind_batch(site, x, named.get("dim", -1))
    # The lower one of two medians, like torch.
    place = named["k"] - 1 if site.op == "kthvalue" else (x.shape[axis] - 1) // 2
    value = sorting.chosen(site, x, axis, [place])
    if not named.get("keepdim", False):
        value = compose.reshape(site, value, (*x.shape[:axis], *x.shape[axis + 1 :]), part="shape")
    return value, Unreadable(site, NO_PLACE)


@handles(
    *("gt", "ge", "lt", "le", "greater", "greater_equal", "less", "less_equal"),
    becomes="nothing",
    limits="only as the condition of where and masked_fill, or as a factor",
)
def _compare(site: TorchSite, x: Any, y: Any) -> Comparison:
    or_equal = site.op in ("ge", "le") or site.op.endswith("_equal")
    return compare(operand(x), operand(y), above=site.op.startswith("g"), or_equal=or_equal)


@handles(
    "where",
    becomes="`Rectify`, `Maximum`, `Minimum`, `Scale`",
    limits="where(h > c, a, b) with a and b affine in h and equal at the constant c, or a and b the two values "
    "that are compared; or a constant condition; anything else may jump",
    chooses=True,
)
def _where(site: TorchSite, condition: Any, a: Any, b: Any) -> Value:
    if isinstance(condition, Comparison):
        return choose(site, condition, operand(a), operand(b))
    return select(site, array(condition), operand(a), operand(b))
