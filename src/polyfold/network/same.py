"""Whether two networks are the same steps with the same constants, whatever their names and wherever they are from."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from polyfold.network.graph import Network
from polyfold.network.ops import Op, Reshape, Shape

# An operation, and the numbers and shapes of the values that it reads.
_Step = tuple[Op, list[tuple[int, Shape]]]


def same_networks(a: Network, b: Network) -> bool:
    """True if they surely are one function: step by step the same, reshapes apart."""
    (steps, outputs), (other_steps, other_outputs) = _steps(a), _steps(b)
    if (a.input_dim, outputs, len(steps), a.head) != (b.input_dim, other_outputs, len(other_steps), b.head):
        return False
    return all(
        reads == other_reads and _same(op, other)
        for (op, reads), (other, other_reads) in zip(steps, other_steps, strict=True)
    )


def _steps(network: Network) -> tuple[list[_Step], list[int]]:
    number = {port.name: -1 - i for i, port in enumerate(network.inputs)}
    steps: list[_Step] = []
    for node in network.nodes:
        if isinstance(node.op, Reshape):
            number[node.name] = number[node.inputs[0]]
            continue
        number[node.name] = len(steps)
        steps.append((node.op, [(number[name], network.shapes[name]) for name in node.inputs]))
    return steps, [number[name] for name in network.outputs]


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(_same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if hasattr(one, "tocsr"):
        return one.shape == other.shape and not (one != other).nnz
    return bool(one == other)
