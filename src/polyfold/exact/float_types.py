"""Floats of other types than float64: which type holds all numbers of another, and what rounding to one makes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from flint import fmpq

from polyfold.exact.near import Near, Number, UndecidedError


@dataclass(frozen=True)
class FloatType:
    """A type of floats: bits of a number, and the exponents of its last bit and of its first one."""

    bits: int
    least: int
    largest: int

    def holds(self, other: FloatType) -> bool:
        """Whether every number of another type is one of this type.

        >>> FLOAT_TYPES["float32"].holds(FLOAT_TYPES["bfloat16"]), FLOAT_TYPES["float16"].holds(FLOAT_TYPES["bfloat16"])
        (True, False)
        """
        return self.bits >= other.bits and self.least <= other.least and self.largest >= other.largest

    def rounded(self, number: Number) -> float:
        """The number of this type next to a number, the even one of two; infinite where all are too small.

        >>> FLOAT_TYPES["float16"].rounded(fmpq(1, 3)), FLOAT_TYPES["float16"].rounded(fmpq(65520))
        (0.333251953125, inf)
        """
        if isinstance(number, Near):
            middle, off = number.drawn()
            ends = {self.rounded(middle - off), self.rounded(middle + off)}
            if len(ends) > 1:
                raise UndecidedError("a number is too close to where rounding goes the other way")
            return ends.pop()
        if not number:
            return 0.0
        first = int(abs(number.p)).bit_length() - int(number.q).bit_length()
        first -= abs(number) < fmpq(2) ** first
        unit = max(first - self.bits + 1, self.least)
        whole = _to_even(number / fmpq(2) ** unit)
        if abs(whole).bit_length() - 1 + unit > self.largest:
            return inf if number > 0 else -inf
        return float(whole) * 2.0**unit if unit > -1022 else float(fmpq(whole) * fmpq(2) ** unit)


FLOAT_TYPES = {
    "float64": FloatType(53, -1074, 1023),
    "float32": FloatType(24, -149, 127),
    "float16": FloatType(11, -24, 15),
    "bfloat16": FloatType(8, -133, 127),
}


def _to_even(number: fmpq) -> int:
    """The whole number next to a number, the even one of two."""
    whole, rest = divmod(int(number.p), int(number.q))
    twice = 2 * rest
    return whole + (twice > number.q or (twice == number.q and whole % 2 == 1))
