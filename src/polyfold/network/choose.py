"""where(h > c, a, b): read only where it is proved that nothing jumps at h = c.

Proved are two cases: the larger or smaller of the two values that are compared, and two affine functions of h, entry
by entry, that agree at the constant c. A constant condition never jumps. At h = c the choice is the model's own: b for
h > c, a for h >= c.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from polyfold.exact.error_free import quotients_are_exact
from polyfold.network import compose
from polyfold.network.builder import Builder, Constant, Operand, Site, Value
from polyfold.network.ops import Maximum, Minimum, Op, Scale, Shift

ONLY_TO_CHOOSE = (
    "it reads the answer of a comparison, which jumps; only where(h > c, a, b) and a product with it can read one"
)


@dataclass(frozen=True)
class Comparison:
    """Where a computed value is above (or below) another one or a constant; `or_equal`: where they are equal, too."""

    value: Value
    bound: Operand
    above: bool
    or_equal: bool


def compare(left: Operand, right: Operand, *, above: bool, or_equal: bool) -> Comparison:
    """left > right, or left < right, or one of these with equality."""
    if isinstance(left, Value):
        return Comparison(left, right, above, or_equal)
    assert isinstance(right, Value)
    return Comparison(right, left, not above, or_equal)


def choose(site: Site, condition: Comparison, a: Operand, b: Operand) -> Value:
    """a where the condition holds, b elsewhere; refused unless that is continuous."""
    value, bound = condition.value, condition.bound
    on, off = (a, b) if condition.above else (b, a)
    on_where_equal = condition.above == condition.or_equal
    if isinstance(bound, Value):
        # Of equal values these ops take the first one.
        if _same(site.builder, on, value) and _same(site.builder, off, bound):
            pair = [value, bound] if on_where_equal else [bound, value]
            return site.emit(Maximum(), *compose.fit_values(site, pair))
        if _same(site.builder, on, bound) and _same(site.builder, off, value):
            pair = [bound, value] if on_where_equal else [value, bound]
            return site.emit(Minimum(), *compose.fit_values(site, pair))
        site.refuse("it chooses by two computed values something else than the larger or the smaller one of them")
    at = _entrywise(site, value, bound)
    above, below = _affine(site, on, value), _affine(site, off, value)
    if above is None or below is None:
        site.refuse(
            "its two choices are not affine in what is compared, entry by entry, so it may jump; "
            "write it with relu, leaky_relu, clamp, maximum or minimum"
        )
    meeting = above[0] * at + above[1]
    if (meeting != below[0] * at + below[1]).any():
        site.refuse("its two choices differ where it switches, so it jumps there")
    shifted = compose.shift(site, value, -at, part="minus-bound") if at.any() else value
    if on_where_equal:
        # A rectifier gives zero to its second slope: turned around, that is the one above.
        bent = compose.rectify(site, compose.negate(site, shifted, part="negative"), -below[0], -above[0])
    else:
        bent = compose.rectify(site, shifted, above[0], below[0])
    return compose.shift(site, bent, meeting, part="plus-meeting") if meeting.any() else bent


def keep(site: Site, x: Operand | Comparison, y: Operand | Comparison) -> Value | None:
    """A product with the answer of a comparison, which is one or zero; None if there is none in it."""
    comparisons = [item for item in (x, y) if isinstance(item, Comparison)]
    if not comparisons:
        return None
    others = [item for item in (x, y) if not isinstance(item, Comparison)]
    if not others:
        site.refuse("the product of two comparisons jumps")
    return choose(site, comparisons[0], others[0], np.zeros(()))


def select(site: Site, mask: Constant, a: Operand, b: Operand) -> Value:
    """a where a constant mask is one, b where it is zero."""
    on = compose.scale(site, a, mask, part="on") if isinstance(a, Value) else a * mask
    off = compose.scale(site, b, 1 - mask, part="off") if isinstance(b, Value) else b * (1 - mask)
    return compose.add(site, on, off)


def _affine(site: Site, x: Operand, value: Value) -> tuple[Constant, Constant] | None:
    """(slope, offset) with x = slope * value + offset entry by entry, if x was computed that way."""
    if not isinstance(x, Value):
        return np.zeros(()), _entrywise(site, value, x)
    if x.shape != value.shape or x.batch_axis != value.batch_axis:
        return None
    steps: list[Op] = []
    name = x.name
    while not _same_name(site.builder, name, value.name):
        node = site.builder.node(name)
        if node is None or not isinstance(node.op, (Scale, Shift)):
            return None
        steps.append(node.op)
        name = node.inputs[0]
    slope, offset = np.ones(()), np.zeros(())
    for op in reversed(steps):
        if isinstance(op, Scale):
            slope, offset = slope * op.factor, offset * op.factor
            if op.divisor is not None:
                if not (quotients_are_exact(slope, op.divisor) and quotients_are_exact(offset, op.divisor)):
                    site.refuse("one of its choices is divided by a number, and slopes are floats; divide its result")
                slope, offset = slope / op.divisor, offset / op.divisor
        elif isinstance(op, Shift):
            offset = offset + op.offset
    return slope, offset


def _entrywise(site: Site, value: Value, numbers: Constant) -> Constant:
    """A constant as it broadcasts to the value, which must keep its shape."""
    _, fitted = compose.fit_constant(site, value, numbers)
    if fitted.ndim > len(value.shape) or np.broadcast_shapes(fitted.shape, value.shape) != value.shape:
        site.refuse(f"a constant of shape {numbers.shape} does not fit what is compared, of shape {value.shape}")
    return fitted


def _same(builder: Builder, x: Operand, value: Value) -> bool:
    return isinstance(x, Value) and x.batch_axis == value.batch_axis and _same_name(builder, x.name, value.name)


def _same_name(builder: Builder, first: str, second: str) -> bool:
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
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if hasattr(first, "indptr"):
        return first is second
    return bool(first == second)
