"""From a fitted scikit-learn MLP to a Network; its logistic or softmax output is left out and recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.builder import WHERE_TO_LOOK, Ending
from polyfold.network.from_arrays import chain
from polyfold.network.graph import Network
from polyfold.network.ops import Array, constant
from polyfold.network.verify import verify


def from_sklearn(model: Any) -> Network:
    """The Network of an MLPClassifier or MLPRegressor."""
    kind = type(model).__name__
    if not hasattr(model, "coefs_"):
        raise NetworkError(f"{kind} has no weights yet: call fit(X, y) first")
    if model.activation not in ("relu", "identity"):
        raise UnsupportedOpError(
            f"{kind}(activation={model.activation!r}) is not piecewise linear: "
            f"train it with activation='relu'; {WHERE_TO_LOOK}"
        )
    if model.out_activation_ not in OUTPUTS:
        raise UnsupportedOpError(
            f"{kind} ends in {model.out_activation_!r} (out_activation_), which is not supported; {WHERE_TO_LOOK}"
        )
    pairs = [(constant(w.T), constant(b)) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    network = chain(pairs, source="sklearn", rectified=model.activation == "relu")
    _verify(network, model)
    if model.out_activation_ == "identity":
        return network
    ending = Ending("out_activation_", model.out_activation_, network.outputs[0])
    return replace(network, stripped=(str(ending),))


def _verify(network: Network, model: Any) -> None:
    """Compare the predictions with the network's outputs behind the estimator's output function."""
    predict = getattr(model, "predict_proba", model.predict)
    single = any(w.dtype == np.float32 for w in model.coefs_)
    verify(
        network,
        lambda points: np.asarray(predict(points), dtype=np.float64).reshape(len(points), -1),
        tolerance=IMPORT_FLOAT32 if single else IMPORT_FLOAT64,
        finish=OUTPUTS[model.out_activation_],
    )


def _logistic(z: Array) -> Array:
    p = 0.5 * (1.0 + np.tanh(0.5 * z))
    # A classifier with one output reports the probabilities of both classes.
    return np.concatenate([1.0 - p, p], axis=1) if z.shape[1] == 1 else p


def _softmax(z: Array) -> Array:
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _identity(z: Array) -> Array:
    return z


OUTPUTS = {"identity": _identity, "logistic": _logistic, "softmax": _softmax}
