"""What torch's and ONNX's operators have in common, written in our few ops.

Shapes and axes here leave the batch axis out. Each function emits the nodes for one operator at a Site; the
node that switches (if any) carries the user's name, helper nodes carry that name and a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from polyfold.exact.error_free import products_are_exact, quotients_are_exact, sums_are_exact
from polyfold.exact.reals import are_reals
from polyfold.network.ops import unrounded
from polyfold.network.ops.linear import Add, Normalise, Scale, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Shape, constant, size
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.folding import arithmetic


def linear(site: Site, x: Value, weight: Constant, bias: Constant | None = None, part: str = "") -> Value:
    """W x + b along the last axis, W being (outputs, inputs)."""
    offset = np.zeros(len(weight)) if bias is None else bias
    return site.emit(unrounded.linear(weight, offset), x, part=part)


def scale(site: Site, x: Value, factor: Constant, part: str = "") -> Value:
    """factor * x."""
    x, factor = fit_constant(site, x, factor)
    return site.emit(unrounded.scale(factor), x, part=part)


def over(site: Site, x: Value, divisor: Constant, part: str = "") -> Value:
    """x / divisor: by a factor where that is a float, as for powers of two."""
    one = np.ones(())
    if are_reals(divisor):
        return scale(site, x, arithmetic.divide(one, divisor), part)
    x, divisor = fit_constant(site, x, divisor)
    if quotients_are_exact(np.ones(divisor.shape), divisor):
        return site.emit(Scale(constant(one / divisor)), x, part=part)
    return site.emit(Scale(constant(one), constant(divisor)), x, part=part)


def shift_by_multiple(site: Site, x: Value, factor: float, constants: Constant) -> Value:
    """x + factor * constants: floats are multiplied only where the product is one."""
    if are_reals(constants):
        return shift(site, x, arithmetic.multiply(constants, np.array(factor)))
    if products_are_exact(constants, np.array(factor)):
        return shift(site, x, constants * factor)
    # Divided by the factor before, and multiplied with it behind: three steps, none of which is rounded here.
    unscaled = over(site, x, np.array(factor), part="unscaled")
    return scale(site, shift(site, unscaled, constants, part="shifted"), np.array(factor))


def shift(site: Site, x: Value, offset: Constant, part: str = "") -> Value:
    """x + offset."""
    x, offset = fit_constant(site, x, offset)
    return site.emit(unrounded.shift(offset), x, part=part)


def negate(site: Site, x: Value, part: str = "") -> Value:
    """-x."""
    return scale(site, x, np.array(-1.0), part)


def reshape(site: Site, x: Value, shape: Shape, part: str = "") -> Value:
    """The same numbers under another shape; nothing happens if that is the shape already."""
    return x if x.shape == shape else site.emit(Reshape(shape), x, part=part)


def rearrange(site: Site, x: Value, index: npt.NDArray[np.int64], part: str = "") -> Value:
    """Entries of the flattened x by index, as a reshape where their order does not change."""
    if np.array_equal(index.ravel(), np.arange(size(x.shape))):
        return reshape(site, x, index.shape, part)
    index = np.array(index)
    index.setflags(write=False)
    return site.emit(Take(index), x, part=part)


def moved(site: Site, x: Value, index: npt.NDArray[np.int64], part: str = "") -> Value:
    """Entries of x, whose batch axis (if any) has length one, by their places in the whole tensor.

    There is a batch axis if one of length one is (still or again) in front.
    """
    if index.shape[:1] == (1,) and (x.batched or (site.single and index.ndim > 1)):
        return rearrange(site, replace(x, batched=True, batch_axis=0), index[0], part)
    return rearrange(site, site.unbatch(x), index, part)


def positions(shape: Shape) -> npt.NDArray[np.int64]:
    """The flat index of every entry of a value: what data-moving operators are applied to.

    >>> positions((2, 2)).T.tolist()
    [[0, 2], [1, 3]]
    """
    return np.arange(size(shape), dtype=np.int64).reshape(shape)


def rectify(site: Site, x: Value, slope_on: Constant, slope_off: Constant) -> Value:
    """slope_on * x for positive x, slope_off * x for the rest."""
    if not (are_reals(slope_on) or are_reals(slope_off)):
        return site.emit(Rectify(constant(slope_on), constant(slope_off)), x)
    # Gates have slopes that are floats: other numbers multiply what is above zero, and what is below.
    above = relu(site, x)
    below = site.emit(Subtract(), x, above, part="below")
    passes = not are_reals(slope_on) and bool((slope_on == 1).all())
    on = above if passes else scale(site, above, slope_on, part="on")
    return site.emit(Add(), on, scale(site, below, slope_off, part="off"), part="slopes")


def relu(site: Site, x: Value) -> Value:
    """max(x, 0)."""
    return rectify(site, x, np.array(1.0), np.array(0.0))


def clamp(site: Site, x: Value, low: Operand | None, high: Operand | None) -> Value:
    """min(max(x, low), high), x where it is a bound; these may be absent, numbers, arrays or computed."""
    if (low is None or _is_number(low, x)) and (high is None or _is_number(high, x)):
        return site.emit(Clamp(_bound(low, -np.inf), _bound(high, np.inf)), x)
    bounded = x if low is None else larger(site, x, low)
    return bounded if high is None else smaller(site, bounded, high)


def flat_clamp(site: Site, x: Value, low: float, high: float) -> Value:
    """min(max(x, low), high), the bound where x is a bound: its slope is zero there."""
    return site.emit(Clamp(float(low), float(high), flat_at_bounds=True), x)


def _is_number(bound: Operand, x: Value) -> bool:
    """Whether a bound is one float that broadcasts to x without changing its shape."""
    return not isinstance(bound, Value) and bound.size == 1 and bound.ndim <= x.rank and not are_reals(bound)


def _bound(bound: Operand | None, default: float) -> float:
    return float(bound.reshape(())) if isinstance(bound, np.ndarray) else default


def larger(site: Site, x: Operand, y: Operand) -> Value:
    """The maximum of two operands, at least one of them computed; the first one where they are equal."""
    if isinstance(x, Value) and isinstance(y, Value):
        return site.emit(Maximum(), *fit_values(site, [x, y]))
    value, bound = _value_first(x, y)
    if _is_number(bound, value):
        return site.emit(Clamp(_bound(bound, -np.inf), np.inf, flat_at_bounds=value is y), value)
    if value is y:
        rest = shift(site, value, -bound, part="minus-bound")
        return shift(site, relu(site, rest), bound, part="plus-bound")
    # A rectifier gives zero to its second slope, which has to be the value's.
    rest = shift(site, negate(site, value, part="negative"), bound, part="plus-bound")
    return shift(site, rectify(site, rest, np.array(0.0), np.array(-1.0)), bound, part="plus-bound")


def smaller(site: Site, x: Operand, y: Operand) -> Value:
    """The minimum of two operands, at least one of them computed; the first one where they are equal."""
    if isinstance(x, Value) and isinstance(y, Value):
        return site.emit(Minimum(), *fit_values(site, [x, y]))
    value, bound = _value_first(x, y)
    if _is_number(bound, value):
        flat = value is y
        low, value = _without_flat_lower_bound(site, value) if flat else (-np.inf, value)
        return site.emit(Clamp(low, _bound(bound, np.inf), flat_at_bounds=flat), value)
    if value is x:
        rest = shift(site, value, -bound, part="minus-bound")
        return shift(site, rectify(site, rest, np.array(0.0), np.array(1.0)), bound, part="plus-bound")
    rest = shift(site, negate(site, value, part="negative"), bound, part="plus-bound")
    return shift(site, negate(site, relu(site, rest), part="negative"), bound, part="plus-bound")


def _without_flat_lower_bound(site: Site, x: Value) -> tuple[float, Value]:
    """(low, what was bounded) if x is max(low, ...): a flat clamp is exported as min(high, max(low, ...))."""
    node = site.builder.node(x.name)
    if node is None or not isinstance(node.op, Clamp) or not node.op.flat_at_bounds or node.op.high < np.inf:
        return -np.inf, x
    return node.op.low, replace(x, name=node.inputs[0])


def add(site: Site, x: Operand, y: Operand) -> Value:
    """x + y."""
    if isinstance(x, Value) and isinstance(y, Value):
        return site.emit(Add(), *fit_values(site, [x, y]))
    value, offset = _value_first(x, y)
    return shift(site, value, offset)


def subtract(site: Site, x: Operand, y: Operand) -> Value:
    """x - y."""
    if isinstance(x, Value):
        if isinstance(y, Value):
            return site.emit(Subtract(), *fit_values(site, [x, y]))
        return shift(site, x, -y)
    assert isinstance(y, Value)
    return shift(site, negate(site, y, part="negative"), x)


def multiply(site: Site, x: Operand, y: Operand) -> Value:
    """x * y where one of them is constant."""
    if isinstance(x, Value) and isinstance(y, Value):
        site.refuse(
            f"the product of two computed values is not piecewise linear (here {x.name!r} and {y.name!r}); "
            "only what comes before it can be read"
        )
    value, factor = _value_first(x, y)
    return scale(site, value, factor)


def divide(site: Site, x: Operand, y: Operand) -> Value:
    """x / y where y is constant."""
    if isinstance(y, Value):
        site.refuse("a quotient with a computed denominator is not piecewise linear")
    if not y.all():
        site.refuse("it divides by zero")
    assert isinstance(x, Value)
    return over(site, x, y)


def power(site: Site, x: Operand, exponent: Operand) -> Value:
    """x ** 1, which is x, or x ** 0, which is one."""
    if isinstance(exponent, Value) or not isinstance(x, Value) or are_reals(exponent):
        site.refuse("a computed exponent is not piecewise linear")
    others = exponent[(exponent != 0) & (exponent != 1)]
    if others.size:
        site.refuse(f"the power {others.flat[0]:g} is not piecewise linear; those of 0 and 1 are")
    if exponent.ndim == 0 and exponent == 1:
        return x
    return shift(site, scale(site, x, exponent, part="power"), 1 - exponent)


def batch_norm(
    site: Site,
    x: Value,
    gamma: Constant | None,
    beta: Constant | None,
    mean: Constant,
    variance: Constant,
    epsilon: float,
) -> Value:
    """Batch normalisation in evaluation mode; channels are the first axis behind the batch axis."""
    if any(numbers is not None and are_reals(numbers) for numbers in (gamma, beta, mean, variance)):
        return _normal_step_by_step(site, x, gamma, beta, mean, variance, epsilon)
    if (variance + epsilon <= 0).any():
        site.refuse(f"it takes the root of {float((variance + epsilon).min()):g}, its variance plus epsilon")
    factor = np.ones_like(mean) if gamma is None else gamma
    offset = np.zeros_like(mean) if beta is None else beta
    op = Normalise(constant(factor), constant(offset), constant(mean), constant(variance), float(epsilon))
    if not all(np.isfinite(each).all() for each in op.folded):
        site.refuse("its numbers, put together, are larger than all floats, or none")
    if x.batched:
        return site.emit(op, x)
    turned = rearrange(site, x, np.moveaxis(positions(x.shape), 1, 0), part="turned")
    normal = site.emit(op, turned)
    return rearrange(site, normal, np.moveaxis(positions(normal.shape), 0, 1), part="order")


def _normal_step_by_step(
    site: Site,
    x: Value,
    gamma: Constant | None,
    beta: Constant | None,
    mean: Constant,
    variance: Constant,
    epsilon: float,
) -> Value:
    """The same with numbers of which some are no floats: moved, divided by its root, scaled and moved again."""
    lead = (1,) if x.batched else (1, 1)
    axes = [*lead[1:], -1, *[1] * (len(x.shape) - len(lead))]
    value = shift(site, x, arithmetic.negative(mean).reshape(axes), part="centred")
    root = arithmetic.function("sqrt")(arithmetic.add(variance, np.array(epsilon)))
    value = over(site, value, root.reshape(axes), part="normal")
    if gamma is not None:
        value = scale(site, value, gamma.reshape(axes), part="scaled")
    return value if beta is None else shift(site, value, beta.reshape(axes))


def total(site: Site, x: Value, axes: Sequence[int], *, keepdims: bool, mean: bool = False) -> Value:
    """The sum or mean over some axes."""
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    count = size(tuple(x.shape[axis] for axis in axes))
    index = np.moveaxis(positions(x.shape), kept, range(len(kept)))
    last = rearrange(site, x, index.reshape(*(x.shape[axis] for axis in kept), count), part="terms")
    summed = linear(site, last, np.ones((1, count)), part="total")
    if mean:
        summed = over(site, summed, np.array(float(count)), part="mean")
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape) if keepdims or axis not in axes)
    return reshape(site, summed, shape)


def concat(site: Site, operands: Sequence[Operand], axis: int) -> Value:
    """Operands side by side; `axis` counts the batch axis and may be negative."""
    like = next(operand for operand in operands if isinstance(operand, Value))
    if len(operands) == 1:
        return like
    batched = all(operand.batched for operand in operands if isinstance(operand, Value))
    axis %= like.rank
    if not batched or axis == 0:
        operands = [site.unbatch(x) if isinstance(x, Value) else x for x in operands]
        batched = False
    values = [
        operand if isinstance(operand, Value) else _constant_value(site, like, operand, batched) for operand in operands
    ]
    return site.emit(Concat(axis - batched), *values)


def _constant_value(site: Site, like: Value, numbers: Constant, batched: bool) -> Value:
    """A constant as a value: a linear map of another value with all weights zero."""
    if batched:
        if not same_for_all_samples(site, numbers):
            site.refuse(f"a constant of shape {numbers.shape} differs from sample to sample")
        numbers = numbers[0]
    flat = reshape(site, like, (size(like.shape),), part="flat")
    fixed = linear(site, flat, np.zeros((numbers.size, size(like.shape))), numbers.ravel(), part="constant")
    shaped = reshape(site, fixed, numbers.shape, part="constant")
    return Value(shaped.name, shaped.shape, batched)


def fold(site: Site, operands: Sequence[Operand], combine: str) -> Value:
    """An n-ary sum, maximum or minimum as a chain of binary ones: of equal operands the first one counts."""
    binary = {"sum": add, "max": larger, "min": smaller}[combine]
    if combine == "sum":
        values = [operand for operand in operands if isinstance(operand, Value)]
        constants = [operand for operand in operands if not isinstance(operand, Value)]
        operands = [*values, *_added_up(constants)]

    def both(x: Operand, y: Operand) -> Operand:
        if isinstance(x, Value) or isinstance(y, Value):
            return binary(site, x, y)
        return (arithmetic.larger if combine == "max" else arithmetic.smaller)(x, y)

    result = reduce(both, operands)
    assert isinstance(result, Value)
    return result


def _added_up(constants: Sequence[Constant]) -> list[Constant]:
    """Constants to be added one after the other: those that floats add without rounding as one."""
    found: list[Constant] = []
    for each in constants:
        if found and not are_reals(found[-1]) and not are_reals(each):
            pair = np.broadcast_arrays(found[-1], each)
            if sums_are_exact(*pair):
                found[-1] = pair[0] + pair[1]
                continue
        found.append(each)
    return found


def fit_constant(site: Site, x: Value, numbers: Constant) -> tuple[Value, Constant]:
    """A constant as it broadcasts against x without its batch axis."""
    if not x.batched or numbers.ndim < x.rank:
        return x, numbers
    if numbers.ndim == x.rank and same_for_all_samples(site, numbers):
        return x, numbers[0]
    return site.unbatch(x), numbers


def same_for_all_samples(site: Site, numbers: Constant) -> bool:
    """Whether a constant with a batch axis repeats one sample along it."""
    return len(numbers) == 1 or (len(numbers) == site.batch and bool((numbers == numbers[:1]).all()))


def fit_values(site: Site, values: Sequence[Value]) -> list[Value]:
    """Values that broadcast against each other without their batch axes."""
    if len({(value.batched, value.rank if value.batched else 0) for value in values}) == 1:
        return list(values)
    return [site.unbatch(value) for value in values]


def _value_first(x: Operand, y: Operand) -> tuple[Value, Constant]:
    """The two operands of a commutative op, the computed one in front."""
    if isinstance(x, Value):
        assert not isinstance(y, Value)
        return x, y
    assert isinstance(y, Value)
    return y, x
