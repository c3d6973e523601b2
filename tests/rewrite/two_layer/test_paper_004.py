"""The two-layer examples and figures of paper 004, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import polyfold as pf
from helpers.two_layer_in_fractions import parts, same_values, value
from polyfold.program.exact_program import from_layers, lower_exactly
from polyfold.symmetry.transformations import Composition, Flip, Rescaling

# Figure 1: x+ - (-x)+ + y+ - (-y)+ - (x + y)+ + (-x - y)+.
ZERO = [
    ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]], [0.0] * 6),
    ([[1.0, -1.0, 1.0, -1.0, -1.0, 1.0]], [0.0]),
]
# Figure 2: x+ + y+ + (-x - y)+, and the same with all signs of the first layer changed.
ROUND = [([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0] * 3), ([[1.0, 1.0, 1.0]], [0.0])]
TURNED = [([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.0] * 3), ([[1.0, 1.0, 1.0]], [0.0])]
# Figure 3: 2 (1 + x)+ - (2 x + y)+ + n3 - (1 - y)+ with a bias of -1, which the flip of 1, 2 and 4 takes away. The text
# leaves open what the third neuron is; here 3 (x - y + 2)+, which the second network has at twice the size.
FIRST = [([[1.0, 0.0], [2.0, 1.0], [1.0, -1.0], [0.0, -1.0]], [1.0, 0.0, 2.0, 1.0]), ([[2.0, -1.0, 3.0, -1.0]], [-1.0])]
SECOND = [
    ([[-1.0, 0.0], [-2.0, -1.0], [2.0, -2.0], [0.0, 1.0]], [-1.0, 0.0, 4.0, -1.0]),
    ([[2.0, -1.0, 1.5, -1.0]], [0.0]),
]


def test_example_1_is_nothing_at_all() -> None:
    found = pf.rewrite.irreducible(ZERO)
    assert (found.neurons_before, found.neurons_after) == (6, 0)
    alpha, c = found.linear
    assert alpha.tolist() == [[0, 0]] and c.tolist() == [0]
    assert found.program.stages == () and not found.rounded
    assert [step.rule for step in found.steps] == ["R3", "R1"] * 3
    assert np.array_equal(found.network(np.random.default_rng(0).normal(size=(20, 2))), np.zeros((20, 1)))


def test_example_1_has_different_activation_patterns_and_is_still_not_identifiable() -> None:
    found = pf.rewrite.identifiable(ZERO)
    assert found.verdict == "no" and not found.steps
    assert found.pair is not None and [str(origin) for origin in found.pair] == ["relu1[0]", "relu1[1]"]


def test_example_1_matches_the_network_without_neurons() -> None:
    found = pf.compare.match(ZERO, [([[0.0, 0.0]], [0.0])])
    assert found.word == "equal" and found.transformation == Composition(())


def test_figure_2() -> None:
    found = pf.compare.match(ROUND, TURNED)
    assert found.word == "equal" and found.transformation == Composition((Flip(1, (0, 1, 2)),))
    assert not found.first_steps and not found.second_steps
    degenerate = pf.rewrite.identifiable(ROUND)
    assert degenerate.verdict == "no" and degenerate.pair is None
    assert [str(origin) for origin in degenerate.subset] == ["relu1[0]", "relu1[1]", "relu1[2]"]
    assert pf.equivalent(ROUND, TURNED).word == "equal"


def test_figure_3() -> None:
    found = pf.compare.match(FIRST, SECOND)
    assert found.word == "equal"
    assert found.transformation == Composition((Rescaling(1, (1, 1, 2, 1)), Flip(1, (0, 1, 3))))
    degenerate = pf.rewrite.identifiable(FIRST)
    assert [str(origin) for origin in degenerate.subset] == ["relu1[0]", "relu1[1]", "relu1[3]"]
    assert pf.equivalent(FIRST, SECOND).word == "equal"
    rng = np.random.default_rng(0)
    assert same_values(lower_exactly(pf.load(FIRST)), lower_exactly(pf.load(SECOND)), rng, 50)


def test_figure_3_without_its_bias_is_another_function() -> None:
    other = [SECOND[0], (SECOND[1][0], [0.25])]
    found = pf.compare.match(FIRST, other)
    assert found.word == "different" and "linear parts" in found.reason
    one, another = (lower_exactly(pf.load(layers)) for layers in (FIRST, other))
    assert found.values == (value(one, found.point), value(another, found.point))
    assert found.values[0][0] - found.values[1][0] == Fraction(-1, 4)


def test_both_pairs_are_irreducible() -> None:
    for layers in (ROUND, TURNED, FIRST, SECOND):
        found = pf.rewrite.irreducible(layers)
        assert found.neurons_after == found.neurons_before and not found.steps


def test_leaky_identity() -> None:
    """sigma(x) = (1 + mu) x + sigma(-x): flips of LeakyReLUs, for slopes of any sign."""
    for mu in (Fraction(1, 100), Fraction(-1, 2), Fraction(-1), Fraction(3)):
        one = from_layers([([[1]], [0]), ([[1]], [0])], slope_off=mu)
        other = Flip(1, (0,))(one)
        assert parts(other)[5] == [[1 + mu]]
        assert pf.compare.match(one, other).transformation == Composition((Flip(1, (0,)),))
