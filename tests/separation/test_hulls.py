"""Two finite sets: a hyperplane between them or a common point of their hulls, against SciPy and in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.separability_oracles import NONE, SOME, fractions, gap, nearest_crossing
from polyfold.exact.rational_arrays import rationals
from polyfold.separation import hulls, limits
from polyfold.separation.data import point_set
from polyfold.separation.hulls import CommonPoint, separate


def fraction(value):
    return Fraction(int(value.p), int(value.q))


def draw(rng):
    dim = int(rng.integers(1, 5))
    sizes = rng.integers(1, 7, 2)
    if rng.random() < 0.6:
        return [rng.integers(-2, 3, size=(n, dim)).astype(float) for n in sizes]
    return [rng.normal(size=(n, dim)) + shift for n, shift in zip(sizes, (0, rng.random() * 3), strict=True)]


def check(found, A, B):
    """In fractions of the standard library."""
    if isinstance(found, CommonPoint):
        parts = [{k: fraction(w) for k, w in weights.items()} for weights in (found.first, found.second)]
        assert all(w > 0 for part in parts for w in part.values()) and all(sum(part.values()) == 1 for part in parts)
        places = [
            [sum(w * points[k][i] for k, w in part.items()) for i in range(A.shape[1])]
            for part, points in zip(parts, (fractions(A), fractions(B)), strict=True)
        ]
        assert places[0] == places[1]
        return
    normal = [fraction(entry) for entry in found.normal]
    values = [[sum(n * x for n, x in zip(normal, row, strict=True)) for row in fractions(points)] for points in (A, B)]
    assert max(values[0]) == fraction(found.below) < fraction(found.above) == min(values[1])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_separation(seed):
    A, B = draw(np.random.default_rng(seed))
    found = separate(point_set(rationals(A)), point_set(rationals(B)))
    check(found, A, B)
    width = gap(A, B)
    if not NONE < width < SOME:
        assert isinstance(found, CommonPoint) == (width <= NONE)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_separation_by_the_exact_program_alone(seed):
    """What is left when floats propose nothing."""
    A, B = draw(np.random.default_rng(seed))
    check(hulls._exactly(point_set(rationals(A)), point_set(rationals(B)), [0]), A, B)


@pytest.mark.parametrize("shift", [0.0, 2.0**-60, -(2.0**-60)])
def test_a_gap_that_floats_cannot_see(shift):
    A, B = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[shift, 0.5], [1.0, 0.5]])
    found = separate(point_set(rationals(A)), point_set(rationals(B)))
    check(found, A, B)
    assert isinstance(found, CommonPoint) == (shift <= 0)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_limits(seed):
    """How near to the centre: SciPy's answer, both ways to it, and the proof from below."""
    A, B = draw(np.random.default_rng(seed))
    A, B = A - np.append(4.0, np.zeros(A.shape[1] - 1)), np.concatenate([[B.mean(axis=0).round(3)], B])
    first, second, mean = point_set(rationals(A)), point_set(rationals(B)), rationals(A).sum(axis=0) / len(A)
    centre = point_set(second.exact[:1])
    known = separate(first, second)
    if isinstance(known, CommonPoint):
        return
    answers = [
        limits.limit(first, second, centre, mean, known),
        limits._exactly(first, second, centre, mean - centre.exact[0], known, [len(A)]),
    ]
    expected = nearest_crossing(A, B, B[0], A.mean(axis=0))
    for found in answers:
        assert float(fraction(found.value)) == pytest.approx(expected, abs=1e-7)
        own, others = ({k: fraction(w) for k, w in part.items()} for part in (found.first, found.second))
        assert all(w > 0 for part in (own, others) for w in part.values())
        assert sum(others.values()) == 1 + sum(own.values())
        for i in range(A.shape[1]):
            origin, target = Fraction(B[0, i]), fraction(mean[i])
            place = origin + fraction(found.value) * (target - origin)
            left = place + sum(w * Fraction(A[k, i]) for k, w in own.items())
            assert left == sum(w * Fraction(B[k, i]) for k, w in others.items())
    normal = limits.through_centre(first, second, centre, mean)
    if normal is not None:
        assert fraction(answers[1].value) == 0
    elif expected > SOME:
        assert fraction(answers[1].value) > 0


def test_long_limits_are_rounded_down():
    weights = {0: limits.fmpq(1, 3), 1: limits.fmpq(2, 3) + limits.fmpq(1, 7)}
    long = limits.Limit(limits.fmpq(10**100, 3**250), {0: limits.fmpq(1, 7)}, weights)
    short = limits._shortened(long)
    assert 0 < long.value - short.value < limits.fmpq(1, 2**63)
    assert sum(short.second.values()) == 1 + sum(short.first.values())
    assert limits._shortened(short) is short
