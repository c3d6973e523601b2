"""Networks whose programs are rounded: what is equal as programs need not be equal as networks."""

from __future__ import annotations

from fractions import Fraction

import pytest

import polyfold as pf
from polyfold.program.lower.lower import lower

torch = pytest.importorskip("torch")


def two_linear_layers(first, second):
    """second * (first * x), without a ReLU in between."""
    model = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)).double()
    with torch.no_grad():
        model[0].weight[:], model[1].weight[:] = first, second
    return model


def test_products_that_only_round_to_the_same_are_different():
    """3 * 0.1 rounds to 0.30000000000000004, and is less."""
    rounded = 3 * 0.1
    gap = abs(Fraction(3) * Fraction(0.1) - Fraction(rounded))
    assert gap
    network, product = two_linear_layers(3.0, 0.1), [([[rounded]], [0.0])]
    positive = pf.box(0, 1)
    result = pf.equivalent(network, product, positive)
    assert result.word == "different" and not result and not result.rounded
    assert result.max_difference <= gap and result.max_difference == gap * result.point[0]
    assert pf.equivalent(network, product, positive, tolerance=1e-12).word == "equal"


def test_programs_that_were_rounded_prove_no_more_than_their_bounds():
    """Without the network, only a bound is known on what its program has moved by."""
    program, product = lower(pf.load(two_linear_layers(3.0, 0.1))), [([[3 * 0.1]], [0.0])]
    result = pf.equivalent(program, product, pf.box(0, 1))
    assert result.word == "unknown" and result.rounded and result.to_json()["rounded"] is True
    assert result.evidence.rounding == result.to_json()["evidence"]["rounding"] != ""
    assert "rounded" in result.stopped_by and 0 < result.upper < 1e-15
    within = pf.equivalent(program, product, pf.box(0, 1), tolerance=1e-12)
    assert within.word == "equal" and any("room" in check.detail for check in within.certificate.checks)


def test_exact_products_and_the_same_model_twice_are_equal():
    result = pf.equivalent(two_linear_layers(3.0, 0.25), [([[0.75]], [0.0])])
    assert result.word == "equal" and not result.rounded
    assert pf.equivalent(two_linear_layers(3.0, 0.1), two_linear_layers(3.0, 0.1)).word == "equal"
    program = lower(pf.load(two_linear_layers(3.0, 0.1)))
    assert program.rounded and pf.equivalent(program, program).word == "equal"


def test_models_with_equal_programs_may_differ():
    """Both products round to 0.30000000000000004."""
    u, v = 1.101, 0.2724795640326976
    assert u * v == 3 * 0.1 and Fraction(3) * Fraction(0.1) != Fraction(u) * Fraction(v)
    a, b = two_linear_layers(3.0, 0.1), two_linear_layers(u, v)
    assert lower(pf.load(a)).digest == lower(pf.load(b)).digest
    result = pf.equivalent(a, b)
    assert result.word == "different"
    slope = abs(Fraction(3) * Fraction(0.1) - Fraction(u) * Fraction(v))
    assert result.max_difference == slope * abs(result.point[0])
