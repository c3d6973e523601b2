"""Functions that jump, of constants: decided by the numbers themselves, not by what floats make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor, trunc
from typing import Any

import numpy as np

from polyfold.exact.near import Near, UndecidedError, sign
from polyfold.exact.rational import fraction
from polyfold.exact.reals import mapped, reals
from polyfold.network.read.builder import Constant
from polyfold.network.read.folding.arithmetic import InexactError

Step = Callable[[Sequence[Constant]], Any]


def same_step(step: Step, numbers: Sequence[Constant], result: Any) -> Any:
    """The runtime's result, if the numbers themselves lead to the same."""
    try:
        exact = np.asarray(step(numbers), dtype=np.float64)
    except UndecidedError as error:
        raise InexactError(str(error)) from None
    if not np.array_equal(exact, np.asarray(result, dtype=np.float64)):
        raise InexactError("numbers that were rounded before lead to another result than the numbers themselves")
    return result


def of_each(function: Callable[[Fraction], int]) -> Step:
    """A function that is constant between jumps, of every number."""

    def one(number: Any) -> int:
        if not isinstance(number, Near):
            return function(fraction(number))
        middle, off = map(fraction, number.drawn())
        ends = {function(middle - off), function(middle + off)}
        if len(ends) > 1:
            raise UndecidedError("a number is too close to where a function jumps")
        return ends.pop()

    return lambda numbers: mapped(one, numbers[0])


def comparison(compare: Callable[[int], bool]) -> Step:
    """Whether the sign of a difference is such, for every pair of numbers."""
    return lambda numbers: mapped(lambda gap: compare(sign(gap)), reals(numbers[0]) - reals(numbers[1]))


floors, ceilings = of_each(floor), of_each(ceil)
nearest_whole, towards_zero = of_each(round), of_each(trunc)
signs = of_each(lambda number: (number > 0) - (number < 0))
