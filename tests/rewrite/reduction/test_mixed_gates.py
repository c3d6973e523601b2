"""Stages whose gates have several slopes or read several sources: who takes over must have the right ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import polyfold as pf
from polyfold.program.exact_program import from_program
from polyfold.testing.networks import Draft, DraftAffine, DraftStage, program_from_layers


def reduced_at(program, points, **options):
    """The reduction, after a look at points in rationals."""
    found = pf.reduce(program, **options)
    assert (found.program.evaluate(points) == from_program(program).evaluate(points)).all()
    return found


LINE = [[-3.0], [-1.0], [0.0], [0.5], [2.0]]


@pytest.mark.parametrize("slopes", [[0.5, 0.0, 0.0], [-2.0, 0.0, 0.25], [0.25, 3.0, 0.25]])
def test_an_opposite_has_the_slopes_of_its_gate(slopes):
    """relu(x), relu(-x) and relu(2 x) with slopes of their own: one gate and its opposite do."""
    layers = [([[1.0], [-1.0], [2.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    found = reduced_at(program_from_layers(layers, slopes=[(1.0, slopes)]), LINE)
    assert found.neurons_after <= 2


@pytest.mark.parametrize("slopes", [([1.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])])
def test_multiples_without_a_bend(slopes):
    """Both slopes may be equal, as in a PReLU that has learnt to be linear, and gates multiples of each other."""
    layers = [([[1.0], [2.0]], [1.0, 2.0]), ([[1.0, 3.0]], [0.0])]
    found = reduced_at(program_from_layers(layers, slopes=[slopes]), LINE)
    assert found.neurons_after == (2 if slopes[0] != slopes[1] else 0 if not slopes[0][0] else 1)


def test_turning_a_gate_round_turns_all_that_it_reads():
    """Opposite pairs of x + h and x - h leave 2 x, which x + h turned round does not cancel: it reads h as well."""
    first = DraftStage(DraftAffine({0: np.array([[0.0, 1.0]])}, np.zeros(1)), np.ones(1), np.zeros(1))
    x, h = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0], [-1.0], [-1.0], [1.0]])
    second = DraftStage(DraftAffine({0: x, 1: h}, np.zeros(4)), np.ones(4), np.zeros(4))
    output = DraftAffine({2: np.array([[-1.0, -1.0, 6.0, -1.0]])}, np.zeros(1))
    points = list(product([-2.0, -1.0, 0.0, 1.0, 3.0], repeat=2))
    reduced_at(Draft(2, [first, second], output).freeze(), points)
