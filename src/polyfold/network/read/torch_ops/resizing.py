"""Padding and interpolation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from polyfold.network.read import windows
from polyfold.network.read.builder import Value
from polyfold.network.read.compose import placing
from polyfold.network.read.compose.interpolation import interpolate
from polyfold.network.read.torch_ops import upsampling
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite, positions_of_a_batch
from polyfold.network.read.torch_ops.windows import spatial_axes, with_channels

handles = TORCH_OPS.family("Padding and interpolation", needs_batch=True)

PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@handles("pad", becomes="`Take`, or `Combine` and `Shift` for constants", limits="not along the batch axis")
def _pad(site: TorchSite, x: Value, amounts: Any, mode: str = "constant", value: float | None = None) -> Value:
    return _padded(site, x, amounts, mode, float(value or 0.0))


def _padded(site: TorchSite, x: Value, amounts: Any, mode: str, fill: float) -> Value:
    pairs = list(zip(amounts[::2], amounts[1::2], strict=True))[::-1]  # torch begins with the last axis
    around = [(0, 0)] * (x.rank - len(pairs)) + pairs
    if around[0] != (0, 0):
        site.refuse("it pads the batch axis (the first one)")
    return windows.pad(site, x, around[1:], PAD_MODES[mode], fill)


@handles("constant_pad_nd", becomes="`Combine`, `Shift`", limits="not along the batch axis")
def _constant_pad(site: TorchSite, x: Value, amounts: Any, value: float = 0) -> Value:
    return _padded(site, x, amounts, "constant", value)


@handles(
    *(f"{name}{axes}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for axes in (1, 2, 3)),
    becomes="`Take`",
)
def _nearest(site: TorchSite, x: Value, *options: Any) -> Value:
    # Torch interpolates real numbers only; positions are exact in float64.
    moved = site.target(positions_of_a_batch(site, x).double(), *options).long()
    return placing.rearranged(site, x, moved.numpy(), site.batch)


@handles(
    *("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"),
    *("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"),
    becomes="`Combine`",
    limits="by size or factor, with and without align_corners and antialias",
)
def _interpolate(site: TorchSite, x: Value, output_size: Any, align_corners: bool, scale_factors: Any = None) -> Value:
    axes = spatial_axes(site)
    x = with_channels(site, x, axes)
    space = x.shape[1:]
    factors = [None] * axes if scale_factors is None else [Fraction(factor) for factor in scale_factors]
    sizes = output_size
    if output_size is None:
        # Torch multiplies floats to know how long an axis becomes.
        sizes = [int(n * factor) for n, factor in zip(space, scale_factors, strict=True)]
    samplings = [
        upsampling.Sampling(n, m, align_corners, factor) for n, m, factor in zip(space, sizes, factors, strict=True)
    ]
    return interpolate(site, x, [upsampling.axis(site.op, sampling) for sampling in samplings])
