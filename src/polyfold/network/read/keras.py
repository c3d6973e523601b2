"""From a Keras model to a Network, by way of Keras' own ONNX export."""

from __future__ import annotations

import os
import tempfile
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.types import Array
from polyfold.errors import NetworkError
from polyfold.exact.tolerances import IMPORT_FLOAT32
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.check import verify


def from_keras(model: Any) -> Network:
    """The Network of a built Keras model."""
    shapes = _input_shapes(model)
    # Keras exports only models that have run once.
    _run(model, [np.zeros((1, size(shape))) for shape in shapes], shapes)
    exported = _export(model)
    from polyfold.network.read.onnx import from_onnx

    try:
        network = replace(from_onnx(exported, None), source="keras")
    except NetworkError as error:
        raise type(error)(f"Keras model {model.name!r}, read by way of ONNX: {error}") from error
    # Where scores nearly tie, Keras' own rounding may choose another class.
    if network.head is None or not network.head.jumps:
        stops = np.cumsum([size(shape) for shape in shapes])[:-1]
        verify(
            network,
            lambda points: _run(model, np.split(points, stops, axis=1), shapes),
            tolerance=IMPORT_FLOAT32,
            finish=network.head,
        )
    return network


def _export(model: Any) -> Any:
    """The model as an onnx.ModelProto."""
    purpose = f"reading the Keras model {model.name!r}"
    onnx = require("onnx", extra="keras", purpose=purpose)
    require("onnxscript", extra="keras", purpose=purpose)
    training = getattr(model, "training", False)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "model.onnx")
        try:
            model.export(path, format="onnx", verbose=False)
        except (RuntimeError, ValueError, TypeError, ImportError, AttributeError) as error:
            raise NetworkError(f"Keras cannot export {model.name!r} to ONNX: {error}") from error
        finally:
            # On the torch backend, exporting puts the user's model into evaluation mode.
            if training:
                model.train()
        return onnx.load(path)


def _input_shapes(model: Any) -> list[Shape]:
    """The shapes of the model's inputs without the batch axis."""
    inputs = getattr(model, "inputs", None)
    if not inputs:
        raise NetworkError(
            f"{type(model).__name__} {model.name!r} has no known input shape: build it with keras.Input(shape=...)"
        )
    shapes = [tuple(tensor.shape[1:]) for tensor in inputs]
    if any(n is None for shape in shapes for n in shape):
        raise NetworkError(f"{model.name!r} has inputs of open shape {shapes}: give keras.Input a full shape")
    return shapes


def _run(model: Any, columns: list[Array], shapes: list[Shape]) -> Array:
    """The model's outputs side by side, in inference mode."""
    inputs = [part.reshape(len(part), *shape).astype(np.float32) for part, shape in zip(columns, shapes, strict=True)]
    outputs = model.predict_on_batch(inputs if len(inputs) > 1 else inputs[0])
    parts = list(outputs.values()) if isinstance(outputs, dict) else outputs
    parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    return np.concatenate([np.asarray(p, dtype=np.float64).reshape(len(columns[0]), -1) for p in parts], axis=1)
