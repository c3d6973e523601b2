"""ONNX graphs as other programs write them: in any order, with functions, with merged batches, with constants."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
onnxruntime: Any = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

import polyfold as pf
from polyfold.errors import NetworkError, UnsupportedOpError

W = np.array([[1.0, -2.0, 3.0], [0.5, 1.0, -1.0]], dtype=np.float32)
node = helper.make_node


def model(
    nodes: list[Any],
    constants: dict[str, Any],
    *,
    shape: Any = ("N", 2),
    outputs: tuple[str, ...] = ("y",),
    kind: int = TensorProto.FLOAT,
    functions: Any = (),
    opset: int = 17,
) -> Any:
    tensors = [
        value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), name)
        for name, value in constants.items()
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        tensors,
    )
    versions = [helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, opset_imports=versions, functions=list(functions), ir_version=10)


def by_onnxruntime(given: Any, rows: Any) -> Any:
    session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([np.ravel(result) for result in session.run(None, {"x": rows.astype(np.float32)})])


class TestOrder:
    """Nodes are listed in any order."""

    def test_nodes_are_sorted(self) -> None:
        nodes = [node("Relu", ["b"], ["y"]), node("Add", ["a", "c"], ["b"]), node("MatMul", ["x", "W"], ["a"])]
        nodes.append(node("Constant", [], ["c"], value=numpy_helper.from_array(np.float32(0.5))))
        rows = np.random.default_rng(0).normal(size=(5, 2))
        network = pf.load(model(nodes, {"W": W}))
        np.testing.assert_allclose(network(rows), np.maximum(rows @ W + 0.5, 0), rtol=1e-12)
        in_order = pf.load(model([nodes[3], nodes[2], nodes[1], nodes[0]], {"W": W}))
        assert [n.name for n in network.nodes] == [n.name for n in in_order.nodes]

    def test_a_sorted_graph_keeps_its_order(self) -> None:
        nodes = [node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["b"]), node("Add", ["b", "a"], ["y"])]
        assert [n.name for n in pf.load(model(nodes, {})).nodes] == ["a", "b", "y"]

    def test_a_cycle_is_named(self) -> None:
        nodes = [node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])]
        with pytest.raises(NetworkError, match=r"cycle.*'first' \(Add\), which reads 'b' \(Relu\), which"):
            pf.load(model(nodes, {}))

    def test_a_value_that_two_nodes_compute(self) -> None:
        nodes = [node("Relu", ["x"], ["y"], name="one"), node("Neg", ["x"], ["y"], name="two")]
        with pytest.raises(NetworkError, match=r"two nodes compute 'y': 'one'.*'two'"):
            pf.load(model(nodes, {}))


class TestFunctions:
    """Functions that the model brings along."""

    def test_they_are_written_out(self) -> None:
        inner = helper.make_function(
            "mine",
            "Bend",
            ["i"],
            ["o"],
            [node("Relu", ["i"], ["r"]), node("Neg", ["r"], ["o"])],
            [helper.make_opsetid("", 17)],
        )
        outer = helper.make_function(
            "mine", "Twice", ["i"], ["o"],
            [node("Bend", ["i"], ["a"], domain="mine"), node("Bend", ["a"], ["o"], domain="mine")],
            [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)],
        )  # fmt: skip
        nodes = [node("Twice", ["a"], ["y"], domain="mine"), node("MatMul", ["x", "W"], ["a"])]
        given = model(nodes, {"W": W}, functions=[outer, inner])
        network = pf.load(given)
        rows = np.random.default_rng(0).normal(size=(4, 2))
        np.testing.assert_allclose(network(rows).ravel(), by_onnxruntime(given, rows), rtol=1e-6, atol=1e-6)
        assert len(given.functions) == 2

    def test_one_that_calls_itself(self) -> None:
        again = helper.make_function(
            "mine",
            "Again",
            ["i"],
            ["o"],
            [node("Again", ["i"], ["o"], domain="mine")],
            [helper.make_opsetid("mine", 1)],
        )
        with pytest.raises(NetworkError, match="functions never end: 'Again' calls 'Again'"):
            pf.load(model([node("Again", ["x"], ["y"], domain="mine")], {}, functions=[again]))


class TestMergedBatches:
    """Reshapes that merge the batch with another axis, or fix it."""

    def test_a_layer_for_every_step(self) -> None:
        nodes = [node("Reshape", ["x", "rows"], ["r"]), node("MatMul", ["r", "W"], ["a"])]
        nodes += [node("Relu", ["a"], ["b"]), node("Reshape", ["b", "steps"], ["y"])]
        given = model(nodes, {"W": W, "rows": [-1, 2], "steps": [-1, 4, 3]}, shape=("N", 4, 2))
        network = pf.load(given)
        assert (network.input_dim, network.output_dim) == (8, 12)
        rows = np.random.default_rng(0).normal(size=(6, 4, 2))
        np.testing.assert_allclose(network(rows).ravel(), by_onnxruntime(given, rows), rtol=1e-5, atol=1e-6)

    def test_a_batch_that_is_fixed_at_one(self) -> None:
        nodes = [node("Reshape", ["x", "one"], ["r"]), node("MatMul", ["r", "W"], ["a"]), node("Relu", ["a"], ["y"])]
        for one in ([1, 2], [1, -1]):
            network = pf.load(model(nodes, {"W": W, "one": one}, shape=("N", 1, 2)))
            np.testing.assert_allclose(network([[1.0, 2.0]]), np.maximum([[1.0, 2.0]] @ W, 0))

    def test_samples_that_mix_are_refused(self) -> None:
        nodes = [node("Reshape", ["x", "rows"], ["r"]), node("ReduceMean", ["r"], ["m"], axes=[0], keepdims=1)]
        nodes += [node("Sub", ["r", "m"], ["b"]), node("Reshape", ["b", "steps"], ["y"])]
        with pytest.raises(UnsupportedOpError, match=r"node 'r' \(Reshape\).*batch axis"):
            pf.load(model(nodes, {"rows": [-1, 2], "steps": [-1, 4, 2]}, shape=("N", 4, 2)))


class TestConstants:
    """Outputs that do not depend on the input: networks with one region."""

    @pytest.mark.parametrize("shape", [(1, 3), (3,), (), (140, 2)])
    def test_one_region(self, shape: Any) -> None:
        numbers = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
        network = pf.load(model([node("Identity", ["c"], ["y"])], {"c": numbers}))
        np.testing.assert_array_equal(network(np.ones((2, 2))), [numbers.ravel()] * 2)

    def test_what_can_be_asked_of_them(self) -> None:
        network = pf.load(model([node("Identity", ["c"], ["y"])], {"c": np.array([1.5, -2.0], np.float32)}))
        box = pf.box(-1, 1)
        atlas = pf.unfold(network, box)
        assert (len(atlas), pf.count(network, box).cells, pf.count(network).cells) == (1, 1, 1)
        A, c = atlas.maps([0])
        assert not A.any() and c.tolist() == [[1.5, -2.0]]
        assert pf.equivalent(network, [(np.zeros((2, 2)), [1.5, -2.0])]).word == "equal"
        assert pf.equivalent(network, [(np.zeros((2, 2)), [1.5, -2.5])]).word == "different"
        assert pf.local(network, [[0.5, 0.5]]).c.tolist() == [[1.5, -2.0]]

    def test_one_beside_another_output(self) -> None:
        nodes = [node("MatMul", ["x", "W"], ["y"]), node("Identity", ["c"], ["z"])]
        network = pf.load(model(nodes, {"W": W, "c": np.ones(2, np.float32)}, outputs=("y", "z")))
        np.testing.assert_allclose(network([[1.0, 0.0]]), [[1.0, -2.0, 3.0, 1.0, 1.0]])

    def test_one_for_every_sample(self) -> None:
        nodes = [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["y"])]
        np.testing.assert_array_equal(pf.load(model(nodes, {}))([[1.0, 2.0]]), [[0.0, 0.0]])


class TestUntil:
    """The part in front of a node."""

    NODES = (
        node("MatMul", ["x", "W"], ["a"]),
        node("Relu", ["a"], ["b"], name="bend"),
        node("Mul", ["a", "b"], ["c"], name="product"),
        node("Mystery", ["c"], ["y"], domain="mine"),
    )

    def test_it_ends_in_front_of_what_is_refused(self) -> None:
        given = model(list(self.NODES), {"W": W})
        with pytest.raises(UnsupportedOpError, match=r"node 'product' \(Mul\).*until='product'"):
            pf.load(given)
        network = pf.load(given, until="product")
        assert network.outputs == ("a", "bend") and network.output_dim == 6
        assert network.notes == ("this is the part in front of 'product', not the whole model",)
        assert "in front of 'product'" in repr(network)
        np.testing.assert_allclose(network([[1.0, 1.0]]), [[1.5, -1.0, 2.0, 1.5, 0.0, 2.0]])
        # It was asked for.
        assert pf.load(given, until="product", strict=True).notes == network.notes

    def test_a_value_names_the_node_that_computes_it(self) -> None:
        assert pf.load(model(list(self.NODES), {"W": W}), until="b").outputs == ("a",)

    def test_names_that_are_none(self) -> None:
        with pytest.raises(NetworkError, match="until='produkt' is no node of the model; nodes are called 'product'"):
            pf.load(model(list(self.NODES), {"W": W}), until="produkt")
        with pytest.raises(NetworkError, match="until must be the name of a node"):
            pf.load(model(list(self.NODES), {"W": W}), until=3)  # type: ignore[arg-type]
        with pytest.raises(NetworkError, match="until='relu1' is only for torch modules and ONNX"):
            pf.load([([[1.0]], [0.0])], until="relu1")

    def test_on_the_command_line(self, tmp_path: Path) -> None:
        onnx.save(model(list(self.NODES), {"W": W}), tmp_path / "model.onnx")
        command = [sys.executable, "-m", "polyfold.cli.main", "count", "--json", str(tmp_path / "model.onnx")]
        done = subprocess.run([*command, "--until", "product"], capture_output=True, text=True, check=True)
        assert done.stderr == "note: this is the part in front of 'product', not the whole model\n"
        assert '"cells": 6' in done.stdout and "in front of 'product'" in done.stdout


class TestSixteenBits:
    """float16 and bfloat16 are read exactly."""

    NUMBERS = (0.1, -1.5, 2.25, 3.0, 1e-3, 65000.0)

    @pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
    @pytest.mark.parametrize("way", ["all", "weights", "in between"])
    def test_weights(self, kind: int, way: str) -> None:
        weight = helper.make_tensor("W", kind, [2, 3], self.NUMBERS)
        bits = np.frombuffer(weight.raw_data, np.uint16) if weight.raw_data else np.array(weight.int32_data, np.uint16)
        # Their bits, by hand: float16 as numpy reads it, bfloat16 as the upper half of a float32.
        half = bits.view(np.float16) if kind == TensorProto.FLOAT16 else (bits.astype(np.uint32) << 16).view(np.float32)
        expected = half.astype(np.float64).reshape(2, 3).T
        if way == "all":
            given = model([node("MatMul", ["x", "W"], ["y"])], {"W": weight}, kind=kind, opset=22)
        elif way == "weights":
            nodes = [node("Cast", ["W"], ["V"], to=TensorProto.FLOAT), node("MatMul", ["x", "V"], ["y"])]
            given = model(nodes, {"W": weight}, opset=22)
        else:
            nodes = [node("Cast", ["x"], ["v"], to=kind), node("MatMul", ["v", "W"], ["a"])]
            given = model([*nodes, node("Cast", ["a"], ["y"], to=TensorProto.FLOAT)], {"W": weight}, opset=22)
        (linear,) = (n.op for n in pf.load(given).nodes)
        np.testing.assert_array_equal(linear.weight, expected)
