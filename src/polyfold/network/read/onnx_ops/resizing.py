"""Padding and interpolation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.exact.near import Near
from polyfold.exact.rational import fraction
from polyfold.exact.reals import reals
from polyfold.network.read import windows
from polyfold.network.read.builder import Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import resample
from polyfold.network.read.compose.interpolation import Axis, interpolate
from polyfold.network.read.folding.onnx_constants import exact_of
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, full_shape, text, with_channels

handles = ONNX_OPS.family("Padding and interpolation")

PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@handles(
    "Pad",
    becomes="`Take`, or `Combine` and `Shift` for constants",
    limits="not along the batch axis",
    one_computed="how much it pads, or with what, depends on the network's input",
)
def _pad(
    site: OnnxSite,
    x: Value,
    amounts: Any = None,
    fill: Any = None,
    axes: Any = None,
    *,
    mode: Any = b"constant",
    pads: Any = None,
    paddings: Any = None,
    value: float = 0.0,
) -> Value:
    given = next((item for item in (amounts, pads, paddings) if item is not None), ())
    kind = text(mode)
    if kind not in PAD_MODES:
        site.refuse(f"its mode {kind!r} is unknown")
    numbers = [int(n) for n in given]
    chosen = list(range(x.rank)) if axes is None else [int(axis) % x.rank for axis in axes]
    around = [(0, 0)] * x.rank
    for k, axis in enumerate(chosen):
        around[axis] = (numbers[k], numbers[len(chosen) + k])
    if x.batched:
        if around[0] == (0, 0):
            around = around[1:]
        else:
            x = site.unbatch(x)
    constant = value if fill is None or not np.size(fill) else float(np.ravel(fill)[0])
    return windows.pad(site, x, around, PAD_MODES[kind], constant)


@handles(
    *("Resize", "Upsample"),
    becomes="`Take` for nearest, else `Combine`",
    limits="nearest, linear and cubic, with all coordinate modes but tf_crop_and_resize, and without antialias",
    exact=True,
    one_computed="its sizes depend on the network's input",
)
def _resize(site: OnnxSite, x: Value, *rest: Any, **options: Any) -> Value:
    if site.op == "Upsample" or site.opset < 11:
        scales = options.get("scales") if not rest else rest[0]
        # Before version 11 coordinates were simply divided and rounded down.
        settings = resample.Settings(text(options.get("mode", b"nearest")), "asymmetric", "floor")
        return _resized(site, x, _fractions(site, scales), None, settings)
    _, scales, sizes = (*rest, None, None, None)[:3]
    settings = resample.Settings(
        text(options.get("mode", b"nearest")),
        text(options.get("coordinate_transformation_mode", b"half_pixel")),
        text(options.get("nearest_mode", b"round_prefer_floor")),
        Fraction(options.get("cubic_coeff_a", -0.75)),
        bool(options.get("exclude_outside", 0)),
    )
    if options.get("antialias"):
        site.refuse("it has antialias=1")
    if settings.coordinates not in resample.COORDINATES:
        site.refuse(f"its coordinate_transformation_mode {settings.coordinates!r} is not supported")
    if settings.mode not in ("nearest", "linear", "cubic"):
        site.refuse(f"its mode {settings.mode!r} is not supported")
    if settings.nearest not in resample.ROUNDING:
        site.refuse(f"its nearest_mode {settings.nearest!r} is unknown")
    axes = options.get("axes")
    chosen = list(range(x.rank)) if axes is None else [int(axis) % x.rank for axis in axes]
    before = full_shape(x)
    factors, after = [Fraction(1)] * x.rank, list(before)
    if scales is not None and np.size(scales):
        for axis, factor in zip(chosen, _fractions(site, scales), strict=True):
            factors[axis] = factor
        after = [floor(n * f) for n, f in zip(before, factors, strict=True)]
    else:
        wanted = _wanted(
            [int(n) for n in sizes],
            [before[k] for k in chosen],
            text(options.get("keep_aspect_ratio_policy", b"stretch")),
        )
        for axis, (n, factor) in zip(chosen, wanted, strict=True):
            after[axis], factors[axis] = n, factor
    return _resized(site, x, factors, after, settings)


def _fractions(site: OnnxSite, scales: Any) -> list[Fraction]:
    """Scales as the numbers that they are."""
    numbers = reals(exact_of(scales)).ravel().tolist()
    if any(isinstance(scale, Near) for scale in numbers):
        site.refuse("its scales are irrational")
    return [fraction(scale) for scale in numbers]


def _wanted(sizes: list[int], before: list[int], policy: str) -> list[tuple[int, Fraction]]:
    """Length and factor of every axis that is given by its size."""
    factors = [Fraction(n, m) for n, m in zip(sizes, before, strict=True)]
    if policy == "stretch":
        return list(zip(sizes, factors, strict=True))
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [(floor(factor * m + Fraction(1, 2)), factor) for m in before]


def _resized(
    site: OnnxSite, x: Value, factors: list[Fraction], after: list[int] | None, settings: resample.Settings
) -> Value:
    """The spatial axes resized, the others left as they are."""
    if len(factors) != x.rank:
        site.refuse(f"it has {len(factors)} scales for {x.rank} axes")
    lengths = after or [floor(n * f) for n, f in zip(full_shape(x), factors, strict=True)]
    unchanged = [n == m and f == 1 for n, m, f in zip(full_shape(x), lengths, factors, strict=True)]
    if x.rank >= 3 and all(unchanged[:2]):
        sample, first = with_channels(site, x), 2
    elif unchanged[0] and x.batched:
        # Channels are resized as well, or stand last: a channel axis of length one in front changes nothing.
        sample, first = compose.reshape(site, x, (1, *x.shape), part="channel"), 1
    else:
        site.refuse("it resizes the batch axis (the first one)")
    axes = list(zip(sample.shape[1:], lengths[first:], factors[first:], strict=True))
    if settings.mode == "nearest":
        index = compose.positions(sample.shape)
        for number, axis in enumerate(axes):
            index = np.take(index, _nearest(site, *axis, settings), axis=number + 1)
        resized = compose.rearrange(site, sample, index)
    else:
        rows = [Axis(axis[0], resample.weights(*axis, settings)) for axis in axes]
        resized = interpolate(site, sample, rows)
    if first == 2:
        return resized
    return replace(compose.reshape(site, resized, resized.shape[1:], part="shape"), batched=True)


def _nearest(
    site: OnnxSite, before: int, after: int, factor: Fraction, settings: resample.Settings
) -> npt.NDArray[np.int64]:
    """The places that runtimes take. Where rounded coordinates decide, the network says so."""
    taken = resample.nearest(before, after, factor, settings, np.float32)
    exact = resample.nearest(before, after, factor, settings)
    if not np.array_equal(taken, exact):
        new = int(np.flatnonzero(taken != exact)[0])
        site.builder.note(
            f"node {site.name!r} ({site.op}) takes entry {int(taken[new])} of {before} for entry {new}, as runtimes do "
            f"whose coordinates are rounded to float32; by coordinates that are not, it would take {int(exact[new])}"
        )
    return taken
