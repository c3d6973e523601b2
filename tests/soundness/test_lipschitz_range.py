"""Lipschitz constants hold within their error at every scale: judged in fractions, without a square root."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isqrt

import numpy as np
import pytest

import polyfold as pf

SCALES = (-1000, -800, -560, -520, -400, 0, 400, 480, 520, 560, 800, 960)


def one_cell(exponent: int, outputs: int, seed: int) -> tuple[pf.Atlas, list[list[Fraction]]]:
    """A network that is linear on its domain, with terms that cancel, times a power of two; and its map exactly."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(6, 2))
    first[3:] = first[:3] * (1 + 1e-9 * rng.normal(size=(3, 1)))
    second = rng.normal(size=(outputs, 6))
    second[:, 3:] = -second[:, :3]
    second = np.ldexp(second, exponent)
    atlas = pf.unfold([(first, np.full(6, 64.0)), (second, np.zeros(outputs))], pf.box(-1, 1))
    assert len(atlas) == 1
    exact = [
        [sum((Fraction(w) * Fraction(v) for w, v in zip(row, column, strict=True)), Fraction(0)) for column in first.T]
        for row in second.tolist()
    ]
    return atlas, exact


def holds_the_largest_singular_value(low: Fraction, high: Fraction, A: list[list[Fraction]]) -> bool:
    """Whether low^2 <= the larger root of x^2 - T x + D^2 <= high^2; T is the sum of all squares, D the determinant."""
    total = sum((x * x for row in A for x in row), Fraction(0))
    determinant = A[0][0] * A[1][1] - A[0][1] * A[1][0] if len(A) == 2 else Fraction(0)

    def polynomial(x: Fraction) -> Fraction:
        return x * x - total * x + determinant**2

    above = high**2 >= total / 2 and polynomial(high**2) >= 0
    return above and (low <= 0 or low**2 <= total / 2 or polynomial(low**2) <= 0)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("exponent", SCALES)
def test_the_largest_singular_value_at_every_scale(exponent, outputs):
    for seed in range(20):
        atlas, exact = one_cell(exponent, outputs, seed)
        found = pf.stats.lipschitz(atlas)
        value, error = Fraction(found.value), Fraction(found.error)
        assert holds_the_largest_singular_value(value - error, value + error, exact), (seed, found, found.error)
        # Nor is the error a way out: terms that cancel cost about ten digits of sixteen.
        assert found.error <= 1e-3 * found.value or exponent <= -800


@pytest.mark.parametrize("p", [1, inf])
@pytest.mark.parametrize("exponent", SCALES)
def test_sums_at_every_scale(exponent, p):
    for seed in range(5):
        atlas, exact = one_cell(exponent, 2, seed)
        found = pf.stats.lipschitz(atlas, norm=p)
        lines = exact if p == inf else list(zip(*exact, strict=True))
        largest = max(sum((abs(x) for x in line), Fraction(0)) for line in lines)
        assert abs(Fraction(found.value) - largest) <= Fraction(found.error)


def test_roots_in_whole_numbers():
    """(3, 4) 2^k has length 5 2^k; of others the root's digits come from `isqrt`."""
    for exponent in (-1070, -900, -550, 0, 550, 1000):
        for a, b in ((3.0, 4.0), (1.0, 1.0), (7.0, 2.0)):
            slopes = [np.ldexp(a, exponent), np.ldexp(b, exponent)]
            found = pf.stats.lipschitz(pf.unfold([([slopes], [0.0])], pf.box(-1, 1)))
            digits = 2**200
            root = Fraction(isqrt(int(a * a + b * b) * digits**2), digits) * Fraction(2) ** exponent
            off = abs(Fraction(found.value) - root)
            assert off <= Fraction(found.error) + Fraction(2) ** (exponent - 190), (a, b, exponent)


def test_the_least_floats():
    """The length of (2^-1074, 2^-1074) lies between two floats that are next to each other."""
    found = pf.stats.lipschitz(pf.unfold([([[5e-324, 5e-324]], [0.0])], pf.box(-1, 1)))
    assert Fraction(found.value + found.error) ** 2 >= 2 * Fraction(5e-324) ** 2


def test_errors_are_not_rounded_away():
    """An error is smaller than the value's last digit allows for, so that value + error - value would be less."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = rng.uniform(0.5, 2.0, size=2).tolist()
        found = pf.stats.lipschitz(pf.unfold([([[a, b]], [0.0])], pf.box(-1, 1)))
        low, high = (Fraction(found.value) + side * Fraction(found.error) for side in (-1, 1))
        assert low**2 <= Fraction(a) ** 2 + Fraction(b) ** 2 <= high**2
