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
    >>> near = root(fmpq(2))
    >>> near.exact, abs(near.value**2 / 2 - 1) < fmpq(1, 2**199)
    (False, True)
    """
    top, bottom = int(number.p), int(number.q)
    product = top * bottom
    whole = isqrt(product)
    if whole * whole == product:
        return Root(fmpq(whole, bottom), True)
    shift = max(0, ROOT_BITS + 2 - whole.bit_length())
    near = isqrt(product << (2 * shift))
    drawn = hashlib.sha256(salt + f"{top}/{bottom}".encode()).digest()[: _DRAWN_BITS // 8]
    digits = (near << _DRAWN_BITS) | int.from_bytes(drawn, "big")
    return Root(fmpq(digits, bottom << (shift + _DRAWN_BITS)), False)
