"""From a fitted scikit-learn MLP, alone or behind scalers, to a Network; its logistic or softmax output is the head."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.graph import Network
from polyfold.network.head import Head, HeadOp, Kind, OutputHead
from polyfold.network.ops.op import constant, size
from polyfold.network.read.arrays import layers_behind
from polyfold.network.read.builder import WHERE_TO_LOOK, Builder, Site
from polyfold.network.read.check import verify
from polyfold.network.read.sklearn_scalers import scaled, steps_of


def from_sklearn(model: Any) -> Network:
    """The Network of an MLPClassifier or MLPRegressor, or of a Pipeline of scalers that ends in one."""
    *scalers, estimator = steps_of(model)
    mlp = _checked(estimator[1])
    pairs = [(constant(w.T), constant(b)) for w, b in zip(mlp.coefs_, mlp.intercepts_, strict=True)]
    builder = Builder("sklearn")
    value = builder.port("input", (pairs[0][0].shape[1],))
    for name, scaler in scalers:
        value = scaled(Site(builder, name, type(scaler).__name__), value, scaler)
    network = builder.finish([layers_behind(builder, value, pairs, rectified=mlp.activation == "relu")])
    head = _KINDS[mlp.out_activation_]
    if head is not None:
        shape = network.shapes[network.outputs[0]]
        op = HeadOp.along(head, shape, (0,), name="out_activation_")
        network = replace(network, head=Head((OutputHead(size(shape), (op,), shape),)))
    _verify(network, model, mlp)
    return network


def _checked(model: Any) -> Any:
    """A fitted MLP that can be read, or an error that says why not."""
    kind = type(model).__name__
    if not hasattr(model, "out_activation_") and not hasattr(model, "activation"):
        raise NetworkError(
            f"scikit-learn's {kind} is not a network: the last step must be an MLPClassifier or MLPRegressor"
        )
    if not hasattr(model, "coefs_"):
        raise NetworkError(f"{kind} has no weights yet: call fit(X, y) first")
    if model.activation not in ("relu", "identity"):
        raise UnsupportedOpError(
            f"{kind}(activation={model.activation!r}) is not piecewise linear: "
            f"train it with activation='relu'; {WHERE_TO_LOOK}"
        )
    if model.out_activation_ not in _KINDS:
        raise UnsupportedOpError(
            f"{kind} ends in {model.out_activation_!r} (out_activation_), which is not supported; {WHERE_TO_LOOK}"
        )
    return model


def _verify(network: Network, model: Any, mlp: Any) -> None:
    """Compare the predictions with the network's outputs behind the estimator's output function."""
    predict = getattr(model, "predict_proba", None) or model.predict
    single = any(w.dtype == np.float32 for w in mlp.coefs_)

    def predicted(points: Array) -> Array:
        with warnings.catch_warnings():
            # A model that was fitted with names of columns wants them again, and does as well without.
            warnings.simplefilter("ignore")
            return np.asarray(predict(points), dtype=np.float64).reshape(len(points), -1)

    verify(
        network,
        predicted,
        tolerance=IMPORT_FLOAT32 if single else IMPORT_FLOAT64,
        finish=lambda scores: _predicted(network, scores),
    )


def _predicted(network: Network, scores: Array) -> Array:
    outputs = scores if network.head is None else network.head(scores)
    # A classifier with one output, the probability of the second class, reports those of both.
    two = network.head is not None and outputs.shape[1] == 1
    return np.concatenate([1.0 - outputs, outputs], axis=1) if two else outputs


_KINDS: dict[str, Kind | None] = {"identity": None, "logistic": "sigmoid", "softmax": "softmax"}
