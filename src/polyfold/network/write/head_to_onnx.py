"""A head as ONNX operators behind the scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from onnx import helper

from polyfold.network.head import ELEMENTWISE, Head, HeadOp, OutputHead
from polyfold.network.ops.op import Shape
from polyfold.network.write.onnx_graph import OnnxGraph

_OPERATORS = {
    "softmax": "Softmax",
    "log-softmax": "LogSoftmax",
    "sigmoid": "Sigmoid",
    "argmax": "ArgMax",
    "hardmax": "Hardmax",
}
_INT64 = np.dtype(np.int64)


def write_head(
    graph: OnnxGraph, head: OutputHead, scores: str, shape: Shape, kind: np.dtype[Any]
) -> tuple[str, Shape, np.dtype[Any]]:
    """Write one output's head; the result is its tensor's name, shape without the rows, and type."""
    tensor, number = scores, kind
    for op in head.ops:
        name = op.name or op.kind
        if number != kind:
            tensor = graph.add("Cast", [tensor], graph.free(f"{name}.number"), to=helper.np_dtype_to_tensor_dtype(kind))
            number = kind
        axis = op.axis_of(shape)
        if axis is None:
            shape, axis = op.groups, 1
            tensor = _reshaped(graph, tensor, shape, f"{name}.groups")
        tensor = _written(graph, op, tensor, axis + 1, name, kind)
        if op.kind == "argmax":
            shape, number = (*shape[:axis], *shape[axis + 1 :]), _INT64
    if shape != head.shape:
        tensor = _reshaped(graph, tensor, head.shape, f"{tensor}.output")
    return tensor, head.shape, number


def write_flat_head(graph: OnnxGraph, head: Head, scores: str, name: str, kind: np.dtype[Any]) -> str:
    """Write a head behind rows of scores (rows, m); all numbers that it gives are side by side, as real numbers."""
    parts, start = [], 0
    for number, output in enumerate(head.outputs):
        places = graph.constant(f"{name}.scores{number}", np.arange(start, start + output.scores))
        part = graph.add("Gather", [scores, places], graph.free(f"{name}.part{number}"), axis=1)
        flat = replace(output, shape=(output.outputs,))
        tensor, _, given = write_head(graph, flat, part, (output.scores,), kind)
        if given != kind:
            number_type = helper.np_dtype_to_tensor_dtype(kind)
            tensor = graph.add("Cast", [tensor], graph.free(f"{tensor}.number"), to=number_type)
        parts.append(tensor)
        start += output.scores
    return graph.add("Concat", parts, graph.free(name), axis=1)


def _written(graph: OnnxGraph, op: HeadOp, tensor: str, axis: int, name: str, kind: np.dtype[Any]) -> str:
    if op.kind == "log-sigmoid":
        return _log_sigmoid(graph, tensor, name, kind)
    attributes = {} if op.kind in ELEMENTWISE else {"axis": axis}
    if op.kind == "argmax":
        attributes |= {"keepdims": 0, "select_last_index": int(op.last)}
    return graph.add(_OPERATORS[op.kind], [tensor], graph.free(name), **attributes)


def _log_sigmoid(graph: OnnxGraph, tensor: str, name: str, kind: np.dtype[Any]) -> str:
    """min(z, 0) - log(1 + exp(-|z|)), which never overflows; onnxruntime has no Softplus of float64."""

    def step(operator: str, *inputs: str) -> str:
        return graph.add(operator, inputs, graph.free(f"{name}.{operator.lower()}"))

    zero, one = (graph.constant(f"{name}.{word}", np.array(n, dtype=kind)) for word, n in (("zero", 0), ("one", 1)))
    rest = step("Log", step("Add", step("Exp", step("Neg", step("Abs", tensor))), one))
    return graph.add("Sub", [step("Min", tensor, zero), rest], graph.free(name))


def _reshaped(graph: OnnxGraph, tensor: str, shape: Shape, name: str) -> str:
    wanted = graph.constant(f"{name}.shape", np.array([0, *shape], dtype=np.int64))
    return graph.add("Reshape", [tensor, wanted], graph.free(name))
