"""Multipliers that prove inequalities, in integers."""

from __future__ import annotations

from flint import fmpq

from polyfold.exact.combination import combination, constant, follows

TRIANGLE = [[1, 0, 0], [0, 1, 0], [-1, -1, 1]]


def test_what_follows_is_proved() -> None:
    assert follows(TRIANGLE[:2], [1, 1, 0])
    assert follows([TRIANGLE[0], TRIANGLE[2]], [0, -1, 1])  # touches a corner
    assert follows([], [0, 0, 0]) and follows([], [0, 0, 3])


def test_what_does_not_follow_is_not() -> None:
    assert not follows(TRIANGLE[:2], [1, -1, 5])
    assert not follows(TRIANGLE[:2], [1, 1, -1])
    assert not follows([], [1, 0, 1]) and not follows([], [0, 0, -1])


def test_multipliers_add_up() -> None:
    rows, target = [[2, 0, 3], [3, 1, 5]], [7, 2, 0]
    found = combination(rows, target)
    assert found == [fmpq(1, 2), fmpq(2)]
    assert constant(rows, found) == fmpq(23, 2)


def test_slopes_outside_the_span() -> None:
    assert combination([[1, 1, 0], [2, 2, 1]], [1, 0, 0]) is None
