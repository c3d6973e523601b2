"""A first layer that widens: W_1 = W~ iota with an invertible W~, and sigma(W x + b) = W~ tau(iota x) + b."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import layers_of, points_in
from polyfold.exact.linear_algebra import exact_rank
from polyfold.exact.rational_arrays import nearest, rationals


@pytest.mark.parametrize("widths", [[2, 4, 3, 2], [1, 3, 3, 2, 1], [2, 3, 3], [3, 7, 5, 5, 2], [4, 5, 1]], ids=str)
def test_lifted_networks_are_their_truncation_maps(widths: list[int]) -> None:
    rng = np.random.default_rng(widths)
    for _ in range(3):
        layers = layers_of(rng, widths)
        plain, found = pf.layers.truncation(layers), pf.layers.truncation(layers, lift=True)
        assert plain.exact_layers == 0 and found.lifted and found.dim == widths[1]
        assert found.holds == all(exact_rank(rationals(W)) == len(W) for W, _ in layers[1:-1])
        tilde = found.maps[0]
        assert tilde.surjective and tilde.injective
        assert np.array_equal(tilde.weight[:, : widths[0]], layers[0][0])
        X = points_in(rng, 10, widths[0])
        assert np.array_equal(found.states(X)[0], np.pad(X, ((0, 0), (0, widths[1] - widths[0]))))
        check = found.check(X, exact=True)
        assert check.proved[0] and not check.largest[: found.exact_layers].any()
        if found.holds:
            assert not check.largest.any()
            np.testing.assert_allclose(found.outputs(X), pf.load(layers)(X), rtol=0, atol=1e-8)


def test_equation_4_1_for_any_completion() -> None:
    """The paper's statement holds for every invertible W~ with these first columns, not for ours only."""
    rng = np.random.default_rng(5)
    W, b = layers_of(rng, [2, 5])[0]
    X = points_in(rng, 30, 2)
    wanted = np.maximum(X @ W.T + b, 0)
    for _ in range(5):
        tau = pf.layers.truncation_map(np.concatenate([W, rng.normal(size=(5, 3))], axis=1), b)
        assert tau.surjective
        np.testing.assert_allclose(tau(np.pad(X, ((0, 0), (0, 3)))) @ tau.weight.T + b, wanted, rtol=0, atol=1e-9)


def test_the_first_coordinates_are_the_plain_truncation() -> None:
    """And the others are what it loses, in orthonormal coordinates."""
    rng = np.random.default_rng(6)
    layers = layers_of(rng, [3, 7, 2])
    X = points_in(rng, 25, 3)
    plain, lifted = pf.layers.truncation(layers).states(X)[1], pf.layers.truncation(layers, lift=True).states(X)[1]
    np.testing.assert_allclose(lifted[:, :3], plain, rtol=0, atol=1e-12)
    W, b = layers[0]
    lost = np.maximum(X @ W.T + b, 0) - (plain @ W.T + b)
    assert np.linalg.norm(lost) > 0.1
    np.testing.assert_allclose(np.linalg.norm(lifted[:, 3:], axis=1), np.linalg.norm(lost, axis=1), rtol=0, atol=1e-12)


def test_columns_that_floats_take_for_dependent() -> None:
    W = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [1.0, 1.0]])
    found = pf.layers.truncation([(W, np.array([0.5, -1.0, 0.25])), (np.ones((1, 3)), np.zeros(1))], lift=True)
    assert found.holds and exact_rank(found.layers[0].weight) == 3
    assert np.array_equal(nearest(found.layers[0].weight)[:, :2], W)
    assert not found.check([[1.0, -2.0], [-1.0, 1.0]], exact=True).largest.any()


def test_what_cannot_be_lifted_is_said() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(pf.PolyfoldError, match="'relu1' has 2 gates for 3 inputs"):
        pf.layers.truncation(layers_of(rng, [3, 2, 1]), lift=True)
    with pytest.raises(pf.PolyfoldError, match="rank 1, and there are 2 inputs"):
        pf.layers.truncation([(np.ones((3, 2)), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))], lift=True)
    with pytest.raises(pf.PolyfoldError, match="no hidden layer"):
        pf.layers.truncation(layers_of(rng, [2, 3]), lift=True)
