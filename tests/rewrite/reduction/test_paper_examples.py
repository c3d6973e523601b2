"""Examples 2 and 3 of paper 004: neurons of deeper layers that are always active, and which of them can be merged."""

from __future__ import annotations

import numpy as np
from flint import fmpq

import polyfold as pf
from helpers.confirming import confirmed
from polyfold.exact.rational_arrays import product, rationals
from polyfold.program.exact_program import from_layers, lower_exactly
from polyfold.rewrite.reduction.carriers import bounded_below

# Two inputs pass a layer of three ReLUs; two neurons with positive weights follow, and one that switches.
FIRST = ([[1, 0], [0, 1], [1, -1]], [0, 1, 0])
SWITCHES = ([1, -2, 1], -1)
QUADRANT = np.zeros(2), np.full(2, np.inf)


def deep(A, C):
    """Always-active neurons with incoming weights A and outgoing ones C beside one that switches."""
    second = [*A, SWITCHES[0]], [0] * len(A) + [SWITCHES[1]]
    return [FIRST, second, ([[*row, 1] for row in C], [0] * len(C))]


def test_example_2_active_neurons_may_be_mixed():
    A, C = np.array([[1, 2, 1], [3, 1, 2]]), np.array([[1, 2], [5, 1]])
    B = np.array([[2, 1], [1, 1]])
    inverse = np.array([[1, -1], [-1, 2]])
    one, other = deep(A, C), deep(B @ A, C @ inverse)
    X = [[fmpq(a, 3), fmpq(b, 7)] for a in range(-5, 6) for b in range(-5, 6)]
    assert (from_layers(one).evaluate(X) == from_layers(other).evaluate(X)).all()
    floats = [[(np.array(W, dtype=float), np.array(b, dtype=float)) for W, b in net] for net in (one, other)]
    assert pf.equivalent(*floats)
    # Both neurons are needed: what they compute together has rank two.
    assert all(pf.reduce(net).neurons_after == 6 for net in floats)


def test_example_2_linearly_dependent_active_neurons_are_folded():
    net = deep([[1, 2, 1], [3, 1, 2], [4, 3, 3], [2, 4, 2]], [[1, 2, -1, 3]])
    found = pf.reduce(net)
    # What four neurons add up to is one function: (1, 2, 1) + 2 (3, 1, 2) - (4, 3, 3) + 3 (2, 4, 2) = (9, 13, 8).
    assert (found.neurons_before, found.neurons_after) == (8, 5)
    assert found.exact and pf.equivalent(net, found.network)


def test_example_3_two_active_neurons_that_one_cannot_replace():
    """A = identity, C = (1, -1): x1 - x2 changes its sign, and d relu(D x) never does."""
    assert bounded_below(rationals([[1, -1]]), *QUADRANT) is None
    # Two outputs, x1 - x2 and x1, leave a choice of two functions that are never negative.
    both = rationals([[1, -1], [1, 0]])
    found = bounded_below(both, *QUADRANT)
    assert found is not None and all(value >= 0 for value in found.rows.ravel())
    assert (product(found.back, found.rows) == both).all()
    plane = [
        ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
        ([[1, 0, 0], [0, 1, 0], [1, 1, -3]], [0, 0, 0]),
        ([[1, -1, 1]], [0]),
    ]
    everywhere = pf.reduce(plane)
    assert [stage.width for stage in everywhere.program.stages] == [3, 3]
    # On a box a bias keeps x1 - x2 + c active, so there one neuron does.
    inside = pf.reduce(plane, pf.box(-1, 2))
    assert inside.neurons_after == 5 and confirmed(inside).word == "equal"


def test_lowering_is_exact():
    net = deep([[1, 2, 1]], [[3]])
    program = lower_exactly(pf.load(net))
    X = [[fmpq(1, 3), fmpq(-2, 7)]]
    assert (program.evaluate(X) == from_layers(net).evaluate(X)).all()


def test_a_linear_part_vanishes_when_gates_are_turned_round():
    """relu(x) + relu(y) + relu(-x - y), with all three turned round, is the same function (paper 004, appendix D)."""
    one = [([[1, 0], [0, 1], [-1, -1]], [0, 0, 0]), ([[1, 1, 1]], [0])]
    assert pf.reduce(one).neurons_after == 3
    # The same in six neurons: each pair adds up to a relu and a linear function, and these cancel only in pairs of
    # their own. Turned round, nothing linear is left.
    W = [[1, 0], [-1, 0], [0, 1], [0, -1], [-1, -1], [1, 1]]
    six = [(W, [0] * 6), ([[3, 2, 3, 2, 3, 2]], [0])]
    found = pf.reduce(six)
    assert found.neurons_after == 3 and found.exact and pf.equivalent(six, found.network)
    biased = [(W, [1, -1, 2, -2, -3, 3]), ([[3, 1, 3, 1, 3, 1], [1, 0, 1, 0, 1, 0]], [0, 5])]
    found = pf.reduce(biased)
    assert found.neurons_after == 3 and found.exact and pf.equivalent(biased, found.network)


def test_only_some_gates_have_to_be_turned_round():
    """relu(x) + 2 relu(-x) + 5 relu(x + 1) + relu(-x - 1) is 3 relu(-x) + 6 relu(x + 1) - 1."""
    net = [([[1], [-1], [1], [-1]], [0, 0, 1, -1]), ([[1, 2, 5, 1]], [0])]
    found = pf.reduce(net)
    assert found.neurons_after == 2 and found.exact and pf.equivalent(net, found.network)
    assert sorted(found.network.nodes[0].op.weight.ravel()) == [-1, 1]
