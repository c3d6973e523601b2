"""Recurrent layers with ReLU, unrolled: every step becomes nodes of its own.

A sequence is (steps, *rest, features), a state (*rest, features).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyfold.network.ops.linear import Add
from polyfold.network.ops.movement import Concat
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.folding import arithmetic


@dataclass(frozen=True)
class Direction:
    """One direction of one layer: h' = relu(W x + R h + b), from the state `start` (None is zero)."""

    name: str
    input_weight: Constant
    state_weight: Constant
    bias: Constant
    start: Operand | None
    backwards: bool


def step(site: Site, drive: Value, state: Operand | None, direction: Direction, part: str) -> Value:
    """The next state; `drive` is the input's part of it, bias included."""
    if isinstance(state, Value):
        fed = compose.linear(site, state, direction.state_weight, part=f"{part}.state")
        drive = site.emit(Add(), drive, fed, part=f"{part}.sum")
    elif state is not None:
        constant = arithmetic.matmul(state, direction.state_weight.T)
        drive = compose.shift(site, drive, constant, part=f"{part}.state")
    name = f"{site.name}.{part}" if part else site.name
    return compose.relu(replace(site, name=name), drive)


def unroll(site: Site, sequence: Value, direction: Direction) -> tuple[Value, Value]:
    """All states as a sequence, and the last one in the order of computing."""
    drive = compose.linear(site, sequence, direction.input_weight, direction.bias, part=f"{direction.name}.input")
    where = compose.positions(drive.shape)
    order = range(len(where))
    states: dict[int, Value] = {}
    state = direction.start
    for t in reversed(order) if direction.backwards else order:
        part = f"{direction.name}.step{t}"
        piece = compose.rearrange(site, drive, where[t], part=f"{part}.input")
        state = states[t] = step(site, piece, state, direction, part)
    assert isinstance(state, Value)
    return stacked(site, [states[t] for t in order], 0, part=direction.name), state


def stacked(site: Site, values: Sequence[Value], axis: int, part: str) -> Value:
    """Values of one shape along a new axis."""
    shape = values[0].shape
    raised = [compose.reshape(site, value, (*shape[:axis], 1, *shape[axis:]), part=f"{part}.row") for value in values]
    return raised[0] if len(raised) == 1 else site.emit(Concat(axis), *raised, part=part)


def side_by_side(site: Site, values: Sequence[Value], part: str) -> Value:
    """Values along their last axis."""
    return values[0] if len(values) == 1 else site.emit(Concat(len(values[0].shape) - 1), *values, part=part)


def same_state(site: Site, start: Constant) -> Constant | None:
    """A constant state (samples, features) as one sample's; None if it is zero."""
    if not start.any():
        return None
    if not (start == start[:1]).all():
        site.refuse("its first state differs from sample to sample")
    return np.asarray(start[0])
