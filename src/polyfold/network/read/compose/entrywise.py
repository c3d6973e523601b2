"""Functions of one value, entry by entry: found in a network under construction, computed in fractions, and written
once more for another value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.network.ops.linear import Add, Scale, Shift, Subtract
from polyfold.network.ops.op import Op
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Builder, Constant, Operand, Site, Value

Fractions = npt.NDArray[Any]

AFFINE = (Scale, Shift, Add, Subtract)
_ENTRYWISE = (*AFFINE, Rectify, Clamp, Maximum, Minimum)


@dataclass(frozen=True, eq=False)
class Entrywise:
    """A function of `value`: nodes in the order in which they are computed, the last of them the result.

    Without nodes it is the value itself, or a constant.
    """

    value: Value
    nodes: tuple[tuple[str, Op, tuple[str, ...]], ...] = ()
    constant: Constant | None = None

    @property
    def affine(self) -> bool:
        """Whether it has no bend."""
        return all(isinstance(op, AFFINE) for _, op, _ in self.nodes)

    def at(self, entries: Fractions) -> Fractions:
        """The function in fractions, where the value has these entries."""
        if self.constant is not None:
            return fractions(self.constant)
        known = {self.value.name: entries}
        for name, op, reads in self.nodes:
            known[name] = _computed(op, [known[read] for read in reads])
        return known[self.nodes[-1][0]] if self.nodes else entries

    def of(self, site: Site, other: Value, part: str) -> Operand:
        """The same function of another value, as nodes of their own."""
        if self.constant is not None:
            return self.constant
        known = {self.value.name: other}
        for number, (name, op, reads) in enumerate(self.nodes):
            known[name] = site.emit(op, *(known[read] for read in reads), part=f"{part}{number}")
        return known[self.nodes[-1][0]] if self.nodes else other


def entrywise(builder: Builder, x: Operand, value: Value) -> Entrywise | None:
    """x as a function of the value; None if it was not computed from it entry by entry."""
    if not isinstance(x, Value):
        return Entrywise(value, constant=x)
    if x.shape != value.shape or x.batched != value.batched or x.batch_axis != value.batch_axis:
        return None
    found: dict[str, tuple[str, Op, tuple[str, ...]]] = {}
    leaves: dict[str, bool] = {}

    def known(name: str) -> bool:
        return name in found or leaves.setdefault(name, same_name(builder, name, value.name))

    waiting = [x.name]
    while waiting:
        name = waiting[-1]
        if known(name):
            waiting.pop()
            continue
        node = builder.node(name)
        if node is None or not isinstance(node.op, _ENTRYWISE) or builder.shape(name) != value.shape:
            return None
        later = [read for read in node.inputs if not known(read)]
        if later:
            waiting += later
            continue
        reads = tuple(value.name if leaves.get(read) else read for read in node.inputs)
        found[name] = (name, node.op, reads)
    return Entrywise(value, tuple(found.values()))


def fractions(numbers: Any) -> Fractions:
    """Floats as fractions, which they are."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(np.asarray(numbers, dtype=np.float64)), dtype=object)


def exact_floats(numbers: Fractions) -> Constant | None:
    """Fractions as floats, if all of them are floats."""
    try:
        floats = np.asarray(numbers, dtype=np.float64)
    except OverflowError:
        return None
    return floats if np.isfinite(floats).all() and np.all(fractions(floats) == numbers) else None


def _computed(op: Op, values: list[Fractions]) -> Fractions:
    x = values[0]
    if isinstance(op, Scale):
        scaled = x * fractions(op.factor)
        return np.asarray(scaled if op.divisor is None else scaled / fractions(op.divisor))
    if isinstance(op, Shift):
        return np.asarray(x + fractions(op.offset))
    if isinstance(op, Rectify):
        return np.asarray(x * np.where(np.asarray(x > 0, dtype=bool), fractions(op.slope_on), fractions(op.slope_off)))
    if isinstance(op, Clamp):
        above = x if op.low == -np.inf else np.maximum(x, fractions(op.low))
        return np.asarray(above if op.high == np.inf else np.minimum(above, fractions(op.high)))
    combine = {Add: np.add, Subtract: np.subtract, Maximum: np.maximum, Minimum: np.minimum}[type(op)]
    return np.asarray(combine(*values))


def same_name(builder: Builder, first: str, second: str) -> bool:
    """Whether two values are computed alike: a model may write the same expression twice."""
    waiting, seen = [(first, second)], set()
    while waiting:
        pair = waiting.pop()
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        nodes = [builder.node(name) for name in pair]
        if nodes[0] is None or nodes[1] is None or not _same_op(nodes[0].op, nodes[1].op):
            return False
        if len(nodes[0].inputs) != len(nodes[1].inputs):
            return False
        waiting.extend(zip(nodes[0].inputs, nodes[1].inputs, strict=True))
    return True


def _same_op(first: Op, second: Op) -> bool:
    if type(first) is not type(second):
        return False
    return all(_same_field(getattr(first, field.name), getattr(second, field.name)) for field in fields(first))


def _same_field(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and np.array_equal(first, second)
    if hasattr(first, "indptr"):
        return first is second
    return bool(first == second)
