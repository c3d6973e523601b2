"""x^(l) = W^(l) x^(tau,l) + b^(l): exactly where layers are surjective, measured elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import Layers, layers_of, points_in

sympy = pytest.importorskip("sympy")

NARROWING = [[3, 3, 2], [2, 2, 2, 2, 3], [5, 4, 3, 2, 2], [4, 4, 4, 1], [6, 3, 3, 5], [1, 1, 1], [3, 2, 1, 4], [7, 2]]


def surjective(layers: Layers) -> bool:
    """By sympy, in its own rationals."""
    return all(sympy.Matrix(np.vectorize(sympy.Rational)(W)).rank() == len(W) for W, _ in layers)


@pytest.mark.parametrize("widths", NARROWING, ids=str)
def test_surjective_networks_are_their_truncation_maps(widths: list[int]) -> None:
    rng = np.random.default_rng(widths)
    tried = 0
    while tried < 4:
        layers = layers_of(rng, widths)
        found = pf.layers.truncation(layers)
        assert found.holds == surjective(layers[:-1])
        if not found.holds:
            continue
        tried += 1
        X = points_in(rng, 12, widths[0])
        # In rationals: all states, all layers and the outputs.
        exact = found.check(X, exact=True)
        assert all(exact.proved) and exact.exact and not exact.largest.any()
        assert exact.scale.max() > 0
        in_floats = found.check(X)
        assert (in_floats.largest <= 1e-9 * (1 + in_floats.scale)).all()
        np.testing.assert_allclose(found.outputs(X), pf.load(layers)(X), rtol=0, atol=1e-9)
        for state, truth in zip(found.states(X), found.states_exactly(X), strict=True):
            np.testing.assert_allclose(state, truth.astype(float), rtol=0, atol=1e-9)


def test_the_last_layer_need_not_be_surjective() -> None:
    """The paper asks it of all layers; the affine map behind the last truncation may have any rank."""
    rng = np.random.default_rng(0)
    layers = [*layers_of(rng, [3, 3, 2]), (np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]), np.ones(3))]
    found = pf.layers.truncation(layers)
    assert found.holds and not found.check(points_in(rng, 9, 3), exact=True).largest.any()


@pytest.mark.parametrize("widths", [[2, 2, 1], [2, 3, 2], [3, 2, 2], [2, 4, 3, 2]], ids=str)
def test_states_are_what_the_definition_says(widths: list[int]) -> None:
    """Straight from the definition, with sympy's rationals and its own pseudo-inverse; surjective or not."""
    rng = np.random.default_rng(widths)
    layers = layers_of(rng, widths)
    X = points_in(rng, 3, widths[0])
    found = pf.layers.truncation(layers).states_exactly(X)
    assert len(found) == len(layers)
    for i, x in enumerate(X):
        state = sympy.Matrix([sympy.Rational(value) for value in x])
        W, b = sympy.eye(widths[0]), sympy.zeros(widths[0], 1)
        for k, (weight, bias) in enumerate(layers[:-1]):
            step = sympy.Matrix(np.vectorize(sympy.Rational)(weight))
            W, b = step * W, step * b + sympy.Matrix([sympy.Rational(value) for value in bias])
            state = W.pinv() * ((W * state + b).applyfunc(lambda z: sympy.Max(z, 0)) - b)
            mine = [sympy.Rational(int(value.p), int(value.q)) for value in found[k + 1][i]]
            assert list(state) == mine


def test_a_widening_network_loses_and_says_how_much() -> None:
    rng = np.random.default_rng(3)
    layers = layers_of(rng, [2, 4, 3, 2])
    found = pf.layers.truncation(layers)
    assert not found.holds and found.exact_layers == 0 and found.surjective == (False, True)
    X = points_in(rng, 20, 2)
    exact, measured = found.check(X, exact=True), found.check(X)
    assert exact.proved == measured.proved == (False, False, False)
    assert exact.largest.all()
    np.testing.assert_allclose(measured.largest, exact.largest, rtol=1e-9, atol=1e-12)
    # The first residual by hand: what the range of W_1 does not hold.
    W, b = layers[0]
    values = np.maximum(X @ W.T + b, 0) - b
    outside = values - values @ (W @ np.linalg.pinv(W)).T
    assert np.abs(outside).max() == pytest.approx(measured.largest[0], rel=1e-9)
    assert "'relu1' is not surjective" in repr(found)


def test_where_all_gates_are_on_nothing_is_lost() -> None:
    """The proposition may hold at inputs even if it does not hold for all: rationals tell."""
    layers = [(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.ones(3)), (np.ones((1, 3)), np.zeros(1))]
    found = pf.layers.truncation(layers)
    check = found.check(np.array([[1.0, 2.0], [0.5, 0.1]]), exact=True)
    assert check.proved == (False, False) and not check.largest.any()
    assert found.check(np.array([[-3.0, 1.0]]), exact=True).largest[0] > 0


def test_a_rank_that_floats_cannot_see_counts() -> None:
    """Surjective by one part in 2^50: decided, and the proposition holds exactly."""
    W = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-50]])
    layers = [(W, np.array([0.5, -0.25])), (np.array([[1.0, 1.0]]), np.zeros(1))]
    found = pf.layers.truncation(layers)
    assert found.holds and found.maps[0].condition > 1e15
    assert not found.check([[1.0, -2.0], [3.0, 1.0]], exact=True).largest.any()
    flat = pf.layers.truncation([(np.ones((2, 2)), np.array([0.5, -0.25])), layers[1]])
    assert not flat.holds and flat.maps[0].rank == 1


def test_a_tiny_residual_is_not_rounded_to_zero() -> None:
    layers = [(np.array([[1.0], [1.0]]), np.array([0.0, -(2.0**-1074)])), (np.ones((1, 2)), np.zeros(1))]
    assert pf.layers.truncation(layers).check([[0.0]], exact=True).largest[0] > 0


def test_one_layer_has_no_truncation() -> None:
    found = pf.layers.truncation([(np.array([[1.0, 2.0]]), np.array([3.0]))])
    assert found.holds and found.maps == ()
    assert [state.tolist() for state in found.states([[1.0, 1.0]])] == [[[1.0, 1.0]]]
    assert found.outputs([[1.0, 1.0]]).tolist() == [[6.0]]
    assert not found.check([[1.0, 1.0]], exact=True).largest.any()


def test_bad_inputs() -> None:
    found = pf.layers.truncation(layers_of(np.random.default_rng(0), [2, 2, 1]))
    with pytest.raises(pf.PolyfoldError, match="takes 2 numbers per row"):
        found.states(np.zeros((3, 5)))
    with pytest.raises(pf.PolyfoldError, match="finite numbers; X holds nan"):
        found.states([[np.nan, 0.0]])
    with pytest.raises(pf.PolyfoldError, match="takes 2 numbers per row"):
        found.states_exactly([[1, 2, 3]])
    with pytest.raises(pf.PolyfoldError, match="rational numbers"):
        found.states_exactly([[np.nan, 1.0]])
    with pytest.raises(pf.PolyfoldError, match="rational numbers"):
        found.check([[np.inf, 1.0]], exact=True)
    huge = np.full((2, 2), 1e200) * [[1, 2], [3, 1]]
    with pytest.raises(pf.PolyfoldError, match="too large for floats"):
        pf.layers.truncation([(huge, np.zeros(2)), (huge, np.zeros(2)), (huge, np.zeros(2))])
    small = huge / 1e200 / 1e200
    with pytest.raises(pf.PolyfoldError, match="or so small, that its pseudo-inverse is too large for floats"):
        pf.layers.truncation([(small, np.zeros(2)), (small, np.zeros(2)), (small, np.zeros(2))])
