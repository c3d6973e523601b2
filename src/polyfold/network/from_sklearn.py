"""From a fitted scikit-learn MLP to a Network; its logistic or softmax output is the head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.builder import WHERE_TO_LOOK
from polyfold.network.from_arrays import chain
from polyfold.network.graph import Network
from polyfold.network.head import Head, HeadOp, Kind, OutputHead
from polyfold.network.ops import Array, constant, size
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
    if model.out_activation_ not in _KINDS:
        raise UnsupportedOpError(
            f"{kind} ends in {model.out_activation_!r} (out_activation_), which is not supported; {WHERE_TO_LOOK}"
        )
    pairs = [(constant(w.T), constant(b)) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    network = chain(pairs, source="sklearn", rectified=model.activation == "relu")
    head = _KINDS[model.out_activation_]
    if head is not None:
        shape = network.shapes[network.outputs[0]]
        op = HeadOp.along(head, shape, (0,), name="out_activation_")
        network = replace(network, head=Head((OutputHead(size(shape), (op,), shape),)))
    _verify(network, model)
    return network


def _verify(network: Network, model: Any) -> None:
    """Compare the predictions with the network's outputs behind the estimator's output function."""
    predict = getattr(model, "predict_proba", model.predict)
    single = any(w.dtype == np.float32 for w in model.coefs_)
    verify(
        network,
        lambda points: np.asarray(predict(points), dtype=np.float64).reshape(len(points), -1),
        tolerance=IMPORT_FLOAT32 if single else IMPORT_FLOAT64,
        finish=lambda scores: _predicted(network, scores),
    )


def _predicted(network: Network, scores: Array) -> Array:
    outputs = scores if network.head is None else network.head(scores)
    # A classifier with one output, the probability of the second class, reports those of both.
    two = network.head is not None and outputs.shape[1] == 1
    return np.concatenate([1.0 - outputs, outputs], axis=1) if two else outputs


_KINDS: dict[str, Kind | None] = {"identity": None, "logistic": "sigmoid", "softmax": "softmax"}
