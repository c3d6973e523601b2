"""The last layer in its least-squares form."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import layers_of, points_in
from polyfold.datasets.blobs import blobs, blobs_data


@pytest.mark.parametrize("widths", [[3, 3, 3, 2], [4, 3, 3], [5, 5, 4, 4, 3]], ids=str)
def test_weights_solve_the_least_squares_problem(widths: list[int]) -> None:
    rng = np.random.default_rng(widths)
    layers = layers_of(rng, widths)
    X, y = points_in(rng, 50, widths[0]), np.arange(50) % widths[-1]
    truncation = pf.layers.truncation(layers)
    found = truncation.least_squares(X, y)
    states = truncation.states(X)[-1]
    means = np.stack([states[y == j].mean(axis=0) for j in range(widths[-1])], axis=1)
    solution = np.linalg.lstsq(means.T, np.eye(widths[-1]), rcond=None)[0].T
    np.testing.assert_allclose(found.weight, solution, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.weight @ found.means, np.eye(widths[-1]), rtol=0, atol=1e-9)
    outputs = states @ found.weight.T
    cost = sum(((outputs[y == j] - np.eye(widths[-1])[j]) ** 2).sum(axis=1).mean() for j in range(widths[-1]))
    assert found.cost == pytest.approx(cost)
    # As a layer behind the hidden ones it gives the same: x^(L) = W_LS x^(tau,L-1).
    np.testing.assert_allclose(found.network(X), outputs, rtol=0, atol=1e-8)


def test_more_classes_than_dimensions_and_targets_of_ones_own() -> None:
    rng = np.random.default_rng(0)
    truncation = pf.layers.truncation(layers_of(rng, [2, 2, 2]))
    X, y = points_in(rng, 40, 2), np.arange(40) % 4
    targets = rng.normal(size=(4, 3))
    found = truncation.least_squares(X, y, targets)
    assert found.weight.shape == (3, 2) and found.network_cost is None
    gaps = found.weight @ found.means - targets.T
    # Least squares: the error is orthogonal to what can be reached.
    np.testing.assert_allclose(gaps @ found.means.T, 0, rtol=0, atol=1e-9)
    assert np.abs(gaps).max() > 0.1
    with pytest.raises(
        pf.PolyfoldError, match=r"a row for each of 4 classes, \(0, 1, 2, 3\); they have shape \(2, 2\)"
    ):
        truncation.least_squares(X, y, np.eye(2))


def test_collapsed_classes_cost_nothing() -> None:
    """If every class is a point, and points are independent, the least-squares layer has no error."""
    tau = pf.layers.cone_layer([1.0, 1.0], [1.0, 0.0], 1.0)
    X = np.array([[3.0, 1.0], [3.0, 1.0], [0.5, 1.0], [-1.0, 1.2]])
    truncation = pf.layers.truncation([(tau.weight, tau.bias), (np.ones((2, 2)), np.zeros(2))])
    found = truncation.least_squares(X, [0, 0, 1, 1])
    assert found.cost == pytest.approx(0.0, abs=1e-20) and found.network_cost > 1
    np.testing.assert_allclose(found.network(X), np.eye(2)[[0, 0, 1, 1]], rtol=0, atol=1e-12)


def test_a_trained_network() -> None:
    X, y = blobs_data()
    truncation = pf.layers.truncation(blobs())
    found = truncation.least_squares(X, y)
    assert found.classes == (0, 1, 2) and found.weight.shape == (3, 2)
    np.testing.assert_allclose(found.network(X), truncation.states(X)[-1] @ found.weight.T, rtol=0, atol=1e-9)


def test_lifted_networks_have_one_too() -> None:
    rng = np.random.default_rng(4)
    layers = layers_of(rng, [2, 4, 3, 3])
    X, y = points_in(rng, 30, 2), np.arange(30) % 3
    lifted = pf.layers.truncation(layers, lift=True)
    assert lifted.holds
    found = lifted.least_squares(X, y)
    assert found.network.input_dim == 2
    np.testing.assert_allclose(found.network(X), lifted.states(X)[-1] @ found.weight.T, rtol=0, atol=1e-8)
    with pytest.raises(pf.PolyfoldError, match="where all hidden layers are surjective"):
        _ = pf.layers.truncation(layers).least_squares(X, y).network
