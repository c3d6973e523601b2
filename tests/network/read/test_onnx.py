"""Networks from ONNX models that can be read. Every load compares with onnxruntime by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network import Network, load
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.switches import Clamp, Rectify

RNG = np.random.default_rng(0)
CONSTANTS = {
    "W": RNG.normal(size=(4, 6)),
    "V": RNG.normal(size=(6, 4)),
    "b": RNG.normal(size=6),
    "row": RNG.normal(size=(1, 6)),
    "four": RNG.normal(size=4),
    "var": RNG.uniform(0.5, 2, size=4),
    "two": np.array(2.0),
    "low": np.array(-0.5),
    "high": np.array(1.5),
    "matrix": RNG.normal(size=(3, 2)),
    "stack": RNG.normal(size=(1, 2, 3)),
}
INDICES = {
    "shape0": [0, 2, 2],
    "shape1": [-1, 4],
    "axis1": [1],
    "one": [1],
    "three": [3],
    "pick": [3, 0],
    "sizes": [1, 3],
    "zero": 0,
    "tiles": [1, 2],
    "front": [0],
    "square": [2, 2],
    "flat": [4],
    "rows": [[0, 1], [0, 3]],
    "lengths": [[2, 0, 2]],
    "first_and_second": [[0], [1]],
    "first_and_third": [[0], [2]],
    "two_numbers": [2],
    "row_of_three": [1, 3],
    "two_long": [2],
}


def model(body: str, *, inputs: str = "float[N,4] x", outputs: str = "y", opset: int = 17) -> Any:
    """A model from the lines of a graph; the constants above can be used by name."""
    declared = ", ".join(f"float[] {name}" for name in outputs.split())
    text = f'<ir_version: 8, opset_import: ["": {opset}]> net ({inputs}) => ({declared}) {{ {body} }}'
    proto = onnx.parser.parse_model(text)
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    used = {name for node in proto.graph.node for name in node.input}
    for name, numbers in CONSTANTS.items():
        if name in used:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(numbers.astype(np.float32), name))
    for name, integers in INDICES.items():
        if name in used:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(integers, np.int64), name))
    return proto


BODIES = {
    "Gemm": "y = Gemm (x, W, b)",
    "Gemm with all attributes": "y = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (x, V, row)",
    "Gemm without bias": "y = Gemm (x, W)",
    "Gemm with a scalar bias": "y = Gemm (x, W, two)",
    "Gemm with a computed bias": "h = MatMul (x, W) y = Gemm <beta = 0.5> (x, W, h)",
    "MatMul": "h = MatMul (x, W) r = Relu (h) y = MatMul (r, V)",
    "MatMul by a vector": "y = MatMul (x, four)",
    "MatMul from the left": "h = Reshape (x, shape0) y = MatMul (matrix, h)",
    "Add": "h = MatMul (x, W) y = Add (row, h)",
    "Add of branches": "a = MatMul (x, W) c = Relu (a) y = Add (a, c)",
    "Sub": "a = Sub (x, four) y = Sub (four, a)",
    "Mul and Div": "a = Mul (two, x) y = Div (a, four)",
    "Neg and Sum": "a = Neg (x) y = Sum (a, four, x, two)",
    "LeakyRelu": "y = LeakyRelu <alpha = 0.3> (x)",
    "PRelu": "y = PRelu (x, four)",
    "Abs": "y = Abs (x)",
    "Clip": "y = Clip (x, low, high)",
    "Clip from above": "y = Clip (x, , high)",
    "HardSigmoid": "y = HardSigmoid <alpha = 0.3> (x)",
    "Max": "h = Relu (x) y = Max (x, four, h, two)",
    "Min": "h = Neg (x) y = Min (h, x, two)",
    "Min by a vector": "y = Min (x, four)",
    "Max of a number": "y = Max (x, two)",
    "BatchNormalization": "y = BatchNormalization (x, four, four, four, var)",
    "Dropout and Identity": "a = Dropout (x) y = Identity (a)",
    "Flatten": "a = Reshape (x, shape0) y = Flatten (a)",
    "Reshape": "a = Reshape (x, shape0) c = Relu (a) y = Reshape (c, shape1)",
    "Squeeze": "a = Unsqueeze (x, axis1) y = Squeeze (a, axis1)",
    "Cast": "y = Cast <to = 1> (x)",
    "Concat": "a = Relu (x) y = Concat <axis = -1> (x, a)",
    "Slice": "y = Slice (x, one, three, axis1)",
    "Gather": "y = Gather <axis = 1> (x, pick)",
    "Gather one": "y = Gather <axis = 1> (x, zero)",
    "Split": "a, c = Split <axis = 1> (x, sizes) d = Relu (c) y = Concat <axis = 1> (d, a)",
    "Tile": "y = Tile (x, tiles)",
    "Transpose": "a = Reshape (x, shape0) y = Transpose <perm = [0, 2, 1]> (a)",
    "ReduceMean": "a = Reshape (x, shape0) y = ReduceMean <axes = [2], keepdims = 0> (a)",
    "ReduceSum": "a = Reshape (x, shape0) y = ReduceSum (a, axis1)",
    "ReduceL1": "y = ReduceL1 <axes = [1], keepdims = 0> (x)",
    "TopK": "y, i = TopK <axis = 1> (x, three)",
    "CumSum": "y = CumSum <exclusive = 1, reverse = 1> (x, one)",
    "Einsum": 'y = Einsum <equation = "bi,ij->bj"> (x, W)',
    "Einsum with an ellipsis": 'y = Einsum <equation = "...i,ij,j"> (x, W, b)',
    "MatMul with a stack": "a = Reshape (x, shape0) y = MatMul (a, stack)",
    "Mean": "h = Relu (x) y = Mean (x, four, h)",
    "Trilu": "a = Reshape (x, shape0) y = Trilu <upper = 0> (a)",
    "A product with a comparison": "c = Greater (x, four) k = Cast <to = 1> (c) d = Sub (x, four) y = Mul (k, d)",
    "Constant": "c = Constant <value_floats = [1.0, 2.0, 3.0, 4.0]> () y = Add (x, c)",
    "Shape chain": "s = Shape (x) n = Gather (s, zero) u = Unsqueeze (n, front) "
    "t = Concat <axis = 0> (u, square) y = Reshape (x, t)",
}


@pytest.mark.parametrize("batch", ["N", "1"])
@pytest.mark.parametrize("name", BODIES)
def test_each_op(name: str, batch: str) -> None:
    network = load(model(BODIES[name], inputs=f"float[{batch},4] x"))
    assert network.inputs[0].shape == (4,)


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements <axis = 1>"])
@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("source", ["x", "numbers"])
def test_scattering_into_one_sample(op: str, reduction: str, source: str) -> None:
    """Constant indices count the samples too, so that there is only one."""
    kind, _, attributes = op.partition(" ")
    options = ", ".join([*attributes.strip("<> ").split(", "), f'reduction = "{reduction}"']).strip(", ")
    indices, shape = ("rows", "two_numbers") if kind == "ScatterND" else ("lengths", "row_of_three")
    updates = f"u = Slice (x, front, {'two_long' if kind == 'ScatterND' else 'three'}, axis1) v = Reshape (u, {shape})"
    if source == "numbers":
        updates = f"u = Slice (four, front, {'two_long' if kind == 'ScatterND' else 'three'}) v = Reshape (u, {shape})"
    network = load(
        model(f"h = Relu (x) {updates} y = {kind} <{options}> (h, {indices}, v)", inputs="float[1,4] x", opset=18)
    )
    assert network.output_dim == 4


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("into", ["t", "r"])
def test_scattering_beside_an_open_batch(reduction: str, into: str) -> None:
    """Exporters bring the axis that is written to in front, so that the batch comes second."""
    body = (
        "t = Transpose <perm = [1, 0]> (x) r = Relu (t) u = GatherND (t, first_and_third) "
        f'v = ScatterND <reduction = "{reduction}"> ({into}, first_and_second, u) y = Transpose <perm = [1, 0]> (v)'
    )
    network = load(model(body, opset=18))
    X = np.random.default_rng(0).normal(size=(5, 4))
    expected = np.maximum(X, 0) if into == "r" else X.copy()
    expected[:, :2] = X[:, [0, 2]] + (expected[:, :2] if reduction == "add" else 0)
    np.testing.assert_allclose(network(X), expected, rtol=0, atol=1e-12)


def test_old_operator_versions() -> None:
    body = "a = Clip <min = -1.0, max = 2.0> (x) u = Unsqueeze <axes = [1]> (a) y = Squeeze <axes = [1]> (u)"
    network = load(model(body, opset=9))
    clamp = network.nodes[0].op
    assert isinstance(clamp, Clamp) and (clamp.low, clamp.high) == (-1.0, 2.0)


def test_names_are_the_nodes_or_else_their_outputs() -> None:
    proto = model("h = Gemm (x, W, b) r = Relu (h) y = MatMul (r, V)")
    proto.graph.node[1].name = "activation"
    network = load(proto)
    assert [node.name for node in network.nodes] == ["h", "activation", "y"]
    assert [type(node.op) for node in network.nodes] == [Linear, Rectify, Linear]
    first = network.nodes[0].op
    assert isinstance(first, Linear)
    np.testing.assert_array_equal(first.weight, CONSTANTS["W"].astype(np.float32).T)


@pytest.mark.parametrize("inputs", ["float[4] x", "float[1,1,1,4] x", "float[2,2] x", "float[N,1,4] x"])
def test_inputs_with_and_without_a_batch_axis(inputs: str) -> None:
    network = load(model("a = Relu (x) y = Neg (a)", inputs=inputs))
    np.testing.assert_array_equal(network([[1.0, -2.0, 3.0, -4.0]]), [[-1.0, 0.0, -3.0, 0.0]])


def test_a_fixed_batch_of_one_may_be_moved_about() -> None:
    body = "t = Transpose <perm = [1, 0]> (x) m = MatMul (V, t) r = Relu (m) y = Transpose (r)"
    network = load(model(body, inputs="float[1,4] x"))
    assert network.output_dim == 6
    assert load(model("f = Reshape (x, flat) y = MatMul (f, W)", inputs="float[1,4] x")).output_dim == 6
    # The same with an open batch, whose samples do not mix.
    assert load(model(body, inputs="float[N,4] x")).output_dim == 6
    with pytest.raises(UnsupportedOpError, match=r"node 'm' \(MatMul\).*batch axis"):
        load(model(f"{body} z = ReduceMax <keepdims = 0> (y)", inputs="float[N,4] x", outputs="z"))


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Sigmoid", "ArgMax <axis = 1>"])
def test_what_comes_behind_the_last_layer_is_the_head(op: str) -> None:
    network = load(model(f"h = MatMul (x, W) e = {op} (h) y = Identity (e)"))
    kind = {"LogSoftmax": "log-softmax"}.get(op, op.split()[0].lower())
    assert network.head is not None and network.head.kinds == kind and network.head.outputs[0].ops[0].name == "e"
    assert network.output_dim == 6


def test_several_inputs_and_outputs_lie_side_by_side() -> None:
    network = load(model("y = Add (x, z) r = Relu (y)", inputs="float[N,4] x, float[N,4] z", outputs="y r"))
    assert network.input_dim == 8 and network.output_dim == 8
    np.testing.assert_array_equal(network(np.arange(-8.0, 0.0)[None])[0, 4:], np.zeros(4))


def test_open_shapes_need_input_shape() -> None:
    proto = model("y = Relu (x)", inputs="float[N,M] x")
    with pytest.raises(NetworkError, match=r"input 'x' is declared as \[N, M\].*pass input_shape="):
        load(proto)
    assert load(proto, input_shape=(3,)).input_dim == 3
    with pytest.raises(NetworkError, match=r"input_shape \(3, 3\) does not fit input 'x'"):
        load(proto, input_shape=(3, 3))
    with pytest.raises(NetworkError, match="2 shapes, but the model has 1 input"):
        load(proto, input_shape=[(3,), (3,)])


@pytest.mark.parametrize(
    ("body", "node", "op", "reason"),
    [
        ("y = Tanh (x)", "y", "Tanh", "not piecewise linear"),
        ("h = Gelu (x) y = Relu (h)", "h", "Gelu", "not piecewise linear"),
        ("y = Mul (x, x)", "y", "Mul", "product of two computed values"),
        ("y = Div (two, x)", "y", "Div", "computed denominator"),
        ("t = Transpose (x) y = MatMul (x, t)", "y", "MatMul", "batch axis"),
        ("h = Softmax (x) y = MatMul (h, W)", "h", "Softmax", "'y' (MatMul) reads it"),
        ("h = Cast <to = 7> (x) y = Cast <to = 1> (h)", "h", "Cast", "INT64"),
        ("c = Greater (x, two) y = Where (c, x, four)", "y", "Where", "jumps"),
        ("c = Greater (x, two) k = Cast <to = 1> (c) y = Add (x, k)", "y", "Add", "only where(h > c, a, b)"),
        ("c = Greater (x, two) k = Cast <to = 1> (c) y = Mul (x, k)", "y", "Mul", "jumps"),
        ("r = RandomNormal <shape = [1, 4]> () y = Add (x, r)", "r", "RandomNormal", "random"),
        ("y = ReduceMean <axes = [0]> (x)", "y", "ReduceMean", "batch axis"),
        ("i = Cast <to = 7> (x) y = Gather (W, i)", "i", "Cast", "not continuous"),
    ],
)
def test_ops_that_are_refused(body: str, node: str, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load(model(body, opset=20 if op == "Gelu" else 17))
    message = str(caught.value)
    assert message.startswith(f"node {node!r} ({op})"), message
    assert reason in message and "docs/networks.md" in message


def test_an_output_that_is_constant() -> None:
    network = load(model("y = Identity (W)"))
    np.testing.assert_array_equal(network(np.ones((2, 4))), np.tile(CONSTANTS["W"].astype(np.float32).ravel(), (2, 1)))


def test_a_missing_tensor_is_named() -> None:
    with pytest.raises(NetworkError, match=r"node 'y' \(Add\) reads 'absent'"):
        load(model("y = Add (x, absent)"))


def test_integer_inputs_are_refused() -> None:
    with pytest.raises(NetworkError, match="input 'x' holds INT64"):
        load(model("y = Cast <to = 1> (x)", inputs="int64[N,4] x"))


def test_double_and_half_precision() -> None:
    for kind, name in ((11, "double"), (10, "float16")):
        proto = model(f"c = Cast <to = {kind}> (W) y = MatMul (x, c)", inputs=f"{name}[N,4] x")
        proto.graph.output[0].type.tensor_type.elem_type = kind
        assert load(proto).output_dim == 6


def test_onnxs_own_evaluator_stands_in_for_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyfold.network.read.onnx_session.installed", lambda module: False)
    assert load(model("h = Gemm (x, W, b) r = Relu (h) y = Softmax (r)")).output_dim == 6


class TestFiles:
    """What a path may hold."""

    @staticmethod
    def written(path: Path, content: bytes) -> Path:
        path.write_bytes(content)
        return path

    @pytest.fixture
    def good(self) -> bytes:
        return bytes(model("h = Gemm (x, W, b) y = Relu (h)").SerializeToString())

    def test_a_good_file(self, tmp_path: Path, good: bytes) -> None:
        network: Network = load(self.written(tmp_path / "good.onnx", good))
        assert network.input_dim == 4

    def test_an_empty_file(self, tmp_path: Path) -> None:
        with pytest.raises(NetworkError, match=r"empty\.onnx' is empty"):
            load(self.written(tmp_path / "empty.onnx", b""))

    def test_text(self, tmp_path: Path) -> None:
        with pytest.raises(NetworkError, match=r"text\.onnx"):
            load(self.written(tmp_path / "text.onnx", b"this is not a network at all"))

    def test_every_truncation(self, tmp_path: Path, good: bytes) -> None:
        for length in range(1, len(good), 7):
            with pytest.raises(NetworkError, match=r"cut\.onnx"):
                load(self.written(tmp_path / "cut.onnx", good[:length]))

    def test_a_directory(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.onnx"
        folder.mkdir()
        with pytest.raises(NetworkError, match=r"no file.*folder\.onnx"):
            load(folder)

    def test_errors_inside_quote_the_path(self, tmp_path: Path) -> None:
        content = model("y = Tanh (x)").SerializeToString()
        with pytest.raises(UnsupportedOpError, match=r"tanh\.onnx': node 'y' \(Tanh\)"):
            load(self.written(tmp_path / "tanh.onnx", content))
