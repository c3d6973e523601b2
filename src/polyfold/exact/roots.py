"""Square roots of rationals: exact where they are rational, else a rational neighbour that is named and near enough."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import isqrt

from flint import fmpq

# A neighbour's distance from the root, as a part of the root, in powers of two.
ROOT_BITS = 200
# Digits behind those that are the root's own: they are drawn by a hash, so that only the same root has them.
_DRAWN_BITS = 128
# Their squares are taken out of roots, so that multiples of one root are multiples of one neighbour.
_SMALL_PRIMES = tuple(n for n in range(3, 200, 2) if all(n % k for k in range(3, n, 2)))


@dataclass(frozen=True)
class Root:
    """A positive rational number that is the root of another, or a neighbour within 2**-ROOT_BITS times the root."""

    value: fmpq
    exact: bool


def root(number: fmpq, salt: bytes = b"") -> Root:
    """The root of a positive number.

    The same number and salt give the same neighbour, so what is equal stays equal. Its last digits depend on both and
    on nothing else: who draws a new salt makes sure that no other number of a network is that neighbour but by the
    same root.

    >>> root(fmpq(9, 4))
    Root(value=3/2, exact=True)
    >>> root(fmpq(8)).value == 2 * root(fmpq(2)).value
    True
    >>> near = root(fmpq(2))
    >>> near.exact, abs(near.value**2 / 2 - 1) < fmpq(1, 2**199)
    (False, True)
    """
    bottom = int(number.q)
    outside, inside = _without_squares(int(number.p) * bottom)
    whole = isqrt(inside)
    if whole * whole == inside:
        return Root(fmpq(outside * whole, bottom), True)
    shift = max(0, ROOT_BITS + 2 - whole.bit_length())
    near = isqrt(inside << (2 * shift))
    drawn = hashlib.sha256(salt + str(inside).encode()).digest()[: _DRAWN_BITS // 8]
    digits = (near << _DRAWN_BITS) | int.from_bytes(drawn, "big")
    return Root(fmpq(outside * digits, bottom << (shift + _DRAWN_BITS)), False)


def _without_squares(number: int) -> tuple[int, int]:
    """(a, b) with number = a^2 b, where b has no square of a small prime left: root(8) becomes 2 root(2)."""
    outside = 1 << (((number & -number).bit_length() - 1) // 2)
    number //= outside * outside
    for prime in _SMALL_PRIMES:
        while number % (prime * prime) == 0:
            outside, number = outside * prime, number // (prime * prime)
    return outside, number
