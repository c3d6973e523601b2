"""Recurrent layers with ReLU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.network import compose, recurrence
from polyfold.network.builder import Operand, Value
from polyfold.network.onnx_ops.site import ONNX_OPS, OnnxSite, text
from polyfold.network.recurrence import Direction

handles = ONNX_OPS.family("Recurrent layers")


@handles(
    "RNN",
    becomes="`Linear`, `Add`, `Rectify`, `Concat` for every step",
    limits="activation Relu; unrolled for the given length; all directions and layouts; the first state zero, constant "
    "or computed",
    batch_anywhere=True,
)
def _rnn(
    site: OnnxSite,
    x: Any,
    weight: Any,
    recurrence_weight: Any,
    bias: Any = None,
    lengths: Any = None,
    start: Any = None,
    *,
    activations: Any = (b"Tanh",),
    direction: Any = b"forward",
    layout: int = 0,
    clip: float | None = None,
    **rest: Any,
) -> list[Value]:
    if not isinstance(x, Value) or any(isinstance(item, Value) for item in (weight, recurrence_weight, bias, lengths)):
        site.refuse("its weights are computed from the network's input")
    kinds = {text(kind) for kind in activations}
    if kinds != {"Relu"}:
        site.refuse(f"its activation is {' and '.join(sorted(kinds))}, not Relu; give nn.RNN nonlinearity='relu'")
    if clip is not None:
        site.refuse("it clips its states")
    steps_first, batch_axis = _steps_first(site, x, layout)
    if lengths is not None and (np.asarray(lengths) != steps_first.shape[0]).any():
        site.refuse(f"its sequence_lens {np.ravel(lengths).tolist()} are shorter than the input")
    way = text(direction)
    backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[way]
    matrices = [np.asarray(item, dtype=np.float64) for item in (weight, recurrence_weight)]
    sequences, last = [], []
    for side, turned in enumerate(backwards):
        name = "reverse" if turned else "forward"
        hidden = matrices[1].shape[2]
        both = np.zeros(2 * hidden) if bias is None else np.asarray(bias, dtype=np.float64)[side]
        begin = _start(site, start, side, layout, steps_first, f"{name}.start")
        offsets = both[:hidden] + both[hidden:]
        sequence, final = recurrence.unroll(
            site, steps_first, Direction(name, matrices[0][side], matrices[1][side], offsets, begin, turned)
        )
        sequences.append(sequence)
        last.append(final)
    # (steps, directions, *batch, features) and (directions, *batch, features)
    states = recurrence.stacked(site, sequences, 1, part="directions")
    final = recurrence.stacked(site, last, 0, part="last")
    if batch_axis is None:
        return [_moved(site, states, 2, layout, "states"), _moved(site, final, 1, layout, "final")]
    if layout:
        return [replace(states, batch_axis=0), replace(final, batch_axis=0)]
    return [replace(states, batch_axis=2), replace(final, batch_axis=1)]


def _steps_first(site: OnnxSite, x: Value, layout: int) -> tuple[Value, int | None]:
    """The input as (steps, features), or as (steps, batch, features) without a batch axis of its own (None)."""
    if x.rank != 3:
        site.refuse(f"its input has {x.rank} axes instead of three")
    batch_axis = 0 if layout else 1
    if x.batched and x.batch_axis == batch_axis:
        return replace(x, batch_axis=0), batch_axis
    whole = site.unbatch(x)
    if layout:
        whole = compose.rearrange(site, whole, np.swapaxes(compose.positions(whole.shape), 0, 1), part="steps")
    return whole, None


def _moved(site: OnnxSite, value: Value, axis: int, layout: int, part: str) -> Value:
    """With layout 1 the batch axis stands in front."""
    if not layout:
        return value
    return compose.rearrange(site, value, np.moveaxis(compose.positions(value.shape), axis, 0), part=part)


def _start(site: OnnxSite, start: Any, side: int, layout: int, like: Value, part: str) -> Operand | None:
    """The first state of one direction from ONNX's (directions, batch, features), or batch first with layout 1."""
    if start is None:
        return None
    if isinstance(start, Value):
        if not (like.batched and start.batched) and (like.batched or start.batched):
            start = site.unbatch(start)
        if start.batched and start.batch_axis != (0 if layout else 1):
            site.refuse("its first state must have the batch axis where its input has it")
        directions = 1 if layout and not start.batched else 0
        where = np.take(compose.positions(start.shape), side, axis=directions)
        return compose.rearrange(site, replace(start, batch_axis=0), where, part=part)
    numbers = np.asarray(start, dtype=np.float64)
    one = numbers[:, side] if layout else numbers[side]
    if like.batched:
        return recurrence.same_state(site, one)
    return one if one.any() else None
