"""A pass through a network that remembers how every op with pieces decided: which side, which winner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.network.graph import Network
from polyfold.network.ops.op import aligned, size
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify

# What an op decided for every row of a batch: entries (n, width). For rectifiers whether the value is positive, for a
# clamp -1, 0 or 1 (below, within, above), for two values whether the first one is taken, for the largest of several
# the entry that won.
Decided = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Passed:
    """The outputs (n, m) at rows of inputs, and what was decided on the way, by the names of the nodes."""

    outputs: Array
    decided: dict[str, Decided]

    def pieces(self) -> Iterator[memoryview]:
        """For every row the bytes of all decisions: rows with the same ones have the same affine map."""
        n = len(self.outputs)
        parts = [_in_bytes(part) for part in self.decided.values()]
        together = np.concatenate([np.zeros((n, 0), dtype=np.uint8), *parts], axis=1)
        width, whole = together.shape[1], memoryview(together.tobytes())
        return (whole[k * width : (k + 1) * width] for k in range(n))


def _in_bytes(decided: Decided) -> npt.NDArray[np.uint8]:
    """Decisions (n, width) as bytes (n, as few as that takes without much thought)."""
    if decided.dtype == np.bool_:
        return np.packbits(decided, axis=1)
    short = decided.astype(np.uint16) if decided.dtype == np.int32 and decided.max(initial=0) < 1 << 16 else decided
    return np.ascontiguousarray(short).view(np.uint8).reshape(len(decided), -1)


def passed(network: Network, rows: Array) -> Passed:
    """Run the network. Ties go where the program's gates send them: of equals the first, zero to the second slope."""
    last = {name: number for number, node in enumerate(network.nodes) for name in node.inputs}
    values: dict[str, Array] = {}
    decided: dict[str, Decided] = {}
    start = 0
    for port in network.inputs:
        values[port.name] = rows[:, start : start + size(port.shape)].reshape(len(rows), *port.shape)
        start += size(port.shape)
    for number, node in enumerate(network.nodes):
        reads = tuple(values[name] for name in node.inputs)
        value: Array | None = None
        match node.op:
            case Rectify():
                on = reads[0] > 0
                decided[node.name] = on.reshape(len(rows), -1)
                value = rectified(node.op, reads[0], on)
            case Clamp():
                decided[node.name] = _side(node.op, reads[0]).reshape(len(rows), -1)
            case Maximum() | Minimum():
                a, b = aligned(reads)
                taken = (a >= b) if isinstance(node.op, Maximum) else (a <= b)
                decided[node.name] = taken.reshape(len(rows), -1)
            case Largest():
                value, decided[node.name] = _largest(node.op, reads[0])
        values[node.name] = node.op.evaluate(*reads) if value is None else value
        for name in node.inputs:
            if last[name] == number and name not in network.outputs:
                values.pop(name, None)
    outputs = [values[name].reshape(len(rows), -1) for name in network.outputs]
    return Passed(np.concatenate(outputs, axis=1), decided)


def _side(op: Clamp, x: Array) -> Decided:
    """Where a clamp holds x: -1 at the lower bound, 1 at the upper one, 0 in between."""
    if op.low >= op.high:
        return np.ones(x.shape, dtype=np.int8)
    if op.flat_at_bounds:
        return (x >= op.high).astype(np.int8) - (x <= op.low)
    return (x > op.high).astype(np.int8) - (x < op.low)


def rectified(op: Rectify, x: Array, on: npt.NDArray[np.bool_]) -> Array:
    """What a rectifier makes of x; the common kind without multiplying."""
    if is_relu(op):
        return np.where(on, x, 0.0)
    return np.asarray(x * np.where(on, op.slope_on, op.slope_off))


def is_relu(op: Rectify) -> bool:
    """Whether it passes on what is positive, and nothing else."""
    return bool((op.slope_on == 1).all() and (op.slope_off == 0).all())


def _largest(op: Largest, x: Array) -> tuple[Array, Decided]:
    """The maxima, and which entry of the flattened value each of them is."""
    flat = x.reshape(len(x), -1)
    members = np.where(op.members < 0, op.members[..., :1], op.members).reshape(-1, op.members.shape[-1])
    best = flat[:, members[:, 0]]
    winner = np.broadcast_to(members[:, 0].astype(np.int32), best.shape).copy()
    for column in members.T[1:]:
        other = flat[:, column]
        better = other > best
        np.copyto(best, other, where=better)
        np.copyto(winner, np.broadcast_to(column.astype(np.int32), best.shape), where=better)
    return best.reshape(len(x), *op.members.shape[:-1]), winner
