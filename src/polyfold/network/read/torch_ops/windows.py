"""Convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from polyfold.network.ops.convolve import Window
from polyfold.network.read import windows
from polyfold.network.read.builder import Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.registry import COMPUTED_KERNEL, NO_PLACE, Unreadable
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite, array, optional

handles = TORCH_OPS.family("Convolutions and pools", needs_batch=True)


def per_axis(numbers: Any, axes: int) -> tuple[int, ...]:
    """An option with one entry an axis; torch may give a single one for all."""
    given = [numbers] if isinstance(numbers, int) else list(numbers)
    return tuple(given * axes if len(given) == 1 else given)


def with_channels(site: TorchSite, x: Value, axes: int) -> Value:
    """The value, if it is a batch of (channels, *space)."""
    if x.rank != axes + 2:
        site.refuse(
            f"its input has {x.rank} axes, but must be (batch, channels, {axes} spatial axes); "
            "check input_shape, which leaves the batch axis out"
        )
    return x


def _window(axes: int, stride: Any, padding: Any, dilation: Any, groups: int = 1) -> Window:
    around = tuple((p, p) for p in per_axis(padding, axes))
    return Window(per_axis(stride, axes), around, per_axis(dilation, axes), groups)


@handles(
    *("conv1d", "conv2d", "conv3d"),
    becomes="`Convolution`",
    limits="constant kernel; all strides, dilations, groups and paddings ('same' and 'valid' too)",
    exact=True,
    one_computed=COMPUTED_KERNEL,
)
def _conv(
    site: TorchSite,
    x: Value,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    kernel = array(weight)
    axes = kernel.ndim - 2
    window = _window(axes, stride, 0 if isinstance(padding, str) else padding, dilation, groups)
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(window.dilation, kernel.shape[2:], strict=True)]
        window = replace(window, padding=tuple((total // 2, total - total // 2) for total in totals))
    return windows.convolution(site, with_channels(site, x, axes), kernel, optional(bias), window)


@handles(
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    becomes="`TransposedConvolution`",
    limits="constant kernel; all strides, dilations, groups, paddings and output paddings",
    exact=True,
    one_computed=COMPUTED_KERNEL,
)
def _conv_transpose(
    site: TorchSite,
    x: Value,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Value:
    kernel = array(weight)
    axes = kernel.ndim - 2
    window, more = _window(axes, stride, padding, dilation, groups), per_axis(output_padding, axes)
    return windows.transposed_convolution(site, with_channels(site, x, axes), kernel, optional(bias), window, more)


def _pool(kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, axes: int) -> windows.Pool:
    kernel = per_axis(kernel_size, axes)
    window = _window(axes, stride or kernel, padding, dilation)
    return windows.Pool(kernel, window.stride, window.padding, window.dilation, ceil_mode)


@handles(
    *(f"max_pool{axes}d{indices}" for axes in (1, 2, 3) for indices in ("", "_with_indices")),
    becomes="`Largest`",
    limits="padded places are left out; the indices of the maxima are refused",
)
def _max_pool(
    site: TorchSite,
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    axes = spatial_axes(site)
    x = with_channels(site, x, axes)
    pool = _pool(kernel_size, stride, padding, dilation, ceil_mode, axes)
    value = windows.largest_in_windows(site, x, pool.entries(x.shape[1:]))
    return (value, Unreadable(site, NO_PLACE)) if site.op.endswith("indices") else value


def spatial_axes(site: TorchSite) -> int:
    """The number in the operator's name."""
    return next(axes for axes in (1, 2, 3) if f"{axes}d" in site.op)


@handles(
    *("avg_pool1d", "avg_pool2d", "avg_pool3d"),
    becomes="`Combine`",
    limits="with ceil_mode, count_include_pad and divisor_override",
)
def _avg_pool(
    site: TorchSite,
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    axes = spatial_axes(site)
    x = with_channels(site, x, axes)
    pool = _pool(kernel_size, stride, padding, 1, ceil_mode, axes)
    return windows.average_pool(site, x, pool, counts_padding=count_include_pad, divisor=divisor_override)


@handles(
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    becomes="`Combine`, or `Linear` for one place",
)
def _adaptive_avg_pool(site: TorchSite, x: Value, output_size: Sequence[int]) -> Value:
    x = with_channels(site, x, spatial_axes(site))
    if all(n == 1 for n in output_size):
        return compose.total(site, x, range(1, len(x.shape)), keepdims=True, mean=True)
    return windows.average_of_windows(site, x, windows.adaptive_entries(x.shape[1:], output_size))


@handles(
    *("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"),
    becomes="`Largest`",
    limits="the indices of the maxima are refused",
)
def _adaptive_max_pool(site: TorchSite, x: Value, output_size: Sequence[int]) -> Any:
    x = with_channels(site, x, spatial_axes(site))
    entries = windows.adaptive_entries(x.shape[1:], output_size)
    return windows.largest_in_windows(site, x, entries), Unreadable(site, NO_PLACE)


@handles("im2col", becomes="`Take`, or `Combine` with padding")
def _unfold(site: TorchSite, x: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    x = with_channels(site, x, 2)
    pool = _pool(kernel_size, stride, padding, dilation, False, 2)
    return placing.gather(site, x, windows.column_places(x.shape[0], x.shape[1:], pool))


@handles("col2im", becomes="`Combine`")
def _fold(
    site: TorchSite, x: Value, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Value:
    if x.rank != 3:
        site.refuse(f"its input has {x.rank} axes, but must be (batch, channels and window, places)")
    return windows.fold_columns(site, x, tuple(output_size), _pool(kernel_size, stride, padding, dilation, False, 2))
