"""Arithmetic on constants without rounding: in floats where that is exact, else in rationals and balls.

Constants are arrays of float64, or object arrays as `exact/reals.py` has them. What cannot be computed so raises
`InexactError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.exact.error_free import products_are_exact, quotients_are_exact, sums_are_exact
from polyfold.exact.near import Near, UndecidedError, applied
from polyfold.exact.rational_arrays import product
from polyfold.exact.reals import Reals, are_reals, mapped, reals, settled
from polyfold.network.read.builder import Constant

# Numbers that are computed one by one, and products that are added up.
MOST_NUMBERS = 1 << 18
MOST_PRODUCTS = 1 << 22


class InexactError(ArithmeticError):
    """Constants that would be rounded; the text says why."""


def add(a: Constant, b: Constant) -> Constant:
    """a + b.

    >>> add(np.array(1.0), np.array(2.0**-60)), add(np.array(1.0), np.array(0.5))
    (array(1152921504606846977/1152921504606846976, dtype=object), array(1.5))
    """
    return _in_floats_or_exactly(np.add, sums_are_exact, a, b)


def subtract(a: Constant, b: Constant) -> Constant:
    """a - b."""
    return _in_floats_or_exactly(np.subtract, lambda x, y: sums_are_exact(x, -y), a, b)


def multiply(a: Constant, b: Constant) -> Constant:
    """a * b."""
    return _in_floats_or_exactly(np.multiply, products_are_exact, a, b)


def divide(a: Constant, b: Constant) -> Constant:
    """a / b."""
    return _in_floats_or_exactly(np.divide, quotients_are_exact, a, b)


def negative(a: Constant) -> Constant:
    """-a, which is never rounded."""
    return -a


def absolute(a: Constant) -> Constant:
    """|a|, which is never rounded."""
    return _decided(lambda: np.abs(a))


def larger(a: Constant, b: Constant) -> Constant:
    """The larger of two numbers, entry by entry."""
    return _chosen(np.maximum, a, b)


def smaller(a: Constant, b: Constant) -> Constant:
    """The smaller of two numbers, entry by entry."""
    return _chosen(np.minimum, a, b)


def power(a: Constant, exponent: Constant) -> Constant:
    """a ** exponent, for whole exponents and halves."""
    exponents = {fmpq(*float(value).as_integer_ratio()) for value in np.unique(_floats(exponent))}
    if len(exponents) != 1:
        raise InexactError("its exponents are several numbers")
    (number,) = exponents
    if number.q not in (1, 2) or abs(number) > 16:
        raise InexactError(f"the power {number} is not known")
    base = function("sqrt")(a) if number.q == 2 else a
    result = reals(np.ones(np.broadcast_shapes(a.shape, exponent.shape)))
    for _ in range(abs(int(number.p))):
        result = reals(multiply(settled(result), base))
    return divide(np.ones(()), settled(result)) if number < 0 else settled(result)


def function(name: str) -> Callable[[Constant], Constant]:
    """A function of real numbers, entry by entry, by the name that flint has for it."""

    def value(a: Constant) -> Constant:
        _few(a.size)
        return _decided(lambda: settled(mapped(lambda number: applied(name, number), a)))

    return value


def sigmoid(a: Constant) -> Constant:
    """1 / (1 + exp(-a))."""
    one = np.ones(())
    return divide(one, add(one, function("exp")(-a)))


def total(a: Constant, axes: Sequence[int], *, keepdims: bool, mean: bool = False) -> Constant:
    """The sum, or the mean, over some axes."""
    _few(a.size)
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
    summed = _decided(lambda: _reduced(reals(a), axes, keepdims))
    return divide(summed, np.array(float(count))) if mean else summed


def _reduced(a: Reals, axes: Sequence[int], keepdims: bool) -> Constant:
    if not axes:
        return settled(a)
    kept = np.sum(a, axis=tuple(axes), keepdims=True, initial=fmpq(0))
    shape = tuple(n for axis, n in enumerate(kept.shape) if keepdims or axis not in axes)
    return settled(kept.reshape(shape))


def matmul(a: Constant, b: Constant) -> Constant:
    """a @ b, by numpy's rules."""
    columns = b.shape[-1] if b.ndim > 1 else 1
    if a.size * columns * int(np.prod(b.shape[:-2])) > MOST_PRODUCTS:
        raise InexactError("it adds up too many products")
    left, right = reals(a), reals(b)
    if left.ndim == right.ndim == 2 and not any(_has_balls(each) for each in (left, right)):
        return settled(product(left, right))
    return _decided(lambda: settled(_object_array(left @ right)))


def einsum(equation: str, *operands: Constant) -> Constant:
    """A sum of products, as numpy writes them."""
    if int(np.prod([operand.size for operand in operands])) > MOST_PRODUCTS:
        raise InexactError("it adds up too many products")
    return _decided(lambda: settled(_object_array(np.einsum(equation, *map(reals, operands)))))


def running_total(a: Constant, axis: int) -> Constant:
    """The sums of the first entries along an axis, of one, two, ..."""
    _few(a.size)
    return _decided(lambda: settled(_object_array(np.cumsum(reals(a), axis=axis))))


def added_at(count: int, places: npt.NDArray[np.int64], numbers: Constant) -> Constant:
    """So many zeros, to which numbers are added in places."""
    if not are_reals(numbers) and len(np.unique(places)) == places.size:
        found = np.zeros(count)
        found[places.ravel()] = numbers.ravel()
        return found
    _few(numbers.size)
    totals = reals(np.zeros(count))

    def add_up() -> Constant:
        np.add.at(totals, places.ravel(), reals(numbers).ravel())
        return settled(totals)

    return _decided(add_up)


# -- inside


def _in_floats_or_exactly(
    operation: Callable[[Any, Any], Any], exact: Callable[[Any, Any], bool], a: Constant, b: Constant
) -> Constant:
    if not are_reals(a) and not are_reals(b):
        with np.errstate(all="ignore"):
            found = operation(a, b)
        if exact(*np.broadcast_arrays(a, b)):
            return np.asarray(found)
    _few(int(np.prod(np.broadcast_shapes(a.shape, b.shape), dtype=np.int64)))
    return _decided(lambda: settled(_object_array(operation(reals(a), reals(b)))))


def _chosen(operation: Callable[[Any, Any], Any], a: Constant, b: Constant) -> Constant:
    if not are_reals(a) and not are_reals(b):
        return np.asarray(operation(a, b))
    return _decided(lambda: settled(_object_array(operation(reals(a), reals(b)))))


def _decided(compute: Callable[[], Constant]) -> Constant:
    """What is computed, or an InexactError where something in it cannot be."""
    try:
        return compute()
    except ZeroDivisionError:
        raise InexactError("it divides by zero") from None
    except (OverflowError, ValueError):
        raise InexactError("it computes with numbers that are not finite") from None
    except UndecidedError as error:
        raise InexactError(str(error)) from None


def _few(count: int) -> None:
    if count > MOST_NUMBERS:
        raise InexactError(f"{count:,} numbers are too many to be computed without rounding")


def _object_array(found: Any) -> Reals:
    """Numpy gives a single object where an array without axes is meant."""
    if isinstance(found, np.ndarray):
        return found
    array = np.empty((), dtype=object)
    array[()] = found
    return array


def _has_balls(numbers: Reals) -> bool:
    return any(isinstance(value, Near) for value in numbers.ravel().tolist())


def _floats(numbers: Constant) -> Constant:
    if are_reals(numbers):
        raise InexactError("its exponent is no float")
    return numbers
