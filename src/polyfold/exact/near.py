"""Real numbers that are not known to be rational: a ball that holds each, and a name that says how it came about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from polyfold.exact.roots import ROOT_BITS, root

# Bits of balls: some are lost on the way, and more than those of roots should be left.
_BITS = ROOT_BITS + 120
# Digits behind those that are known, drawn by a hash; see `exact/roots.py`.
_DRAWN_BITS = 128


class UndecidedError(ArithmeticError):
    """Balls do not tell which of two numbers is larger, or whether one is zero."""


class Near:
    """A real number of which ROOT_BITS bits are known. The same name stands for the same number.

    >>> two = applied("sqrt", fmpq(2))
    >>> two, two == applied("sqrt", fmpq(2)), two * two == fmpq(2)
    (Near(1.41421356237), True, False)
    >>> two > 1, applied("sqrt", fmpq(9, 4))
    (True, 3/2)
    """

    __slots__ = ("ball", "name")

    def __init__(self, ball: arb, name: bytes) -> None:
        self.ball, self.name = ball, name

    def __repr__(self) -> str:
        return f"Near({float(self.ball.mid()):.12g})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Near) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __add__(self, other: Any) -> Number:
        return _combined("add", self, other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Number:
        return _combined("mul", self, other)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Number:
        return _combined("sub", self, other)

    def __rsub__(self, other: Any) -> Number:
        return _combined("sub", other, self)

    def __truediv__(self, other: Any) -> Number:
        return _combined("div", self, other)

    def __rtruediv__(self, other: Any) -> Number:
        return _combined("div", other, self)

    def __neg__(self) -> Number:
        return _combined("sub", fmpq(0), self)

    def __abs__(self) -> Number:
        return self if self > 0 else -self

    def __gt__(self, other: Any) -> bool:
        return _is_larger(self, other)

    def __lt__(self, other: Any) -> bool:
        return _is_larger(other, self)

    def __ge__(self, other: Any) -> bool:
        return not _is_larger(other, self)

    def __le__(self, other: Any) -> bool:
        return not _is_larger(self, other)

    def drawn(self, salt: bytes = b"") -> tuple[fmpq, fmpq]:
        """A rational number next to it and how far that is off, the same for the same name and salt."""
        middle, radius = _exact(self.ball.mid()), _exact(self.ball.rad())
        room = abs(middle) / 2 ** (ROOT_BITS + 1)
        digits = int.from_bytes(hashlib.sha256(salt + self.name).digest()[: _DRAWN_BITS // 8], "big")
        return middle + room * fmpq(digits, 2**_DRAWN_BITS), room + radius


Number: TypeAlias = "fmpq | Near"

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
# They make no difference which of their operands comes first.
_EITHER_WAY = frozenset({"add", "mul"})


def applied(function: str, number: Number) -> Number:
    """A function of real numbers, under the name that flint has for it: exact where its value is known to be rational.

    Raises an ArithmeticError where the function has no value.
    """
    if function == "sqrt" and isinstance(number, fmpq):
        if number < 0:
            raise UndecidedError(f"{number} has no square root")
        known = root(number) if number else None
        if known is None or known.exact:
            return fmpq(0) if known is None else known.value
    return _of_ball(_in_balls(lambda ball: getattr(ball, function)(), number), function, number)


def sign(number: Number) -> int:
    """1, 0 or -1."""
    return (number > 0) - (number < 0)


def _combined(operation: str, one: Any, other: Any) -> Number:
    one, other = _number(one), _number(other)
    operands = sorted((one, other), key=_name_of) if operation in _EITHER_WAY else (one, other)
    return _of_ball(_in_balls(_OPERATIONS[operation], one, other), operation, *operands)


def _number(given: Any) -> Number:
    return given if isinstance(given, Near | fmpq) else fmpq(*given.as_integer_ratio())


def _in_balls(function: Callable[..., Any], *numbers: Number) -> arb:
    with ctx.workprec(_BITS):
        return function(*(n.ball if isinstance(n, Near) else arb(n) for n in numbers))


def _of_ball(ball: arb, function: str, *of: Number) -> Number:
    if not ball.is_finite():
        raise UndecidedError(f"{function} of {', '.join(map(str, of))} is not a number, or may not be one")
    if ball.is_exact():
        return _exact(ball)
    if ball.rel_accuracy_bits() < ROOT_BITS:
        raise UndecidedError(f"{function} of {', '.join(map(str, of))} cancels: too few of its digits are known")
    hasher = hashlib.sha256(function.encode())
    for number in of:
        hasher.update(b"(" + _name_of(number) + b")")
    return Near(ball, hasher.digest())


def _name_of(number: Number) -> bytes:
    return number.name if isinstance(number, Near) else str(number).encode()


def _is_larger(one: Any, other: Any) -> bool:
    if isinstance(one, Near) and one == other:
        return False
    difference = _in_balls(lambda a, b: a - b, _number(one), _number(other))
    if difference > 0 or difference < 0:
        return bool(difference > 0)
    raise UndecidedError(f"{one} and {other} are too close to tell which is larger")


def _exact(ball: arb) -> fmpq:
    """The number that an exact ball is."""
    mantissa, exponent = ball.man_exp()
    return fmpq(int(mantissa)) * fmpq(2) ** int(exponent)
