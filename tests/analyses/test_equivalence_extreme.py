"""Comparing networks and domains whose numbers are at the ends of what floats can hold."""

from __future__ import annotations

from fractions import Fraction

import polyfold as pf


def test_a_row_with_a_tiny_second_entry_is_no_side_of_a_box():
    """x + y / 10**20 <= 0 and x <= 1000: where y is large x is not, so relu(x - ...) is never reached."""
    domain = pf.polytope([[1.0, 1e-20], [1.0, 0], [-1, 0], [0, 1], [0, -1]], [0.0, 1e3, 2e3, 1e21, 0.0])
    a = [([[1.0, 1e-20], [1.0, 0.0]], [0.0, 400.0]), ([[1.0, 1.0]], [0.0])]
    b = [([[1.0, 0.0]], [400.0]), ([[1.0]], [0.0])]
    assert pf.equivalent(a, b, domain, max_cells=1).verdict != "different"
    assert pf.equivalent(a, b, domain).verdict == "equal"


def scaled_in_steps(*factors):
    """relu and relu again, the first value times a factor every time; at last the sum of both values."""
    return [([[x, 0], [0, 1.0]], [0.0, 0.0]) for x in factors[:-1]] + [([[factors[-1], 1.0]], [0.0])]


def test_products_that_underflow_on_the_way_and_are_multiplied_up_again():
    """Forwards the product is 10 relu(x), whatever a product from the other end does."""
    triangle = pf.polytope([[1.0, 1.0], [-1, 0], [0, -1]], [1.0, 1.0, 1.0])
    zero = [([[0.0, 0.0]], [0.0])]
    for factors in ((1e201, 1e200, 1e-200, 1e-200), (1e-200, 1e-200, 1e200, 1e201)):
        exactly = 2
        for x in factors:
            exactly *= Fraction(x)
        result = pf.equivalent(scaled_in_steps(*factors), zero, triangle)
        assert result.verdict == "different" and result.exact
        assert (result.max_difference, result.point) == (exactly, (2, -1))
        assert pf.equivalent(scaled_in_steps(*factors), zero, triangle, tolerance=5).verdict == "different"


def test_rows_whose_squares_underflow_are_paired_all_the_same():
    small, other = [([[1e-170, 2e-170]], [0]), ([[1.0]], [0])], [([[1.0, 2.5]], [0]), ([[1.0]], [0])]
    for a, b in ((small, other), (other, small)):
        result = pf.equivalent(a, b, pf.box(-1, 1))
        exactly = Fraction(7, 2) - Fraction(1e-170) - Fraction(2e-170)
        assert (result.verdict, result.max_difference, result.point) == ("different", exactly, (1, 1))
    twice = [([[2e-170, 4e-170]], [0]), ([[0.5]], [1e-180])]
    close = pf.equivalent(small, twice, pf.box(-1, 1), tolerance=1e-175, max_cells=1)
    assert close.verdict == "equal" and close.method == "bounds over the whole domain"


def test_a_domain_that_reaches_farther_than_floats():
    far = pf.polytope([[1e-300, 1e-300], [-1e-300, 0], [0, -1e-300]], [1e20] * 3)
    a, b = [([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])], [([[1.0, 0.0]], [0.0]), ([[1.0]], [1.0])]
    result = pf.equivalent(a, b, far)
    assert (result.verdict, result.max_difference, result.exact) == ("different", 1, True)
    assert pf.equivalent(a, b, far, tolerance=1).verdict == "equal"
    grown = pf.equivalent(a, [([[2.0, 0.0]], [0.0]), ([[1.0]], [0.0])], far)
    # x is largest where y is least: 1e20 / 1e-300 and as much again.
    assert grown.exact and grown.max_difference == 2 * Fraction(1e20) / Fraction(1e-300)
