"""Recurrent layers with ReLU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from polyfold.network.read.builder import Operand, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import recurrence
from polyfold.network.read.compose.recurrence import Direction
from polyfold.network.read.folding import arithmetic
from polyfold.network.read.registry import COMPUTED_WEIGHTS, values_in
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite, array

handles = TORCH_OPS.family("Recurrent layers", needs_batch=True)


@handles(
    "rnn_relu",
    becomes="`Linear`, `Add`, `Rectify`, `Concat` for every step",
    limits="unrolled for the given length; several layers, both directions, both batch_first; the first state zero, "
    "constant or computed",
    batch_anywhere=True,
)
def _rnn(
    site: TorchSite,
    x: Any,
    start: Any,
    weights: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Value, Value]:
    if not isinstance(x, Value) or any(values_in(list(weights))):
        site.refuse(COMPUTED_WEIGHTS)
    batch_axis = 0 if batch_first else 1
    if x.rank != 3 or x.batch_axis != batch_axis:
        site.refuse(
            "it reads the batch axis (the first one) as time; give nn.RNN batch_first=True, or transpose its input, "
            "and check input_shape=(steps, features)"
        )
    if train and dropout:
        site.refuse("it drops values at random even in evaluation mode")
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    sequence = replace(x, batch_axis=0)
    last: list[Value] = []
    for layer in range(num_layers):
        outputs = []
        for side in range(directions):
            number = layer * directions + side
            name = f"layer{layer}" + (".reverse" if side else "")
            numbers = [array(item) for item in weights[number * each : (number + 1) * each]]
            bias = arithmetic.add(numbers[2], numbers[3]) if has_biases else np.zeros(len(numbers[0]))
            begin = _start(site, start, number, f"{name}.start")
            direction = Direction(name, numbers[0], numbers[1], bias, begin, backwards=bool(side))
            states, final = recurrence.unroll(site, sequence, direction)
            outputs.append(states)
            last.append(final)
        sequence = recurrence.side_by_side(site, outputs, part=f"layer{layer}.both")
    states = replace(sequence, batch_axis=batch_axis)
    return states, replace(recurrence.stacked(site, last, 0, part="last"), batch_axis=1)


def _start(site: TorchSite, start: Any, number: int, part: str) -> Operand | None:
    """The first state of one direction from torch's (directions, batch, features)."""
    if not isinstance(start, Value):
        return recurrence.same_state(site, array(start)[number])
    if start.rank != 3 or start.batch_axis != 1:
        site.refuse("its first state must be (layers and directions, batch, features)")
    sample = replace(start, batch_axis=0)
    return compose.rearrange(site, sample, compose.positions(start.shape)[number], part=part)


@handles("rnn_relu_cell", becomes="`Linear`, `Add`, `Rectify`", limits="constant weights")
def _cell(
    site: TorchSite,
    x: Any,
    start: Any,
    input_weight: Any,
    state_weight: Any,
    input_bias: Any = None,
    state_bias: Any = None,
) -> Value:
    if any(values_in([input_weight, state_weight, input_bias, state_bias])) or not isinstance(x, Value):
        site.refuse(COMPUTED_WEIGHTS)
    biases = [array(bias) for bias in (input_bias, state_bias) if bias is not None]
    bias = reduce(arithmetic.add, biases, np.zeros(len(array(input_weight))))
    state = start if isinstance(start, Value) else recurrence.same_state(site, array(start))
    direction = Direction("", array(input_weight), array(state_weight), bias, state, backwards=False)
    drive = compose.linear(site, x, direction.input_weight, bias, part="input")
    return recurrence.step(site, drive, state, direction, part="")
