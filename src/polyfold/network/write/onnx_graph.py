"""Writing an ONNX model: nodes and constants one after the other, under unique names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from polyfold.network.read.builder import new_name

# Relu of float64 came with operator set 14, and all else that is used is older.
_OPSET = 17
# Readers refuse files that are newer than they are.
_IR_VERSION = 10


class OnnxGraph:
    """A graph under construction. Names in `taken` belong to somebody: constants keep out of their way."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._taken = set(taken)

    def constant(self, name: str, value: Any) -> str:
        """A constant tensor; its name, which gets `#2`, `#3`, ... if it is taken."""
        name = self.free(name)
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def add(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """A node, named like the tensor that it computes."""
        self._nodes.append(helper.make_node(op, list(inputs), [output], name=output, **attributes))
        return output

    def free(self, name: str) -> str:
        """This name, or the first of `name#2`, `name#3`, ... that nothing has; it is taken from now on."""
        return new_name(name, self._taken)

    def model(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any], *, note: str = "") -> onnx.ModelProto:
        """The checked model; inputs and outputs are ONNX's value infos."""
        graph = helper.make_graph(self._nodes, name, inputs, outputs, self._constants, doc_string=note)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="polyfold")
        model.ir_version = min(model.ir_version, _IR_VERSION)
        onnx.checker.check_model(model)
        return model
