"""Networks whose programs are rounded: what is equal as programs need not be equal as networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from polyfold.program.lower import lower

torch = pytest.importorskip("torch")


def two_linear_layers(first, second):
    """second * (first * x), without a ReLU in between."""
    model = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)).double()
    with torch.no_grad():
        model[0].weight[:], model[1].weight[:] = first, second
    return model


def test_products_that_only_round_to_the_same_are_not_said_to_be_equal():
    """3 * 0.1 rounds to 0.30000000000000004, and is less."""
    rounded = 3 * 0.1
    assert Fraction(3) * Fraction(0.1) != Fraction(rounded)
    network, product = two_linear_layers(3.0, 0.1), [([[rounded]], [0.0])]
    positive = pf.box(0, 1)
    result = pf.equivalent(network, product, positive)
    assert result.verdict == "unknown" and result.truth() is None and result.rounded
    assert "rounding" in result.stopped_by and result.upper == np.inf and result.certificate is None
    assert result.to_json()["rounded"] is True
    within = pf.equivalent(network, product, positive, tolerance=1e-12)
    assert within.verdict == "equal" and within.rounded
    assert any("may have rounded" in check.detail for check in within.certificate.checks)


def test_exact_products_and_the_same_model_twice_are_equal():
    result = pf.equivalent(two_linear_layers(3.0, 0.25), [([[0.75]], [0.0])])
    assert result.verdict == "equal" and not result.rounded
    assert pf.equivalent(two_linear_layers(3.0, 0.1), two_linear_layers(3.0, 0.1)).verdict == "equal"
    program = lower(pf.load(two_linear_layers(3.0, 0.1)))
    assert program.rounded and pf.equivalent(program, program).verdict == "equal"


def test_equal_programs_of_different_models_are_not_enough():
    """Both products round to 0.30000000000000004."""
    u, v = 1.101, 0.2724795640326976
    assert u * v == 3 * 0.1 and Fraction(3) * Fraction(0.1) != Fraction(u) * Fraction(v)
    a, b = two_linear_layers(3.0, 0.1), two_linear_layers(u, v)
    assert lower(pf.load(a)).digest == lower(pf.load(b)).digest
    assert pf.equivalent(a, b).verdict == "unknown"
