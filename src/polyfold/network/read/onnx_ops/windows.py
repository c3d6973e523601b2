"""Convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import Shape
from polyfold.network.read import windows
from polyfold.network.read.builder import Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import reductions
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, array, optional, text, with_channels
from polyfold.network.read.registry import COMPUTED_KERNEL, NO_PLACE, Unreadable

handles = ONNX_OPS.family("Convolutions and pools")


def _window(
    site: OnnxSite,
    space: Shape,
    kernel: Sequence[int],
    *,
    strides: Any = None,
    dilations: Any = None,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
    group: int = 1,
    **rest: Any,
) -> Window:
    """The attributes that all windows have; strides and dilations are one where the file does not say."""
    axes, mode = len(kernel), text(auto_pad)
    stride, dilation = (
        tuple(int(n) for n in numbers) if numbers is not None else (1,) * axes for numbers in (strides, dilations)
    )
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            (-(-n // s) - 1) * s + d * (k - 1) + 1 - n
            for n, k, s, d in zip(space, kernel, stride, dilation, strict=True)
        ]
        return Window(stride, _split(totals, mode), dilation, group)
    if mode not in ("NOTSET", "VALID"):
        site.refuse(f"auto_pad {mode!r} is unknown")
    given = [int(n) for n in pads] if pads is not None and mode == "NOTSET" else [0] * (2 * axes)
    if min(given) < 0:
        site.refuse(f"it has negative padding {given}")
    return Window(stride, tuple(zip(given[:axes], given[axes:], strict=True)), dilation, group)


def _split(totals: Sequence[int], mode: str) -> tuple[tuple[int, int], ...]:
    """Padding on both sides of every axis; of an odd one more behind (SAME_UPPER) or in front."""
    halves = [(max(0, total) // 2, (max(0, total) + 1) // 2) for total in totals]
    return tuple(halves if mode == "SAME_UPPER" else [(more, less) for less, more in halves])


@handles(
    "Conv",
    becomes="`Convolution`",
    limits="constant kernel; all strides, dilations, groups, pads and auto_pad modes",
    exact=True,
    one_computed=COMPUTED_KERNEL,
)
def _conv(site: OnnxSite, x: Value, weight: Any, bias: Any = None, **how: Any) -> Value:
    kernel = array(weight)
    x = with_channels(site, x, kernel.ndim - 2)
    window = _window(site, x.shape[1:], kernel.shape[2:], **how)
    return windows.convolution(site, x, kernel, optional(bias), window)


@handles(
    "ConvTranspose",
    becomes="`TransposedConvolution`",
    limits="constant kernel; with output_padding, output_shape and auto_pad",
    exact=True,
    one_computed=COMPUTED_KERNEL,
)
def _conv_transpose(
    site: OnnxSite,
    x: Value,
    weight: Any,
    bias: Any = None,
    *,
    auto_pad: Any = b"NOTSET",
    output_padding: Any = None,
    output_shape: Any = None,
    **how: Any,
) -> Value:
    kernel = array(weight)
    axes = kernel.ndim - 2
    x = with_channels(site, x, axes)
    more = tuple(int(n) for n in output_padding) if output_padding is not None else (0,) * axes
    mode, beyond = text(auto_pad), more
    told = output_shape is not None or mode in ("SAME_UPPER", "SAME_LOWER")
    window = _window(site, x.shape[1:], kernel.shape[2:], auto_pad="VALID" if told else mode, **how)
    if told:
        # How long the output is says how much is cut off: as long as told, or the input times the stride.
        wanted = [n * s for n, s in zip(x.shape[1:], window.stride, strict=True)]
        if output_shape is not None:
            wanted = [int(n) for n in output_shape][-axes:]
        totals = [
            s * (n - 1) + extra + d * (k - 1) + 1 - want
            for n, k, s, d, extra, want in zip(
                x.shape[1:], kernel.shape[2:], window.stride, window.dilation, more, wanted, strict=True
            )
        ]
        window = replace(window, padding=_split(totals, mode))
        # An output that is told to be larger than the windows reach has nothing but the bias at its end. With auto_pad
        # onnxruntime lets it end where the windows do.
        if output_shape is not None:
            beyond = tuple(extra + max(0, -total) for extra, total in zip(more, totals, strict=True))
    return windows.transposed_convolution(site, x, kernel, optional(bias), window, beyond)


def _pool(site: OnnxSite, space: Shape, kernel_shape: Any, *, ceil_mode: int = 0, **how: Any) -> windows.Pool:
    kernel = tuple(int(n) for n in kernel_shape)
    window = _window(site, space, kernel, **how)
    return windows.Pool(kernel, window.stride, window.padding, window.dilation, bool(ceil_mode))


@handles("MaxPool", becomes="`Largest`", limits="padded places are left out; the indices of the maxima are refused")
def _max_pool(site: OnnxSite, x: Value, *, kernel_shape: Any, **how: Any) -> list[Any]:
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x.shape[1:], kernel_shape, **how)
    return [windows.largest_in_windows(site, x, pool.entries(x.shape[1:])), Unreadable(site, NO_PLACE)]


@handles("AveragePool", becomes="`Combine`", limits="with ceil_mode and count_include_pad")
def _average_pool(site: OnnxSite, x: Value, *, kernel_shape: Any, count_include_pad: int = 0, **how: Any) -> Value:
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x.shape[1:], kernel_shape, **how)
    return windows.average_pool(site, x, pool, counts_padding=bool(count_include_pad))


@handles("GlobalAveragePool", becomes="`Linear`")
def _global_average(site: OnnxSite, x: Value) -> Value:
    x = with_channels(site, x)
    return compose.total(site, x, range(1, len(x.shape)), keepdims=True, mean=True)


@handles("GlobalMaxPool", becomes="`Largest`")
def _global_max(site: OnnxSite, x: Value) -> Value:
    x = with_channels(site, x)
    return reductions.largest_over_axes(site, x, range(1, len(x.shape)), keepdims=True)


@handles("LpPool", becomes="`Rectify`, `Combine`", limits="p=1, the sum of absolute values")
def _lp_pool(site: OnnxSite, x: Value, *, kernel_shape: Any, p: int = 2, **how: Any) -> Value:
    if p != 1:
        site.refuse(f"the norm of order {p:g} is not piecewise linear; p=1 is")
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x.shape[1:], kernel_shape, **how)
    absolute = compose.rectify(site, x, np.array(1.0), np.array(-1.0))
    return windows.average_pool(site, absolute, pool, counts_padding=False, divisor=1.0)


@handles(
    "Col2Im",
    becomes="`Combine`",
    limits="constant shapes",
    one_computed="its shapes depend on the network's input",
)
def _fold(site: OnnxSite, x: Value, image_shape: Any, block_shape: Any, **how: Any) -> Value:
    space = tuple(int(n) for n in image_shape)
    return windows.fold_columns(site, with_channels(site, x, 1), space, _pool(site, space, block_shape, **how))
