"""Whether two networks are the same steps with the same constants, whatever their names and wherever they are from."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from polyfold.exact.reals import are_reals
from polyfold.network.graph import Network
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.op import Op, Shape

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


def differing_constants(a: Network, b: Network) -> tuple[str, ...] | None:
    """The numbers in which two networks differ, in words; None if they differ in more than numbers."""
    (steps, outputs), (other_steps, other_outputs) = _steps(a), _steps(b)
    if (a.input_dim, outputs, len(steps), a.head) != (b.input_dim, other_outputs, len(other_steps), b.head):
        return None
    names = [node.name for node in a.nodes if not isinstance(node.op, Reshape)]
    found: list[str] = []
    for name, (op, reads), (other, other_reads) in zip(names, steps, other_steps, strict=True):
        if reads != other_reads or type(op) is not type(other):
            return None
        for field in fields(op):
            one, two = getattr(op, field.name), getattr(other, field.name)
            if _same(one, two):
                continue
            words = _difference_of(one, two)
            if words is None:
                return None
            found.append(f"{name!r}: {field.name} {words}")
    return tuple(found)


def _difference_of(one: Any, two: Any) -> str | None:
    """How two constants differ; None if not just by their numbers."""
    if isinstance(one, float) and isinstance(two, float):
        return f"is {one!r} in the first and {two!r} in the second{_float32(one, two)}"
    if not isinstance(one, np.ndarray) or not isinstance(two, np.ndarray) or _kind(one) != _kind(two):
        return None
    count = int((one != two).sum())
    if are_reals(one):
        return f"differs in {count:,} of {one.size:,} entries, which are no floats"
    if one.size == 1:
        return _difference_of(float(one.ravel()[0]), float(two.ravel()[0]))
    apart = np.abs(one - two)
    place = tuple(int(k) for k in np.unravel_index(int(apart.argmax()), one.shape))
    where = ", ".join(map(str, place))
    return (
        f"differs in {count:,} of {one.size:,} entries, most at [{where}]: {float(one[place])!r} in the first and "
        f"{float(two[place])!r} in the second{_float32(one, two)}"
    )


def _kind(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return array.shape, array.dtype


def _float32(one: Any, two: Any) -> str:
    """Whether the one is the other in float32, as files of that type hold it."""
    with np.errstate(over="ignore"):
        nearest, other = np.float32(one), np.float32(two)
    if np.array_equal(nearest.astype(np.float64), two):
        return " (the first rounded to float32)"
    return " (the second rounded to float32)" if np.array_equal(other.astype(np.float64), one) else ""


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
