"""The original of an ONNX model, run by onnxruntime or, where that cannot, by ONNX's own evaluator in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from polyfold._base.extras import installed
from polyfold.errors import NetworkError

# What ONNX's evaluator in Python raises for an operator that it cannot run.
REFERENCE_ERRORS = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    NotImplementedError,
    AssertionError,
)


class CannotRunError(NetworkError):
    """The model does not run with these inputs, of this number of samples."""


def session(model: Any) -> Callable[[Any, Any], Any]:
    """A function (output names, feeds) -> arrays."""
    if not installed("onnxruntime"):
        return _by_reference(model)
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # Fused nodes keep factors in float32 even where the file has float64: what is compared is the file as it stands.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        opened = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except (errors.Fail, errors.NotImplemented):
        # It knows neither all operators nor the newest versions of them.
        return _by_reference(model)
    except (errors.InvalidGraph, errors.InvalidArgument) as error:
        raise NetworkError(f"onnxruntime refuses the model: {_without_places(error)}") from error

    def run(names: Any, feeds: Any) -> Any:
        try:
            return opened.run(names, feeds)
        except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, errors.RuntimeException) as error:
            raise CannotRunError(f"onnxruntime cannot run the model: {_without_places(error)}") from error

    return run


def _by_reference(model: Any) -> Callable[[Any, Any], Any]:
    """The model by ONNX's own evaluator in Python, which takes long to import."""
    from polyfold.network.read.onnx_reference import reference

    try:
        evaluator = reference(model)
    except REFERENCE_ERRORS as error:
        raise NetworkError(f"neither onnxruntime nor ONNX's own evaluator knows this model: {error}") from error

    def run(names: Any, feeds: Any) -> Any:
        try:
            return evaluator.run(names, feeds)
        except REFERENCE_ERRORS as error:
            raise CannotRunError(f"ONNX's own evaluator cannot run the model: {error}") from error

    return run


def _without_places(error: Exception) -> str:
    """The first line of onnxruntime's message, without where in its sources it was written."""
    return re.sub(r"\S*onnxruntime_src\S* ", "", str(error).splitlines()[0])
