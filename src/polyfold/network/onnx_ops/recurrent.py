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
    limits="activation Relu; unrolled for the given length; all directions, layout=0; the first state zero, constant "
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
    if layout:
        site.refuse("onnxruntime does not know layout=1, so that it could not be compared; export it with layout=0")
    steps_first = _steps_first(site, x)
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
        begin = _start(site, start, side, steps_first, f"{name}.start")
        offsets = both[:hidden] + both[hidden:]
        sequence, final = recurrence.unroll(
            site, steps_first, Direction(name, matrices[0][side], matrices[1][side], offsets, begin, turned)
        )
        sequences.append(sequence)
        last.append(final)
    # (steps, directions, *batch, features) and (directions, *batch, features)
    states = recurrence.stacked(site, sequences, 1, part="directions")
    final = recurrence.stacked(site, last, 0, part="last")
    return [replace(states, batch_axis=2), replace(final, batch_axis=1)] if states.batched else [states, final]


def _steps_first(site: OnnxSite, x: Value) -> Value:
    """The input as (steps, features), or as (steps, batch, features) if it has no batch axis of its own."""
    if x.rank != 3:
        site.refuse(f"its input has {x.rank} axes instead of three")
    if x.batched and x.batch_axis == 1:
        return replace(x, batch_axis=0)
    return site.unbatch(x)


def _start(site: OnnxSite, start: Any, side: int, like: Value, part: str) -> Operand | None:
    """The first state of one direction from ONNX's (directions, batch, features)."""
    if start is None:
        return None
    if isinstance(start, Value):
        if not (like.batched and start.batched):
            start = site.unbatch(start)
        elif start.batch_axis != 1:
            site.refuse("its first state must have the batch as its second axis")
        return compose.rearrange(site, replace(start, batch_axis=0), compose.positions(start.shape)[side], part=part)
    numbers = np.asarray(start, dtype=np.float64)[side]
    if like.batched:
        return recurrence.same_state(site, numbers)
    return numbers if numbers.any() else None
