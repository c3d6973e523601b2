"""Where a network bends: rectifiers, clamps, maxima, choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polyfold.network.read.builder import Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import reductions, sorting
from polyfold.network.read.compose.choose import Comparison, choose, compare, select
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, array, axes_without_batch, operand, optional_operand
from polyfold.network.read.registry import COMPUTED_SLOPE, NO_PLACE, Unreadable

handles = ONNX_OPS.family("Switches")


@handles("Relu", becomes="`Rectify`", batch_anywhere=True)
def _relu(site: OnnxSite, x: Value) -> Value:
    return compose.relu(site, x)


@handles("LeakyRelu", becomes="`Rectify`", batch_anywhere=True)
def _leaky_relu(site: OnnxSite, x: Value, *, alpha: float = 0.01) -> Value:
    return compose.rectify(site, x, np.array(1.0), np.array(alpha))


@handles("PRelu", becomes="`Rectify`", limits="constant slopes", exact=True, one_computed=COMPUTED_SLOPE)
def _prelu(site: OnnxSite, x: Value, slope: Any) -> Value:
    x, slopes = compose.fit_constant(site, x, array(slope))
    return compose.rectify(site, x, np.array(1.0), slopes)


@handles("Abs", becomes="`Rectify`", batch_anywhere=True)
def _abs(site: OnnxSite, x: Value) -> Value:
    return compose.rectify(site, x, np.array(1.0), np.array(-1.0))


@handles("Clip", becomes="`Clamp`", batch_anywhere=True, exact=True)
def _clip(site: OnnxSite, x: Value, low: Any = None, high: Any = None, **bounds: float) -> Value:
    return compose.clamp(site, x, optional_operand(bounds.get("min", low)), optional_operand(bounds.get("max", high)))


@handles("HardSigmoid", becomes="`Clamp`", batch_anywhere=True)
def _hard_sigmoid(site: OnnxSite, x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    scaled = compose.scale(site, x, np.array(alpha), part="alpha")
    shifted = compose.shift(site, scaled, np.array(beta), part="beta")
    return compose.flat_clamp(site, shifted, 0.0, 1.0)


@handles("Max", becomes="`Maximum`, `Clamp`", exact=True)
def _max(site: OnnxSite, *operands: Any) -> Value:
    return compose.fold(site, [operand(item) for item in operands], "max")


@handles("Min", becomes="`Minimum`, `Clamp`", exact=True)
def _min(site: OnnxSite, *operands: Any) -> Value:
    return compose.fold(site, [operand(item) for item in operands], "min")


REDUCTIONS: dict[str, Callable[..., Value]] = {
    "ReduceSum": compose.total,
    "ReduceMean": partial(compose.total, mean=True),
    "ReduceMax": reductions.largest_over_axes,
    "ReduceMin": reductions.smallest_over_axes,
    "ReduceL1": partial(reductions.norm, order=1),
}


@handles("ReduceL1", becomes="`Rectify`, `Linear`", limits="not over an open batch axis")
@handles("ReduceMax", "ReduceMin", becomes="`Largest`", limits="not over an open batch axis")
@ONNX_OPS.family("Affine maps")("ReduceSum", "ReduceMean", becomes="`Linear`", limits="not over an open batch axis")
def _reduce(
    site: OnnxSite,
    x: Value,
    axes_input: Any = None,
    *,
    axes: Any = None,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
) -> Value:
    chosen = axes if axes_input is None else np.asarray(axes_input).tolist()
    if not chosen and noop_with_empty_axes:
        return compose.rectify(site, x, np.array(1.0), np.array(-1.0)) if site.op == "ReduceL1" else x
    x, inner = axes_without_batch(site, x, chosen or range(x.rank))
    return REDUCTIONS[site.op](site, x, inner, keepdims=bool(keepdims))


@handles(
    "TopK",
    becomes="`Linear`, `Rectify` and `Add` for every layer of comparisons",
    limits=f"at most {sorting.MOST_ENTRIES} entries, not along an open batch axis; their places are refused",
)
def _top(
    site: OnnxSite, x: Value, k: Any = None, *, axis: int = -1, largest: int = 1, sorted: int = 1, **options: Any
) -> list[Any]:
    count = int(np.ravel(options["k"] if k is None else k)[0])
    if not sorted:
        site.refuse("its entries come in any order (sorted=0)")
    x, (inner,) = axes_without_batch(site, x, [axis])
    return [sorting.chosen(site, x, inner, list(range(count)), descending=bool(largest)), Unreadable(site, NO_PLACE)]


@handles("Shrink", becomes="`Clamp`, `Subtract`", limits="bias equal to lambd (soft shrinking); others jump")
def _shrink(site: OnnxSite, x: Value, *, lambd: float = 0.5, bias: float = 0.0) -> Value:
    if lambd != bias:
        site.refuse(f"it jumps by {lambd - bias:.9g} at {lambd:.9g}; only a bias equal to lambd is continuous")
    clamped = compose.clamp(site, x, np.array(-lambd), np.array(lambd))
    return compose.subtract(replace(site, name=f"{site.name}.rest"), x, clamped)


@handles("ThresholdedRelu", becomes="`Rectify`", limits="alpha=0; others jump")
def _thresholded(site: OnnxSite, x: Value, *, alpha: float = 1.0) -> Value:
    if alpha != 0:
        site.refuse(f"it jumps at {alpha:.9g}")
    return compose.relu(site, x)


@handles(
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    becomes="nothing",
    limits="only as the condition of Where, or as a factor",
)
def _compare(site: OnnxSite, x: Any, y: Any) -> Comparison:
    or_equal = site.op.endswith("OrEqual")
    return compare(operand(x), operand(y), above=site.op.startswith("Greater"), or_equal=or_equal)


@handles(
    "Where",
    becomes="`Rectify`, `Maximum`, `Minimum`, `Scale`",
    limits="Where(h > c, a, b) with a and b affine in h and equal at the constant c, or a and b the two values "
    "that are compared; or a constant condition; anything else may jump",
    chooses=True,
)
def _where(site: OnnxSite, condition: Any, a: Any, b: Any) -> Value:
    if isinstance(condition, Comparison):
        return choose(site, condition, operand(a), operand(b))
    return select(site, array(condition), operand(a), operand(b))
