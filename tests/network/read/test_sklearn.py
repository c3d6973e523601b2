"""Networks from scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

sklearn_network = pytest.importorskip("sklearn.neural_network")

from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network import load

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


def fitted(kind: str, y: Any, **options: Any) -> Any:
    model = getattr(sklearn_network, kind)(hidden_layer_sizes=(5, 4), max_iter=20, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def test_regressor() -> None:
    model = fitted("MLPRegressor", X[:, 0])
    network = load(model)
    np.testing.assert_allclose(network(X)[:, 0], model.predict(X), rtol=1e-12)
    assert network.source == "sklearn" and network.head is None


def test_regressor_with_several_outputs_and_no_activation() -> None:
    model = fitted("MLPRegressor", X[:, :2], activation="identity")
    network = load(model)
    np.testing.assert_allclose(network(X), model.predict(X), rtol=1e-12, atol=1e-12)
    assert [node.name for node in network.nodes] == ["linear1", "linear2", "linear3"]


def test_binary_classifier() -> None:
    model = fitted("MLPClassifier", X[:, 0] > 0)
    network = load(model)
    assert network.output_dim == 1
    np.testing.assert_array_equal(network(X)[:, 0] > 0, model.predict(X))
    assert str(network.head) == "sigmoid of 1 score" and network.head.outputs[0].ops[0].name == "out_activation_"
    np.testing.assert_allclose(network.model_outputs(X)[:, 0], model.predict_proba(X)[:, 1], rtol=1e-12)


def test_classifier_with_three_classes() -> None:
    model = fitted("MLPClassifier", np.digitize(X[:, 0], [-0.5, 0.5]))
    network = load(model)
    np.testing.assert_array_equal(network(X).argmax(axis=1), model.predict(X))
    assert str(network.head) == "softmax over 3 scores"
    np.testing.assert_allclose(network.model_outputs(X), model.predict_proba(X), rtol=1e-9)


def test_multilabel_classifier() -> None:
    model = fitted("MLPClassifier", (X[:, :2] > 0).astype(int))
    assert load(model).output_dim == 2


def test_float32_weights() -> None:
    model = sklearn_network.MLPRegressor(hidden_layer_sizes=(3,), max_iter=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X.astype(np.float32), X[:, 0].astype(np.float32))
    assert load(model).input_dim == 3


def test_an_unfitted_model_says_so() -> None:
    with pytest.raises(NetworkError, match=r"MLPRegressor has no weights yet: call fit"):
        load(sklearn_network.MLPRegressor())


def test_tanh_is_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"activation='tanh'.*docs/networks.md"):
        load(fitted("MLPRegressor", X[:, 0], activation="tanh"))


@pytest.mark.parametrize("model", [LinearRegression(), make_pipeline(LinearRegression())])
def test_other_estimators_are_refused_by_name(model: Any) -> None:
    with pytest.raises(NetworkError, match="LinearRegression is not a network"):
        load(model)


SCALERS = {
    "standard": lambda: StandardScaler(),
    "standard without a mean": lambda: StandardScaler(with_mean=False),
    "standard without a width": lambda: StandardScaler(with_std=False),
    "between": lambda: MinMaxScaler((-2, 3)),
    "clipped": lambda: MinMaxScaler(clip=True),
    "largest": lambda: MaxAbsScaler(),
    "robust": lambda: RobustScaler(),
    "robust without a middle": lambda: RobustScaler(with_centering=False),
    "nothing": lambda: FunctionTransformer(),
    "passed through": lambda: "passthrough",
    "two": lambda: make_pipeline(StandardScaler(), MinMaxScaler()),
}


@pytest.mark.parametrize("name", SCALERS)
def test_pipelines_with_scalers(name: str) -> None:
    # The last column never changes.
    data = np.concatenate([X * [1.0, 100.0, 1e-3] + [0.0, 5.0, 0.0], np.full((len(X), 1), 7.0)], axis=1)
    model = make_pipeline(
        SCALERS[name](), sklearn_network.MLPRegressor(hidden_layer_sizes=(5,), max_iter=30, random_state=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data, X[:, 0])
    network = load(model)
    np.testing.assert_allclose(network(data)[:, 0], model.predict(data), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"), "is a ColumnTransformer"),
        (PolynomialFeatures(), "is a PolynomialFeatures"),
        (FunctionTransformer(np.abs), "FunctionTransformer of <ufunc 'absolute'>"),
    ],
)
def test_other_steps_are_refused_by_name(step: Any, words: str) -> None:
    model = make_pipeline(step, sklearn_network.MLPRegressor(hidden_layer_sizes=(3,), max_iter=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, X[:, 0])
    with pytest.raises(UnsupportedOpError, match=words):
        load(model)


def test_a_pipeline_that_is_not_fitted() -> None:
    with pytest.raises(NetworkError, match="has no weights yet"):
        load(make_pipeline(StandardScaler(), sklearn_network.MLPRegressor()))
