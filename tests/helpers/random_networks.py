"""A Hypothesis strategy for small random networks over all ops: branches, broadcasting, odd shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from polyfold.network import Network
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Add, Linear, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op, constant, size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Builder, Value

Draw = Callable[[Any], Any]

# Few distinct numbers, zeros among them: equal slopes, dead rows and constant gates should turn up.
NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.25, 1.0, 1.0, 3.0])


def numbers(draw: Draw, shape: tuple[int, ...]) -> Any:
    return constant(draw(st.lists(NUMBERS, min_size=size(shape), max_size=size(shape)))).reshape(shape)


def unary(draw: Draw, x: Value) -> Op:
    """An op that x fits into."""
    kind = draw(st.sampled_from(["linear", "scale", "shift", "reshape", "take", "rectify", "rectify", "clamp"]))
    if kind == "linear" and x.shape:
        outputs = draw(st.integers(1, 4))
        return Linear(numbers(draw, (outputs, x.shape[-1])), numbers(draw, (outputs,)))
    if kind in ("scale", "shift"):
        tail = x.shape[draw(st.integers(0, len(x.shape))) :]
        taller = draw(st.booleans()) and size(x.shape) <= 4
        values = numbers(draw, (2, *([1] * (len(x.shape) - len(tail))), *tail) if taller else tail)
        return Scale(values) if kind == "scale" else Shift(values)
    if kind == "reshape":
        n = size(x.shape)
        return Reshape(draw(st.sampled_from([(n,), (1, n), (n, 1), *([(n // 2, 2)] if n % 2 == 0 else [])])))
    if kind == "take":
        shape = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
        index = draw(st.lists(st.integers(0, size(x.shape) - 1), min_size=size(shape), max_size=size(shape)))
        return Take(np.array(index, dtype=np.int64).reshape(shape))
    if kind == "clamp":
        low = draw(st.sampled_from([-np.inf, -1.0, 0.0]))
        return Clamp(low, draw(st.sampled_from([-2.0, 0.5, 2.0, np.inf])))
    return Rectify(numbers(draw, ()), numbers(draw, x.shape[-1:]))


def spatial(draw: Draw, x: Value) -> Op:
    """A convolution, its transpose, a fixed combination or a pool that x fits into."""
    kind = draw(st.sampled_from(["convolution", "transposed", "combine", "largest"]))
    if kind in ("convolution", "transposed") and len(x.shape) >= 2:
        channels, *space = x.shape
        groups = draw(st.sampled_from([1, channels]))
        window = [draw(st.integers(1, min(2, n))) for n in space]
        moved = Window(
            stride=tuple(draw(st.integers(1, 2)) for _ in space),
            padding=tuple((draw(st.integers(0, 1)), draw(st.integers(0, 1))) for _ in space),
            dilation=(1,) * len(space),
            groups=groups,
        )
        if kind == "convolution":
            outputs = groups * draw(st.integers(1, 2))
            kernel = numbers(draw, (outputs, channels // groups, *window))
            return Convolution(kernel, numbers(draw, (outputs,)), moved)
        kernel = numbers(draw, (channels, draw(st.integers(1, 2)), *window))
        grown = tuple(
            (n - 1) * s + k - sum(p) for n, s, k, p in zip(space, moved.stride, window, moved.padding, strict=True)
        )
        if min(grown) > 0:
            return TransposedConvolution(kernel, numbers(draw, (kernel.shape[1] * groups,)), moved, grown)
    outputs = draw(st.integers(1, 4))
    if kind == "combine":
        return Combine(sparse.csr_array(numbers(draw, (outputs, size(x.shape)))), (outputs,))
    members = draw(st.lists(st.permutations(range(size(x.shape))), min_size=outputs, max_size=outputs))
    counts = [draw(st.integers(1, size(x.shape))) for _ in members]
    table = [[*some[:count], *([-1] * (size(x.shape) - count))] for some, count in zip(members, counts, strict=True)]
    return Largest(np.array(table, dtype=np.int64))


def fitting(x: Value, y: Value) -> bool:
    try:
        return size(np.broadcast_shapes(x.shape, y.shape)) <= 16
    except ValueError:
        return False


@st.composite
def networks(draw: Draw, *, with_spatial: bool = False) -> Network:
    """One or two inputs, up to twelve nodes, one or two outputs."""
    builder = Builder("arrays")
    values = [
        builder.port(f"x{k}", draw(st.sampled_from([(2,), (3,), (2, 2)]))) for k in range(draw(st.integers(1, 2)))
    ]
    for _ in range(draw(st.integers(1, 12))):
        x, y = draw(st.sampled_from(values[-4:])), draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["one", "one", "two", "concat", *(["spatial"] * 3 if with_spatial else [])]))
        if kind == "two" and fitting(x, y):
            values.append(builder.emit("node", draw(st.sampled_from([Add(), Subtract(), Maximum(), Minimum()])), x, y))
        elif kind == "concat" and x.shape and x.shape[1:] == y.shape[1:] and len(x.shape) == len(y.shape):
            values.append(builder.emit("node", Concat(0), x, y))
        elif kind == "spatial" and x.shape and size(x.shape) <= 16:
            values.append(builder.emit("node", spatial(draw, x), x))
        elif size(x.shape) <= 16:
            values.append(builder.emit("node", unary(draw, x), x))
    return builder.finish([values[-1], *draw(st.lists(st.sampled_from(values), max_size=1))])
