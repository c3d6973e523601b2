"""Recurrent layers with ReLU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper

from polyfold.network.read.builder import Operand, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import recurrence
from polyfold.network.read.compose.recurrence import Direction
from polyfold.network.read.folding import arithmetic
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, text
from polyfold.network.read.registry import COMPUTED_WEIGHTS

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
        site.refuse(COMPUTED_WEIGHTS)
    kinds = {text(kind) for kind in activations}
    if kinds != {"Relu"}:
        site.refuse(f"its activation is {' and '.join(sorted(kinds))}, not Relu; give nn.RNN nonlinearity='relu'")
    if clip is not None:
        site.refuse("it clips its states")
    assert layout == 0, "batch_second has changed that"
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
        offsets = arithmetic.add(both[:hidden], both[hidden:])
        sequence, final = recurrence.unroll(
            site, steps_first, Direction(name, matrices[0][side], matrices[1][side], offsets, begin, turned)
        )
        sequences.append(sequence)
        last.append(final)
    # (steps, directions, *batch, features) and (directions, *batch, features)
    states = recurrence.stacked(site, sequences, 1, part="directions")
    final = recurrence.stacked(site, last, 0, part="last")
    return [replace(states, batch_axis=2), replace(final, batch_axis=1)] if states.batched else [states, final]


def batch_second(model: Any) -> Any:
    """The model with every RNN of layout=1 turned into one of layout=0 between transposes: onnxruntime knows no other.

    The model given is left alone.
    """
    if not any(_has_batch_first(node) for node in model.graph.node):
        return model
    turned = onnx.ModelProto()
    turned.CopyFrom(model)
    nodes = list(turned.graph.node)
    del turned.graph.node[:]
    for node in nodes:
        turned.graph.node.extend(_with_batch_second(node) if _has_batch_first(node) else [node])
    return turned


def _has_batch_first(node: Any) -> bool:
    return node.op_type == "RNN" and any(item.name == "layout" and item.i == 1 for item in node.attribute)


def _with_batch_second(node: Any) -> list[Any]:
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    del inner.attribute[:]
    inner.attribute.extend(item for item in node.attribute if item.name != "layout")
    inner.name = node.name or next(name for name in node.output if name)
    before, after = [], []
    for k, name in enumerate(node.input):
        if name and k in (0, 5):
            inner.input[k] = f"{name}@{inner.name}"
            before.append(helper.make_node("Transpose", [name], [inner.input[k]], perm=[1, 0, 2]))
    # (steps, directions, batch, features) and (directions, batch, features)
    for k, (name, order) in enumerate(zip(node.output, ([2, 0, 1, 3], [1, 0, 2]), strict=False)):
        if name:
            inner.output[k] = f"{name}@{inner.name}"
            after.append(helper.make_node("Transpose", [inner.output[k]], [name], perm=order))
    return [*before, inner, *after]


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
