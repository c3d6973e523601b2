"""Numbers of any length as digits that floats multiply exactly: a matrix product of digits is a plain product.

A float64 holds whole numbers up to 2**53. Digits of some 18 bits can be multiplied and thousands of products be added
up within that, in whatever order a fast matrix product does it, and nothing is ever rounded. Between products digits
are kept as float32, which holds them exactly in half the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array
from polyfold.errors import LimitError
from polyfold.exact.rounding import relative

Kept = npt.NDArray[np.float32]

# So many products of digits may meet in one place before carries are made.
_MEETING = 16
# Whole numbers of so many bits are what a float32 holds.
_LONGEST = 24
# So many numbers are worked on at a time.
_AT_ONCE = 1 << 20
# Below and above, floats leave their range on the way to digits and back.
_LOWEST, _HIGHEST = -900, 900


def bits_for(terms: int) -> int:
    """The length of digits whose products can be added up, so many of them, without rounding.

    >>> bits_for(4608)
    18
    """
    return min(_LONGEST, (52 - ceil(log2(_MEETING)) - ceil(log2(max(1, terms)))) // 2 + 1)


@dataclass(frozen=True, eq=False)
class Digits:
    """An array of numbers: the sum over k of digits[k] * 2**(bits * (low + k)).

    Digits are whole numbers between -2**(bits - 1) and 2**(bits - 1), so the first that is not zero, from the top, has
    the number's sign.
    """

    digits: Kept
    low: int
    bits: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.digits.shape[1:]

    @property
    def top(self) -> int:
        """One more than the place of the highest digit."""
        return self.low + len(self.digits)

    @cached_property
    def floats(self) -> Array:
        """The numbers, rounded: right up to `error`, and of the right sign or zero."""
        total = np.zeros(self.shape)
        for k in range(len(self.digits) - 1, -1, -1):
            total += np.ldexp(self.digits[k].astype(np.float64), self.bits * (self.low + k))
        return total

    @property
    def error(self) -> float:
        """Bounds the relative error of `floats` where these are not close to the smallest numbers that there are."""
        return relative(2 * len(self.digits) + 4)

    @property
    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which numbers are not zero."""
        return np.asarray(self.digits.any(axis=0), dtype=bool)

    def entries(self, index: slice | npt.NDArray[np.int64]) -> Digits:
        """Some entries of every row."""
        return Digits(self.digits[:, :, index], self.low, self.bits)

    def exact(self, entry: int) -> tuple[fmpq, ...]:
        """One entry of every row, as rational numbers.

        >>> digits_of(np.array([[0.5, 3.0], [0.0, -1.0]]), 18).exact(1)
        (3, -1)
        """
        place = fmpq(2) ** (self.bits * self.low)
        rows = self.digits[:, :, entry].T.tolist()
        return tuple(place * sum(int(digit) << (self.bits * k) for k, digit in enumerate(row)) for row in rows)

    def cut(self, low: int) -> tuple[Digits, Array]:
        """The numbers without the places below `low`, and how much each one can have lost with them."""
        if low <= self.low:
            return self, np.zeros(self.shape)
        lost = self.digits[: low - self.low].any(axis=0)
        # What lies below a place is hardly more than half of it.
        return (
            Digits(self.digits[low - self.low :], min(low, self.top), self.bits),
            np.where(lost, 2.0 ** (self.bits * low), 0.0),
        )

    def scaled(self, factor: Array) -> Digits:
        """Every number times a factor."""
        if np.isin(factor, (-1.0, 0.0, 1.0)).all():
            return Digits(self.digits * factor.astype(np.float32), self.low, self.bits)
        places, low = digits_of_coefficients(factor, self.bits)
        return self.through([place.__mul__ for place in places], low, self.shape[1])

    def through(self, places: Sequence[Callable[[Array], Array]], low: int, width: int) -> Digits:
        """A linear map of the rows, given as one map of whole numbers for each place of its coefficients."""
        count, rows, columns = self.digits.shape
        if not count or not places:
            return Digits(np.zeros((0, rows, width), dtype=np.float32), 0, self.bits)
        if len(places) > _MEETING:
            raise LimitError("coefficients of one layer differ too much in size to be written as digits")
        carried = _Carried(count + len(places) - 1, (rows, width), self.bits)
        step = max(1, _AT_ONCE // max(1, rows * max(columns, width)))
        waiting = np.zeros((len(places) - 1, rows, width))
        for start in range(0, count, step):
            flat = self.digits[start : start + step].astype(np.float64).reshape(-1, columns)
            some = len(flat) // rows
            levels = np.concatenate([waiting, np.zeros((some, rows, width))])
            for j, place in enumerate(places):
                levels[j : j + some] += place(flat).reshape(some, rows, width)
            carried.add(levels[:some])
            waiting = levels[some:].copy()
        carried.add(waiting)
        return carried.digits(self.low + low)


def digits_of_coefficients(array: Array, bits: int) -> tuple[list[Array], int]:
    """The digits of floats, lowest first, and the place of the lowest. Exact."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest == 0.0:
        return [], 0
    if not np.log2(largest) < _HIGHEST:
        raise LimitError(f"a number as large as {largest:.3g} is not written as digits")
    place = ceil((np.frexp(largest)[1] - (bits - 1)) / bits)
    found: list[Array] = []
    rest = array
    while True:
        digit = np.rint(np.ldexp(rest, -bits * place))
        found.append(digit)
        rest = rest - np.ldexp(digit, bits * place)
        if not rest.any():
            return found[::-1], place
        place -= 1
        if bits * place < _LOWEST:
            raise LimitError("a number close to the smallest that floats have is not written as digits")


def digits_of(rows: Array, bits: int) -> Digits:
    """Rows of floats as digits. Exact.

    >>> number = digits_of(np.array([[0.1, -3.0]]), 18)
    >>> number.floats
    array([[ 0.1, -3. ]])
    """
    found, low = digits_of_coefficients(rows, bits)
    return Digits(np.array(found, dtype=np.float32).reshape(len(found), *rows.shape), low, bits)


class _Carried:
    """Whole numbers below 2**52 for each place, lowest first, become digits."""

    def __init__(self, places: int, shape: tuple[int, ...], bits: int) -> None:
        self._found = np.zeros((places, *shape), dtype=np.float32)
        self._count = 0
        self._bits = bits
        self._over = np.zeros(shape)

    def add(self, levels: Iterable[Array]) -> None:
        unit = 2.0**self._bits
        for level in levels:
            total = level + self._over
            np.rint(total / unit, out=self._over)
            total -= self._over * unit
            self._found[self._count] = total
            self._count += 1

    def digits(self, low: int) -> Digits:
        """All of them, without empty places at either end."""
        found, unit, more = self._found, 2.0**self._bits, []
        while self._over.any():
            rest = np.rint(self._over / unit)
            more.append(self._over - rest * unit)
            self._over = rest
        if more:
            found = np.concatenate([found, np.array(more, dtype=np.float32)])
        used = [k for k, level in enumerate(found) if level.any()]
        if not used:
            return Digits(found[:0], 0, self._bits)
        return Digits(found[used[0] : used[-1] + 1], low + used[0], self._bits)


def added(numbers: Sequence[Digits]) -> Digits:
    """The sum of numbers of one shape."""
    low, top = _range(numbers)
    carried = _Carried(top - low, numbers[0].shape, numbers[0].bits)
    for place in range(low, top):
        total = np.zeros(numbers[0].shape)
        for number in numbers:
            if number.low <= place < number.top:
                total += number.digits[place - number.low]
        carried.add([total])
    return carried.digits(low)


def stacked(numbers: Sequence[Digits]) -> Digits:
    """Rows one behind the other."""
    low, top = _range(numbers)
    width = sum(number.shape[1] for number in numbers)
    digits = np.zeros((top - low, numbers[0].shape[0], width), dtype=np.float32)
    start = 0
    for number in numbers:
        if len(number.digits):
            digits[number.low - low : number.top - low, :, start : start + number.shape[1]] = number.digits
        start += number.shape[1]
    return Digits(digits, low, numbers[0].bits)


def _range(numbers: Sequence[Digits]) -> tuple[int, int]:
    """The lowest place of all numbers and one more than the highest; numbers without digits have none."""
    some = [number for number in numbers if len(number.digits)]
    if not some:
        return 0, 0
    return min(number.low for number in some), max(number.top for number in some)
