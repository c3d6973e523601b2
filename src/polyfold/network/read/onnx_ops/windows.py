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
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, operand, optional_operand, text, with_channels
from polyfold.network.read.registry import NO_PLACE, Unreadable

handles = ONNX_OPS.family("Convolutions and pools")

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
            (-(-n // s) - 1) * s + d * (k - 1) + 1 - n
            for n, k, s, d in zip(space, kernel, stride, dilation, strict=True)
        ]
        return tuple(_split(max(0, total), upper=mode == "SAME_UPPER") for total in totals)
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
    "Conv",
    becomes="`Convolution`",
    limits="constant kernel; all strides, dilations, groups, pads and auto_pad modes",
    exact=True,
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
    kernel, offset = windows.constant_kernel(site, operand(weight), optional_operand(bias))
    axes = kernel.ndim - 2
    x = with_channels(site, x, axes)
    stride, dilation = ones(strides, axes), ones(dilations, axes)
    amounts = padding(site, x.shape[1:], kernel.shape[2:], stride, dilation, pads=pads, auto_pad=auto_pad)
    return windows.convolution(site, x, kernel, offset, Window(stride, amounts, dilation, group))


@handles(
    "ConvTranspose",
    becomes="`TransposedConvolution`",
    limits="constant kernel; with output_padding, output_shape and auto_pad",
    exact=True,
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
    kernel, offset = windows.constant_kernel(site, operand(weight), optional_operand(bias))
    axes = kernel.ndim - 2
    x = with_channels(site, x, axes)
    stride, dilation = ones(strides, axes), ones(dilations, axes)
    more = tuple(int(n) for n in output_padding) if output_padding is not None else (0,) * axes
    amounts, more = _transposed_padding(
        site, x.shape[1:], kernel.shape[2:], stride, dilation, more, pads, text(auto_pad), output_shape
    )
    return windows.transposed_convolution(site, x, kernel, offset, Window(stride, amounts, dilation, group), more)


def _transposed_padding(
    site: OnnxSite,
    space: Shape,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    more: tuple[int, ...],
    pads: Any,
    mode: str,
    output_shape: Any,
) -> tuple[Pads, tuple[int, ...]]:
    """Padding of a transposed convolution, maybe told by the output's shape, and what lies behind its windows."""
    if output_shape is None and mode in ("NOTSET", "VALID"):
        return padding(site, space, kernel, stride, dilation, pads=pads, auto_pad=mode), more
    wanted = [n * s for n, s in zip(space, stride, strict=True)]
    if output_shape is not None:
        wanted = [int(n) for n in output_shape][-len(kernel) :]
    totals = [
        s * (n - 1) + extra + d * (k - 1) + 1 - want
        for n, k, s, d, extra, want in zip(space, kernel, stride, dilation, more, wanted, strict=True)
    ]
    # An output that is told to be larger than the windows reach has nothing but the bias at its end. With auto_pad
    # onnxruntime lets it end where the windows do.
    beyond = more
    if output_shape is not None:
        beyond = tuple(extra + max(0, -total) for extra, total in zip(more, totals, strict=True))
    return tuple(_split(max(0, total), upper=mode == "SAME_UPPER") for total in totals), beyond


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
    return reductions.largest_over_axes(site, x, range(1, len(x.shape)), keepdims=True)


@handles("LpPool", becomes="`Rectify`, `Combine`", limits="p=1, the sum of absolute values")
def _lp_pool(
    site: OnnxSite,
    x: Any,
    *,
    kernel_shape: Any,
    p: int = 2,
    strides: Any = None,
    dilations: Any = None,
    ceil_mode: int = 0,
    pads: Any = None,
    auto_pad: Any = b"NOTSET",
) -> Value:
    if p != 1:
        site.refuse(f"the norm of order {p:g} is not piecewise linear; p=1 is")
    x = with_channels(site, x, len(kernel_shape))
    pool = _pool(site, x, kernel_shape, strides, dilations, ceil_mode, pads, auto_pad)
    absolute = compose.rectify(site, x, np.array(1.0), np.array(-1.0))
    return windows.average_of_windows(site, absolute, pool.entries(x.shape[1:]), counted=None, divisor=1.0)


@handles("Col2Im", becomes="`Combine`", limits="constant shapes")
def _fold(
    site: OnnxSite,
    x: Any,
    image_shape: Any,
    block_shape: Any,
    *,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Value:
    if isinstance(image_shape, Value) or isinstance(block_shape, Value):
        site.refuse("its shapes depend on the network's input")
    kernel, space = tuple(int(n) for n in block_shape), tuple(int(n) for n in image_shape)
    x = with_channels(site, x, 1)
    pool = _pool(site, replace(x, shape=(1, *space)), kernel, strides, dilations, 0, pads, b"NOTSET")
    return windows.fold_columns(site, x, space, pool)
