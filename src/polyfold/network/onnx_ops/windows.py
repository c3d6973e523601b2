"""Convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.network import compose, windows
from polyfold.network.builder import Value
from polyfold.network.convolve import Window
from polyfold.network.onnx_ops.site import ONNX_OPS, OnnxSite, optional, text, with_channels
from polyfold.network.ops import Shape
from polyfold.network.registry import Unreadable

handles = ONNX_OPS.family("Convolutions and pools")

NO_PLACE = "the place of a maximum jumps; only the maximum itself can be read"
CONSTANT_KERNEL = "its kernel is computed from the network's input"
Pads = tuple[tuple[int, int], ...]


def padding(
    site: OnnxSite,
    space: Shape,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    *,
    pads: Any,
    auto_pad: Any,
) -> Pads:
    """(before, after) for every axis, from pads or auto_pad."""
    axes, mode = len(kernel), text(auto_pad)
    if mode == "VALID":
        return ((0, 0),) * axes
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n)
            for n, k, s, d in zip(space, kernel, stride, dilation, strict=True)
        ]
        return tuple(_split(total, upper=mode == "SAME_UPPER") for total in totals)
    if mode != "NOTSET":
        site.refuse(f"auto_pad {mode!r} is unknown")
    given = [int(n) for n in pads] if pads is not None else [0] * (2 * axes)
    if min(given) < 0:
        site.refuse(f"it has negative padding {given}")
    return tuple(zip(given[:axes], given[axes:], strict=True))


def _split(total: int, *, upper: bool) -> tuple[int, int]:
    """Padding on both sides; an odd one more behind (upper) or in front."""
    less = total // 2
    return (less, total - less) if upper else (total - less, less)


def ones(numbers: Any, axes: int) -> tuple[int, ...]:
    """Strides or dilations, which are one where the file does not say."""
    return tuple(int(n) for n in numbers) if numbers is not None else (1,) * axes


@handles(
    "Conv", becomes="`Convolution`", limits="constant kernel; all strides, dilations, groups, pads and auto_pad modes"
)
def _conv(
    site: OnnxSite,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    strides: Any = None,
    dilations: Any = None,
    group: int = 1,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
    **rest: Any,
) -> Value:
    if isinstance(weight, Value) or isinstance(bias, Value):
        site.refuse(CONSTANT_KERNEL)
    kernel = np.asarray(weight, dtype=np.float64)
    axes = kernel.ndim - 2
    x = with_channels(site, x, axes)
    stride, dilation = ones(strides, axes), ones(dilations, axes)
    amounts = padding(site, x.shape[1:], kernel.shape[2:], stride, dilation, pads=pads, auto_pad=auto_pad)
    return windows.convolution(site, x, kernel, optional(bias), Window(stride, amounts, dilation, group))


@handles(
    "ConvTranspose",
    becomes="`TransposedConvolution`",
    limits="constant kernel; with output_padding, output_shape and auto_pad",
)
def _conv_transpose(
    site: OnnxSite,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    strides: Any = None,
    dilations: Any = None,
    group: int = 1,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
    output_padding: Any = None,
    output_shape: Any = None,
    **rest: Any,
) -> Value:
    if isinstance(weight, Value) or isinstance(bias, Value):
        site.refuse(CONSTANT_KERNEL)
    kernel = np.asarray(weight, dtype=np.float64)
    axes = kernel.ndim - 2
    x = with_channels(site, x, axes)
    stride, dilation = ones(strides, axes), ones(dilations, axes)
    more = tuple(int(n) for n in output_padding) if output_padding is not None else (0,) * axes
    amounts = _transposed_padding(
        site, x.shape[1:], kernel.shape[2:], stride, dilation, more, pads, text(auto_pad), output_shape
    )
    return windows.transposed_convolution(
        site, x, kernel, optional(bias), Window(stride, amounts, dilation, group), more
    )


def _transposed_padding(
    site: OnnxSite,
    space: Shape,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    more: Sequence[int],
    pads: Any,
    mode: str,
    output_shape: Any,
) -> Pads:
    """Padding of a transposed convolution, which may be told by the output's shape."""
    if output_shape is None and mode in ("NOTSET", "VALID"):
        return padding(site, space, kernel, stride, dilation, pads=pads, auto_pad=mode)
    wanted = [n * s for n, s in zip(space, stride, strict=True)]
    if output_shape is not None:
        wanted = [int(n) for n in output_shape][-len(kernel) :]
    totals = [
        s * (n - 1) + extra + d * (k - 1) + 1 - want
        for n, k, s, d, extra, want in zip(space, kernel, stride, dilation, more, wanted, strict=True)
    ]
    if min(totals) < 0:
        site.refuse(f"its output_shape {wanted} is larger than its windows reach")
    return tuple(_split(total, upper=mode == "SAME_UPPER") for total in totals)


def _pool(
    site: OnnxSite,
    x: Value,
    kernel_shape: Any,
    strides: Any,
    dilations: Any,
    ceil_mode: int,
    pads: Any,
    auto_pad: Any,
) -> windows.Pool:
    kernel = tuple(int(n) for n in kernel_shape)
    stride, dilation = ones(strides, len(kernel)), ones(dilations, len(kernel))
    amounts = padding(site, x.shape[1:], kernel, stride, dilation, pads=pads, auto_pad=auto_pad)
    return windows.Pool(kernel, stride, amounts, dilation, bool(ceil_mode))


@handles("MaxPool", becomes="`Largest`", limits="padded places are left out; the indices of the maxima are refused")
def _max_pool(
    site: OnnxSite,
    x: Any,
    *,
    kernel_shape: Any,
    strides: Any = None,
    dilations: Any = None,
    ceil_mode: int = 0,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
    storage_order: int = 0,
) -> list[Any]:
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x, kernel_shape, strides, dilations, ceil_mode, pads, auto_pad)
    return [windows.largest_in_windows(site, x, pool.entries(x.shape[1:])), Unreadable(site, NO_PLACE)]


@handles("AveragePool", becomes="`Combine`", limits="with ceil_mode and count_include_pad")
def _average_pool(
    site: OnnxSite,
    x: Any,
    *,
    kernel_shape: Any,
    strides: Any = None,
    dilations: Any = None,
    ceil_mode: int = 0,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
    count_include_pad: int = 0,
) -> Value:
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x, kernel_shape, strides, dilations, ceil_mode, pads, auto_pad)
    space = x.shape[1:]
    counted = windows.counted_with_padding(pool, space) if count_include_pad else None
    return windows.average_of_windows(site, x, pool.entries(space), counted=counted, divisor=None)


@handles("GlobalAveragePool", becomes="`Linear`")
def _global_average(site: OnnxSite, x: Any) -> Value:
    x = with_channels(site, x)
    return compose.total(site, x, range(1, len(x.shape)), keepdims=True, mean=True)


@handles("GlobalMaxPool", becomes="`Largest`")
def _global_max(site: OnnxSite, x: Any) -> Value:
    x = with_channels(site, x)
    return windows.largest_over_axes(site, x, range(1, len(x.shape)), keepdims=True)
