"""Every row of two data sets, with trained networks: values add up in every scope."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import polyfold as pf

PROMISED = 1e-9


def scaled(data: Any) -> Any:
    return (data - data.mean(axis=0)) / data.std(axis=0)


@pytest.fixture(scope="module")
def diabetes() -> tuple[pf.Network, Any]:
    datasets, networks = pytest.importorskip("sklearn.datasets"), pytest.importorskip("sklearn.neural_network")
    X, y = datasets.load_diabetes(return_X_y=True)
    X, y = scaled(X), scaled(y)
    model = networks.MLPRegressor(hidden_layer_sizes=(16, 8), max_iter=300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert model.score(X, y) > 0.5
    return pf.load(model), X


@pytest.fixture(scope="module")
def cancer() -> tuple[pf.Network, Any]:
    datasets, networks = pytest.importorskip("sklearn.datasets"), pytest.importorskip("sklearn.neural_network")
    X, y = datasets.load_breast_cancer(return_X_y=True)
    X = scaled(X)
    model = networks.MLPClassifier(hidden_layer_sizes=(12, 6), max_iter=300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert model.score(X, y) > 0.97
    return pf.load(model), X


def adds_up(found: pf.explain.Shapley, network: pf.Network, X: Any) -> None:
    gaps = np.abs(found.base_values + found.values.sum(axis=1) - network(X))
    assert found.values.shape == (len(X), X.shape[1], network.output_dim) and gaps.max() < PROMISED
    assert found.efficiency_error.max() < PROMISED


def test_diabetes(diabetes: tuple[pf.Network, Any]) -> None:
    network, X = diabetes
    adds_up(pf.explain.shapley(network, X, background=X, scope="cell", empty="all"), network, X)
    adds_up(pf.explain.shapley(network, X, means=X.mean(axis=0), scope="cell"), network, X)
    baseline = pf.explain.shapley(network, X, background=X.mean(axis=0), scope="baseline")
    adds_up(baseline, network, X)
    averaged = pf.explain.shapley(network, X, background=X[:5], scope="interventional")
    adds_up(averaged, network, X)
    assert baseline.exact and averaged.exact and len(X) == 442


def test_breast_cancer(cancer: tuple[pf.Network, Any]) -> None:
    network, X = cancer
    found = pf.explain.shapley(network, X, background=X, scope="cell", empty="all")
    adds_up(found, network, X)
    assert np.array_equal(found.local.points == 0, found.local.continued) and len(X) == 569
    adds_up(pf.explain.shapley(network, X, background=X[:50], scope="cell", empty="all"), network, X)
    # Thirty features are too many for all coalitions: an estimate, which adds up too.
    estimated = pf.explain.shapley(network, X, background=X.mean(axis=0), scope="baseline", estimate=20)
    adds_up(estimated, network, X)
    assert not estimated.exact


def test_breast_cancer_integrated_gradients(cancer: tuple[pf.Network, Any]) -> None:
    network, X = cancer
    found = pf.explain.integrated_gradients(network, X, baseline=X.mean(axis=0))
    expected = network(X) - network(X.mean(axis=0)[None])
    assert np.abs(found.values.sum(axis=1) - expected).max() < PROMISED
