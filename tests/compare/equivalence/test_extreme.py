"""Comparing networks and domains whose numbers are at the ends of what floats can hold."""

from __future__ import annotations

import io
import json
import warnings
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from rich.console import Console

import polyfold as pf
from polyfold._base.words import in_digits
from polyfold.cli.equivalent import equivalence_panel
from polyfold.compare.equivalence.result import Difference


def test_a_row_with_a_tiny_second_entry_is_no_side_of_a_box():
    """x + y / 10**20 <= 0 and x <= 1000: where y is large x is not, so relu(x - ...) is never reached."""
    domain = pf.polytope([[1.0, 1e-20], [1.0, 0], [-1, 0], [0, 1], [0, -1]], [0.0, 1e3, 2e3, 1e21, 0.0])
    a = [([[1.0, 1e-20], [1.0, 0.0]], [0.0, 400.0]), ([[1.0, 1.0]], [0.0])]
    b = [([[1.0, 0.0]], [400.0]), ([[1.0]], [0.0])]
    assert pf.equivalent(a, b, domain, max_cells=1).word != "different"
    assert pf.equivalent(a, b, domain).word == "equal"


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
        assert result.word == "different" and result.exact
        assert (result.max_difference, result.point) == (exactly, (2, -1))
        assert pf.equivalent(scaled_in_steps(*factors), zero, triangle, tolerance=5).word == "different"


def test_rows_whose_squares_underflow_are_paired_all_the_same():
    small, other = [([[1e-170, 2e-170]], [0]), ([[1.0]], [0])], [([[1.0, 2.5]], [0]), ([[1.0]], [0])]
    for a, b in ((small, other), (other, small)):
        result = pf.equivalent(a, b, pf.box(-1, 1))
        exactly = Fraction(7, 2) - Fraction(1e-170) - Fraction(2e-170)
        assert (result.word, result.max_difference, result.point) == ("different", exactly, (1, 1))
    twice = [([[2e-170, 4e-170]], [0]), ([[0.5]], [1e-180])]
    close = pf.equivalent(small, twice, pf.box(-1, 1), tolerance=1e-175, max_cells=1)
    assert close.word == "equal" and close.method == "bounds over the whole domain"


def test_a_domain_that_reaches_farther_than_floats():
    far = pf.polytope([[1e-300, 1e-300], [-1e-300, 0], [0, -1e-300]], [1e20] * 3)
    a, b = [([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])], [([[1.0, 0.0]], [0.0]), ([[1.0]], [1.0])]
    result = pf.equivalent(a, b, far)
    assert (result.word, result.max_difference, result.exact) == ("different", 1, True)
    assert pf.equivalent(a, b, far, tolerance=1).word == "equal"
    grown = pf.equivalent(a, [([[2.0, 0.0]], [0.0]), ([[1.0]], [0.0])], far)
    # x is largest where y is least: 1e20 / 1e-300 and as much again.
    assert grown.exact and grown.max_difference == 2 * Fraction(1e20) / Fraction(1e-300)


# -- what is printed and written


def strictly(result):
    """The result as JSON text and back, without what JSON does not have."""
    return json.loads(json.dumps(result.to_json(), allow_nan=False))


def shown(result) -> str:
    console = Console(file=io.StringIO(), width=300)
    console.print(equivalence_panel(result))
    return console.file.getvalue()


def linear(slope):
    return [([[slope]], [0.0])]


def test_differences_beyond_floats_are_written():
    """2e308 is exact as a fraction; no float is as large."""
    result = pf.equivalent(linear(1.5e308), linear(-0.5e308), pf.box(-1, 1))
    exactly = Fraction(1.5e308) + Fraction(0.5e308)
    assert result.exact and result.max_difference == exactly
    found = strictly(result)
    largest = float(np.finfo(float).max)
    assert (found["max_difference"], found["bounds"]) == (largest, {"lower": largest, "upper": "infinity"})
    assert Fraction(found["max_difference_as_fraction"]) == exactly
    assert "2e+308" in repr(result) and "2e+308" in shown(result)


def test_points_beyond_floats_are_written():
    far = pf.polytope([[1e-300], [-1e-300]], [1e20, 2e20])
    result = pf.equivalent(linear(1e-300), linear(0.0), far)
    assert result.exact and result.point == (-2 * Fraction(1e20) / Fraction(1e-300),)
    found = strictly(result)
    assert found["point"] == [None] and Fraction(found["point_as_fractions"][0]) == result.point[0]
    assert found["by_output"][0]["point"] == [None]
    assert result.x.tolist() == [-inf]
    assert "-inf" in shown(result)


@pytest.mark.parametrize("power", [400, 6000])
def test_tolerances_beyond_floats(power):
    result = pf.equivalent(linear(1.0), linear(2.0), pf.box(-1, 1), tolerance=10**power)
    assert result.word == "equal" and f"within 1e+{power}" in repr(result)
    found = strictly(result)
    assert found["tolerance"] == "infinity" and found["tolerance_as_fraction"] == "1" + power * "0"
    assert f"within 1e+{power}" in shown(result)
    tiny = pf.equivalent(linear(1.0), linear(2.0), pf.box(-1, 1), tolerance=Fraction(1, 10**power))
    assert tiny.word == "different" and f"within 1e-{power}" in repr(tiny)


def test_what_was_found_is_rounded_down_and_bounds_up():
    third, two_thirds = Fraction(1, 3), Fraction(2, 3)
    assert str(Difference(third, two_thirds)) == "between 0.333333 and 0.666667"
    assert str(Difference(two_thirds, Fraction(1, 1) + third)) == "between 0.666666 and 1.33334"
    assert str(Difference(two_thirds, two_thirds)) == "0.666666..., known exactly"
    assert str(Difference(Fraction(1, 2), inf)) == "between 0.5 and infinity"
    assert str(Difference(Fraction(1234567), Fraction(1234567))) == "1.23456e+6..., known exactly"
    assert [in_digits(Fraction(x)) for x in ("0", "0.00001", "100000", "1000000")] == ["0", "0.00001", "100000", "1e+6"]
    for gap in (0.1, 0.3):
        # 1 + gap and 1 are floats, their difference is one, too; a third of it is not.
        found = strictly(pf.equivalent([([[0.0]], [1.0])], [([[0.0]], [1.0 + gap])], pf.box(-1, 1)))
        assert found["bounds"]["lower"] == found["bounds"]["upper"] == (1.0 + gap) - 1.0
    a, b = [([[2.0**-80, 0.0]], [1.0])], [([[0.0, 0.0]], [0.0])]
    result = pf.equivalent(a, b, pf.box(-1, 1))
    found = strictly(result)
    assert result.max_difference == 1 + Fraction(1, 2**80)
    assert (found["max_difference"], found["bounds"]["upper"]) == (1.0, float(np.nextafter(1.0, 2.0)))
    assert found["by_output"][0]["lower"] == 1.0 and found["by_output"][0]["point"] == found["point"]


def test_every_output_has_its_point_in_json():
    a = [(np.eye(2), np.zeros(2))]
    b = [(np.diag([2.0, 3.0]), np.zeros(2))]
    found = strictly(pf.equivalent(a, b, pf.box([0, 0], [1, 4])))["by_output"]
    assert found[0]["point"][0] == 1.0 and found[1]["point"][1] == 4.0
    assert Fraction(found[1]["point_as_fractions"][1]) == 4


def test_the_tolerance_is_given_by_its_name():
    assert pf.equivalent(linear(1.0), linear(1.5), pf.box(-1, 1), tolerance=0.5)
    assert pf.equivalent(linear(1.0), linear(1.5), pf.box(-1, 1), tolerance=0.25).word == "different"
    with pytest.raises(TypeError):
        pf.equivalent(linear(1.0), linear(1.5), pf.box(-1, 1), 0.5)  # type: ignore[misc]


@pytest.mark.parametrize("size", [1e155, 1e200, 1e300, 1.7e308])
def test_huge_boxes_without_warnings(size):
    rng = np.random.default_rng(0)
    a = [(rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(1, 4)), np.zeros(1))]
    b = [(a[0][0].astype(np.float32).astype(float), a[0][1]), a[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for domain in (pf.box(-size, size), pf.box(size / 2, size), pf.box(-size, -1.0)):
            result = pf.equivalent(a, b, domain, max_seconds=10)
            assert result.word == "different" and result.max_difference > 0
            assert strictly(result)["word"] == "different"
            assert repr(result) and shown(result)
            assert pf.equivalent(a, b, domain, tolerance=10**400, max_seconds=10).word == "equal"
