"""Layers as an ONNX file: what verifiers read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workers.archive import Layers


def write_onnx(path: Path, layers: Layers) -> None:
    """A Gemm for each layer, a ReLU between any two, in float32; the weights have to be numbers of float32."""
    nodes, constants, before = [], [], "x"
    for k, layer in enumerate(layers):
        for name, array in zip("wb", layer, strict=True):
            if not np.array_equal(array.astype(np.float32), array):
                raise ValueError(f"{name}{k} is no array of float32 numbers: verifiers would see another network")
            constants.append(numpy_helper.from_array(array.astype(np.float32), f"{name}{k}"))
        last = k + 1 == len(layers)
        nodes.append(helper.make_node("Gemm", [before, f"w{k}", f"b{k}"], ["y" if last else f"z{k}"], transB=1))
        if not last:
            nodes.append(helper.make_node("Relu", [f"z{k}"], [f"a{k}"]))
        before = f"a{k}"
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])
        for name, size in (("x", layers[0][0].shape[1]), ("y", layers[-1][0].shape[0]))
    ]
    graph = helper.make_graph(nodes, "layers", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
