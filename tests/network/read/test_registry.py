"""What the tables of operators refuse by themselves, before a handler sees its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import polyfold as pf
from polyfold.errors import UnsupportedOpError
from polyfold.network.read.builder import Builder, Site, Value
from polyfold.network.read.onnx_ops import ONNX_OPS
from polyfold.network.read.registry import Reading
from polyfold.network.read.torch_ops import TORCH_OPS

X, Y = Value("x", (2,)), Value("y", (2,))
CONSTANT = np.ones(2)
READINGS = [reading for table in (TORCH_OPS, ONNX_OPS) for reading in table.listed() if reading.one_computed]


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.names[0])
@pytest.mark.parametrize("arguments", [(CONSTANT, X), (X, Y), (X, CONSTANT, [CONSTANT, Y])])
def test_only_the_first_argument_may_be_computed(reading: Reading, arguments: tuple[Any, ...]) -> None:
    site = Site(Builder("test"), "node", reading.names[0])
    with pytest.raises(UnsupportedOpError) as caught:
        reading.check(site, arguments)
    assert f"node 'node' ({reading.names[0]}) is not supported: {reading.one_computed}; " in str(caught.value)
    reading.check(site, (X, CONSTANT, None, [CONSTANT]))


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (["x", "s", "m", "m", "m"], "its weights are computed from the network's input"),
        (["s", "m", "m", "m", "m"], "its input has 1 axes, but must be (batch, channels, ...)"),
    ],
)
def test_batch_normalisation_of_what_it_does_not_fit(inputs: list[str], reason: str) -> None:
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["s"], axes=[0], keepdims=0),
        helper.make_node("BatchNormalization", inputs, ["y"], name="norm"),
    ]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])]
    output = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    numbers = [numpy_helper.from_array(np.ones(2, np.float32), "m")]
    graph = helper.make_graph(nodes, "graph", given, output, numbers)
    with pytest.raises(UnsupportedOpError) as caught:
        pf.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    assert reason in str(caught.value)
    assert "node 'norm' (BatchNormalization)" in str(caught.value)
