"""Padding and interpolation."""

from __future__ import annotations

from typing import Any

import torch
from scipy import sparse

from polyfold.network import placing, windows
from polyfold.network.builder import Value
from polyfold.network.ops import size
from polyfold.network.torch_ops.site import TORCH_OPS, TorchSite, one_sample, positions_of_a_batch
from polyfold.network.torch_ops.windows import spatial_axes, with_channels

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
    index, _ = one_sample(site, moved, size(x.shape))
    return placing.gather(site, x, index)


@handles(
    *("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"),
    *("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"),
    becomes="`Combine`",
    limits="by size or factor, with and without align_corners and antialias",
)
def _interpolate(site: TorchSite, x: Value, output_size: Any, align_corners: bool, scale_factors: Any = None) -> Value:
    """What torch does to one axis is a matrix: we let it interpolate the columns of the identity."""
    axes = spatial_axes(site)
    x = with_channels(site, x, axes)
    matrices = []
    for axis, n in enumerate(x.shape[1:]):
        # The other axes have length two and keep it; torch 2.13 gets antialiasing wrong where one has length one.
        shape = [n if k == axis else 2 for k in range(axes)]
        identity = torch.eye(n, dtype=torch.float64).reshape(n, 1, *(n if k == axis else 1 for k in range(axes)))
        sizes = None if output_size is None else [output_size[k] if k == axis else 2 for k in range(axes)]
        factors = None if scale_factors is None else [scale_factors[k] if k == axis else 1.0 for k in range(axes)]
        spread = identity.expand(n, 1, *shape).contiguous()
        columns = (
            site.target(spread, sizes, align_corners, factors).movedim(axis + 2, 1).reshape(n, -1, 2 ** (axes - 1))
        )
        matrices.append(sparse.csr_array(columns[..., 0].T.numpy().copy()))
    return windows.per_axis(site, x, matrices)
