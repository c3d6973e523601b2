"""Closed formulas for numbers of cells, in exact integers. Widths are those of the layers of gates, in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import factorial, prod

from polyfold._base.clock import tick

_DIGITS_SHOWN = 12


def segment_bound(widths: Sequence[int]) -> int:
    """The most facets that a straight way can cross: prod(n_l + 1) - 1.

    On a line every layer's gates are affine between the switches of those before, so each piece is cut n_l times at
    most. A way between inner points of two cells can be moved a little, so that it crosses facets only.

    >>> segment_bound([3, 2])
    11
    """
    return prod(n + 1 for n in widths) - 1


def zaslavsky(hyperplanes: int, dim: int) -> int:
    """The cells of n hyperplanes in general position in R^d: sum of C(n, j) over j = 0, ..., d. No n make more.

    >>> zaslavsky(3, 2)
    7
    """
    return 1 << hyperplanes if dim >= hyperplanes else sum(_choices(hyperplanes, dim))


def raghu(widths: Sequence[int], dim: int) -> int:
    """Each layer cuts each cell of the layers before it in d dimensions: the product of Zaslavsky's sums."""
    return prod(zaslavsky(n, dim) for n in widths)


def montufar_2017(widths: Sequence[int], dim: int) -> int:
    """As `raghu`, but a layer sees an image of the cell, of no more dimensions than any layer before it has gates."""
    dims = accumulate([dim, *widths[:-1]], min) if widths else ()
    return prod(zaslavsky(n, d) for n, d in zip(widths, dims, strict=True))


def switching(undecided: Sequence[int], widths: Sequence[int], dim: int) -> int:
    """As `montufar_2017`, where only so many gates of each layer switch at all."""
    dims = accumulate([dim, *widths[:-1]], min) if widths else ()
    return prod(zaslavsky(n, d) for n, d in zip(undecided, dims, strict=True))


def serra_2018(widths: Sequence[int], dim: int) -> int:
    """As `montufar_2017`, but gates that are off take dimensions away as well.

    The sum over all (j_1, ..., j_L) with 0 <= j_l <= min(d, n_1 - j_1, ..., n_(l-1) - j_(l-1), n_l) of the products of
    C(n_l, j_l). Summed layer by layer: all that matters of the layers before is the minimum so far.

    >>> serra_2018([3], 2) == zaslavsky(3, 2), serra_2018([2, 2], 2)
    (True, 11)
    """
    ways = {dim: 1}  # by the minimum so far
    for n in widths:
        then: dict[int, int] = {}
        choices = _choices(n, dim)
        for most, count in ways.items():
            for j in range(min(most, n) + 1):
                tick()
                left = min(most, n - j)
                then[left] = then.get(left, 0) + count * choices[j]
        ways = then
    return sum(ways.values())


def montufar_2014(widths: Sequence[int], dim: int) -> int:
    """Some weights of these layers give so many linear regions: prod floor(n_l / d)^d over all layers but the last,
    times Zaslavsky's sum of the last. No layer may have fewer gates than d.

    >>> montufar_2014([4, 4], 2)
    44
    """
    *first, last = widths
    powers: list[int] = [(n // dim) ** dim for n in first]
    return prod(powers) * zaslavsky(last, dim)


def hanin_rolnick(gates: int, dim: int) -> int:
    """N^d / d!, rounded; 2^N if there are fewer gates than dimensions."""
    if gates < dim:
        return 1 << gates
    power: int = gates**dim
    return (2 * power + factorial(dim)) // (2 * factorial(dim))


def _choices(n: int, most: int) -> list[int]:
    """C(n, j) for j = 0, ..., min(n, most); each from the one before."""
    found = [1]
    for j in range(1, min(n, most) + 1):
        tick()
        found.append(found[-1] * (n - j + 1) // j)
    return found


def in_short(value: int) -> str:
    """A whole number as people read it; long ones by their powers of ten.

    >>> in_short(1234567), in_short(10**100)
    ('1,234,567', '1.00e+100')
    """
    if value < 10**_DIGITS_SHOWN:
        return f"{value:,}"
    digits = value.bit_length() * 30103 // 100000  # at least one digit too few, never too many
    power = digits + (value >= 10 ** (digits + 1)) if value >= 10**digits else digits - 1
    return f"{value // 10 ** (power - 2) / 100:.2f}e+{power}"
