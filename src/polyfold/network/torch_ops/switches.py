"""Where a network bends: rectifiers, clamps, maxima, choices."""

from __future__ import annotations

from typing import Any

from polyfold.network import compose, windows
from polyfold.network.builder import Value
from polyfold.network.choose import Comparison, choose, compare, select
from polyfold.network.registry import Unreadable
from polyfold.network.torch_ops.site import TORCH_OPS, TorchSite, array, axes_behind_batch, operand
from polyfold.network.torch_ops.windows import NO_PLACE

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


@handles("prelu", "_prelu_kernel", becomes="`Rectify`")
def _prelu(site: TorchSite, x: Value, weight: Any) -> Value:
    slopes = array(weight)
    if slopes.size == 1:
        slopes = slopes.reshape(())
    elif slopes.ndim == 1:
        slopes = slopes.reshape(-1, *([1] * (len(x.shape) - 1)))
    else:
        x, slopes = compose.fit_constant(site, x, slopes)
    return compose.rectify(site, x, array(1), slopes)


@handles("abs", "absolute", becomes="`Rectify`", batch_anywhere=True)
def _abs(site: TorchSite, x: Value) -> Value:
    return compose.rectify(site, x, array(1), array(-1))


@handles("clamp", "clip", becomes="`Clamp`, or `Rectify` for bounds that differ from entry to entry")
def _clamp(site: TorchSite, x: Value, min: Any = None, max: Any = None) -> Value:
    low = None if min is None else operand(min)
    high = None if max is None else operand(max)
    return compose.clamp(site, x, low, high)


@handles("hardtanh", becomes="`Clamp`", batch_anywhere=True)
def _hardtanh(site: TorchSite, x: Value, min_val: float = -1, max_val: float = 1) -> Value:
    return compose.clamp(site, x, array(min_val), array(max_val))


@handles("clamp_min", becomes="`Clamp`, `Rectify`")
def _clamp_min(site: TorchSite, x: Value, min: Any) -> Value:
    return compose.clamp(site, x, operand(min), None)


@handles("clamp_max", becomes="`Clamp`, `Rectify`")
def _clamp_max(site: TorchSite, x: Value, max: Any) -> Value:
    return compose.clamp(site, x, None, operand(max))


@handles("relu6", becomes="`Clamp`", batch_anywhere=True)
def _relu6(site: TorchSite, x: Value) -> Value:
    return compose.clamp(site, x, array(0), array(6))


@handles("hardsigmoid", becomes="`Clamp`", batch_anywhere=True)
def _hardsigmoid(site: TorchSite, x: Value) -> Value:
    clamped = compose.clamp(site, compose.shift(site, x, array(3), part="plus3"), array(0), array(6))
    return compose.scale(site, clamped, array(1 / 6), part="sixth")


@handles("threshold", becomes="`Clamp`", limits="a threshold equal to its value", batch_anywhere=True)
def _threshold(site: TorchSite, x: Value, threshold: float, value: float) -> Value:
    if threshold != value:
        site.refuse(f"it jumps from {value} to {threshold}; only a threshold equal to its value is continuous")
    return compose.clamp(site, x, array(threshold), None)


@handles("maximum", "max.other", becomes="`Maximum`, `Clamp`")
def _maximum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.larger(site, operand(x), operand(y))


@handles("minimum", "min.other", becomes="`Minimum`, `Clamp`")
def _minimum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.smaller(site, operand(x), operand(y))


@handles(
    "amax", "max", "max.dim", becomes="`Largest`", limits="not over the batch axis; the place of the maximum is refused"
)
def _largest(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    axes = axes_behind_batch(site, x, dim)
    return _with_place(site, dim, windows.largest_over_axes(site, x, axes, keepdims=keepdim))


@handles("amin", "min", "min.dim", becomes="`Largest` of negatives", limits="not over the batch axis")
def _smallest(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    axes = axes_behind_batch(site, x, dim)
    return _with_place(site, dim, windows.smallest_over_axes(site, x, axes, keepdims=keepdim))


def _with_place(site: TorchSite, dim: Any, value: Value) -> Any:
    """max(dim=...) gives the place as well, amax does not."""
    if site.op in ("amax", "amin") or dim is None:
        return value
    return value, Unreadable(site, NO_PLACE)


@handles(
    "gt",
    "ge",
    "lt",
    "le",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    becomes="nothing",
    limits="only as the condition of where",
)
def _compare(site: TorchSite, x: Any, y: Any) -> Comparison:
    return compare(operand(x), operand(y), above=site.op.startswith("g"))


@handles(
    "where",
    becomes="`Rectify`, `Maximum`, `Minimum`, `Scale`",
    limits="where(h > c, a, b) with a and b affine in h and equal at the constant c, or a and b the two values "
    "that are compared; or a constant condition; anything else may jump",
)
def _where(site: TorchSite, condition: Any, a: Any, b: Any) -> Value:
    if isinstance(condition, Comparison):
        return choose(site, condition, operand(a), operand(b))
    return select(site, array(condition), operand(a), operand(b))
