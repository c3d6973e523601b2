"""where(h > c, a, b): read only where it is proved that nothing jumps at h = c.

Proved are two cases: the larger or smaller of the two values that are compared, and two piecewise-linear functions of
h, entry by entry, that agree at the constant c, exactly. They may bend elsewhere, so that choices may hold choices. A
constant condition never jumps. At h = c the choice is the model's own: b for h > c, a for h >= c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polyfold.network.ops.switches import Maximum, Minimum
from polyfold.network.read.builder import Builder, Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose.entrywise import Entrywise, Fractions, entrywise, exact_floats, fractions, same_name

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
        value, bound = compose.subtract(replace(site, name=f"{site.name}.difference"), value, bound), np.zeros(())
    at = _entrywise(site, value, bound)
    above, below = (_function(site, choice, value) for choice in (on, off))
    if above is None or below is None:
        site.refuse(
            "its two choices are not computed from what is compared alone, entry by entry, so it may jump; "
            "write it with relu, leaky_relu, clamp, maximum or minimum"
        )
    where = fractions(at)
    meeting = above.at(where)
    if np.any(meeting != below.at(where)):
        site.refuse("its two choices differ where it switches, so it jumps there")
    bent = _rectified(site, value, at, meeting, above, below, on_where_equal)
    if bent is not None:
        return bent
    # below(h) + (above - below)(max(h, c)): nothing is added where h < c, because the two meet at c.
    inner = replace(site, name=f"{site.name}.beyond")
    beyond = _at_least(inner, value, at, on_where_equal)
    parts = [function.of(site, beyond, f"{word}.") for word, function in (("above", above), ("below", below))]
    if isinstance(parts[0], Value) or isinstance(parts[1], Value):
        step = compose.subtract(inner, parts[0], parts[1])
    else:
        # Two constants that meet are one.
        return compose.shift(site, compose.scale(site, value, np.zeros(()), part="zero"), parts[1])
    return compose.add(site, below.of(site, value, "elsewhere."), step)


def _at_least(site: Site, value: Value, at: Constant, passes_where_equal: bool) -> Value:
    """max(h, c), whose slope at h = c is one or zero."""
    shifted = compose.shift(site, value, -at, part="minus-bound") if at.any() else value
    if passes_where_equal:
        turned = compose.negate(site, shifted, part="negative")
        bent = compose.rectify(site, turned, np.array(0.0), np.array(-1.0))
    else:
        bent = compose.relu(site, shifted)
    return compose.shift(site, bent, at, part="plus-bound") if at.any() else bent


def _rectified(
    site: Site,
    value: Value,
    at: Constant,
    meeting: Fractions,
    above: Entrywise,
    below: Entrywise,
    on_where_equal: bool,
) -> Value | None:
    """One bend between two affine functions, if all its numbers are floats."""
    if not (above.affine and below.affine):
        return None
    zero, one = fractions(0.0), fractions(1.0)
    slopes = [exact_floats(function.at(one) - function.at(zero)) for function in (above, below)]
    level = exact_floats(meeting)
    if slopes[0] is None or slopes[1] is None or level is None:
        return None
    shifted = compose.shift(site, value, -at, part="minus-bound") if at.any() else value
    if on_where_equal:
        # A rectifier gives zero to its second slope: turned around, that is the one above.
        bent = compose.rectify(site, compose.negate(site, shifted, part="negative"), -slopes[1], -slopes[0])
    else:
        bent = compose.rectify(site, shifted, slopes[0], slopes[1])
    return compose.shift(site, bent, level, part="plus-meeting") if level.any() else bent


def product(site: Site, x: Operand | Comparison, y: Operand | Comparison) -> Value:
    """x * y, one of them constant or the answer of a comparison, which is one or zero."""
    if not isinstance(x, Comparison):
        return choose(site, y, x, np.zeros(())) if isinstance(y, Comparison) else compose.multiply(site, x, y)
    if isinstance(y, Comparison):
        site.refuse("the product of two comparisons jumps")
    return choose(site, x, y, np.zeros(()))


def select(site: Site, mask: Constant, a: Operand, b: Operand) -> Value:
    """a where a constant mask is one, b where it is zero."""
    on = compose.scale(site, a, mask, part="on") if isinstance(a, Value) else a * mask
    off = compose.scale(site, b, 1 - mask, part="off") if isinstance(b, Value) else b * (1 - mask)
    return compose.add(site, on, off)


def _function(site: Site, x: Operand, value: Value) -> Entrywise | None:
    return entrywise(site.builder, x if isinstance(x, Value) else _entrywise(site, value, x), value)


def _entrywise(site: Site, value: Value, numbers: Constant) -> Constant:
    """A constant as it broadcasts to the value, which must keep its shape."""
    _, fitted = compose.fit_constant(site, value, numbers)
    if fitted.ndim > len(value.shape) or np.broadcast_shapes(fitted.shape, value.shape) != value.shape:
        site.refuse(f"a constant of shape {numbers.shape} does not fit what is compared, of shape {value.shape}")
    return fitted


def _same(builder: Builder, x: Operand, value: Value) -> bool:
    return isinstance(x, Value) and x.batch_axis == value.batch_axis and same_name(builder, x.name, value.name)
