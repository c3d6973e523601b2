"""Exported to ONNX, a network is the same function under the same names: by other evaluators, and read again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.shared_files import MODELS

onnx: Any = pytest.importorskip("onnx")
onnxruntime: Any = pytest.importorskip("onnxruntime")
pytest.importorskip("torch")
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

from helpers.export_cases import (
    SPATIAL,
    assert_same_values,
    chain,
    joined,
    points_of,
    spatial_network,
    split,
)
from helpers.random_networks import networks
from helpers.slow_params import examples
from network.test_shared_models import CONVOLUTIONAL, READABLE
from polyfold.datasets.convolutional import mnist_conv
from polyfold.errors import NetworkError, StorageError
from polyfold.network import Network, Node, Port, load
from polyfold.network.ops.linear import Add, Linear, Scale, Shift
from polyfold.network.ops.movement import Reshape, Take
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Combine, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Rectify
from polyfold.network.read.compose.pools import pool_of
from polyfold.network.read.windows import Pool, members_of_windows
from polyfold.program.lower.lower import lower

RANDOM = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def run(model: Any, feeds: list[Any]) -> list[Any]:
    """The outputs by onnxruntime, or by ONNX's own evaluator: onnxruntime has no convolutions in float64."""
    named = {item.name: value for item, value in zip(model.graph.input, feeds, strict=True)}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return list(session.run(None, named))
    except NoKernel:
        return list(ReferenceEvaluator(model).run(None, named))


def has_groups(network: Network) -> bool:
    """Whether there is a transposed convolution in groups, which ONNX's own evaluator gets wrong."""
    return any(isinstance(node.op, TransposedConvolution) and node.op.window.groups > 1 for node in network.nodes)


def origins(network: Network) -> list[str]:
    return [str(origin) for origin in lower(network).origins]


def check(network: Network) -> Any:
    """The model, after it was checked, run and read again."""
    model = network.to_onnx()
    onnx.checker.check_model(model, full_check=True)
    assert [item.name for item in model.graph.input] == [port.name for port in network.inputs]
    assert {node.name for node in network.nodes} <= {node.name for node in model.graph.node}
    # A tensor is an output once and an input is none: then a number is added.
    assert [item.name.split("#")[0] for item in model.graph.output] == [name.split("#")[0] for name in network.outputs]
    for item, port in zip(model.graph.input, network.inputs, strict=True):
        tensor = item.type.tensor_type
        assert tensor.elem_type == onnx.TensorProto.DOUBLE
        assert [dim.dim_param or dim.dim_value for dim in tensor.shape.dim] == ["rows", *port.shape]
    X = points_of(network)
    if not has_groups(network):
        assert_same_values(network, X, joined(run(model, split(network, X))))
    back = load(model)
    assert [(port.name, port.shape) for port in back.inputs] == [(port.name, port.shape) for port in network.inputs]
    assert_same_values(network, X, back(X))
    return back


@RANDOM
@given(networks())
def test_random_networks_come_back_to_the_last_bit(network: Network) -> None:
    back = check(network)
    assert origins(back) == origins(network)
    assert lower(back).digest == lower(network).digest


@RANDOM
@given(networks(with_spatial=True))
def test_random_spatial_networks(network: Network) -> None:
    back = check(network)
    assert lower(back).gates == lower(network).gates
    if not any(isinstance(node.op, Largest | Combine) for node in network.nodes):
        assert lower(back, structured=False).digest == lower(network, structured=False).digest
        assert origins(back) == origins(network)


@pytest.mark.parametrize("name", SPATIAL)
def test_models_with_space(name: str) -> None:
    network = spatial_network(name)
    back = check(network)
    assert lower(back).gates == lower(network).gates


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", [*READABLE, *CONVOLUTIONAL])
def test_shared_models_come_back_to_the_last_bit(name: str) -> None:
    network = load(MODELS / f"{name}.onnx")
    back = check(network)
    assert lower(back).digest == lower(network).digest
    assert origins(back) == origins(network)
    assert back.outputs == network.outputs


def test_the_bundled_convolutional_network() -> None:
    network = mnist_conv()
    model = network.to_onnx()
    kinds = [node.op_type for node in model.graph.node]
    assert kinds == ["Conv", "MaxPool", "Relu", "Conv", "MaxPool", "Relu", "Reshape", "Gemm", "Relu", "Gemm"]
    assert lower(check(network)).digest == lower(network).digest


@pytest.mark.parametrize(
    ("slopes", "kind"), [(0.0, "Relu"), (-1.0, "Abs"), (0.1, "PRelu"), ([0.1, 0.2, 0.3], "PRelu"), (2.0, "PRelu")]
)
def test_slopes_are_not_rounded(slopes: Any, kind: str) -> None:
    network = chain(slopes)
    assert [node.op_type for node in network.to_onnx().graph.node] == ["Gemm", kind, "Gemm"]
    assert lower(check(network)).digest == lower(network).digest


def test_slopes_of_the_positive_side() -> None:
    bend = Rectify(constant([2.0, 0.0, 0.1]), constant([0.0, 1.0, 0.7]))
    network = Network((Port("x", (3,)),), (Node("bend", bend, ("x",)),), ("bend",))
    back = check(network)
    assert origins(back) == ["bend[0]", "bend[1]", "bend[2]"]
    assert lower(back).digest == lower(network).digest


@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_pools_are_recognised(kernel: int) -> None:
    shape, pools = (2, 9, 4), 0
    for stride, dilation, before, after, ceil in itertools.product((1, 2, 3), (1, 2), (0, 1), (0, 1), (False, True)):
        if max(before, after) >= kernel:
            continue
        pool = Pool((kernel, 2), (stride, 1), ((before, after), (0, 0)), (dilation, 1), ceil)
        members = members_of_windows(shape, pool.entries(shape[1:]))
        found = pool_of(members, shape)
        assert found is not None
        assert np.array_equal(members_of_windows(shape, found.entries(shape[1:])), members)
        network = Network((Port("x", shape),), (Node("pool", Largest(members), ("x",)),), ("pool",))
        # Windows with gaps may end so far behind the value that onnxruntime does not take them.
        written = network.to_onnx().graph.node[-1].op_type == "MaxPool"
        assert written == (max(found.padding[0]) < kernel)
        pools += written
        assert lower(check(network)).gates == lower(network).gates
    assert pools >= (12 if kernel == 1 else 40)


@pytest.mark.parametrize(
    "members",
    [
        [[[0, 1, 2], [1, 2, -1]], [[4, 5, 6], [5, 6, -1]]],  # a window that ends before the value does
        [[[0, 2, -1], [1, 2, 3]], [[4, 6, -1], [5, 6, 7]]],
        [[[0, 1], [2, 3]], [[0, 1], [2, 3]]],  # both channels read the first one
        [[[1, 0], [3, 2]], [[5, 4], [7, 6]]],  # another order
        [[[0, 1], [1, 2], [2, 3]], [[4, 5], [5, 6], [6, 7]], [[0, 1], [1, 2], [2, 3]]],
    ],
)
def test_other_maxima_are_no_pools(members: Any) -> None:
    table = np.array(members)
    assert pool_of(table, (2, 4)) is None
    network = Network((Port("x", (2, 4)),), (Node("largest", Largest(table), ("x",)),), ("largest",))
    assert "MaxPool" not in {node.op_type for node in network.to_onnx().graph.node}
    assert lower(check(network)).gates == lower(network).gates


def test_wide_sparse_combinations_are_not_made_dense() -> None:
    network = spatial_network("residual")
    (pool,) = (node for node in network.nodes if isinstance(node.op, Combine))
    weights = {item.name: tuple(item.dims) for item in network.to_onnx().graph.initializer}
    assert weights[f"{pool.name}.weight"] == (48, 9)


def test_outputs_that_are_inputs_or_repeated() -> None:
    nodes = (Node("x.weight", Shift(constant(1.0)), ("x",)), Node("x", Scale(constant(2.0)), ("a",)))
    network = Network((Port("a", (2,)),), nodes[1:], ("x", "a", "x"))
    model = network.to_onnx()
    assert [item.name for item in model.graph.output] == ["x", "a#2", "x#2"]
    assert check(network).outputs == ("x", "a", "x")


def test_names_of_constants_keep_out_of_the_way() -> None:
    weights = Linear(constant([[1.0, 2.0]]), constant([3.0]))
    nodes = (
        Node("fc.weight", Rectify(constant(1.0), constant(0.0)), ("fc.bias",)),
        Node("fc", weights, ("fc.weight",)),
        Node("fc#2", Clamp(-1.0, np.inf), ("fc",)),
    )
    network = Network((Port("fc.bias", (2,)),), nodes, ("fc#2",))
    back = check(network)
    assert [node.name for node in back.nodes] == ["fc.weight", "fc", "fc#2"]


def test_the_head_is_part_of_the_model() -> None:
    torch = pytest.importorskip("torch")
    network = load(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softmax(dim=1)))
    model = network.to_onnx()
    assert [node.op_type for node in model.graph.node] == ["Gemm", "Softmax"]
    assert load(model).head == network.head


def test_float32_is_another_function_unless_the_weights_were_float32() -> None:
    network = chain(0.5)
    rounded = load(network.to_onnx(dtype="float32"))
    again = load(rounded.to_onnx(dtype=np.float32))
    assert network.to_onnx(dtype=np.float32).graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert lower(rounded).digest != lower(network).digest
    assert lower(again).digest == lower(rounded).digest
    X = points_of(network)
    assert_same_values(network, X, rounded(X), tolerance=1e-6)


@pytest.mark.parametrize("name", SPATIAL)
def test_float32_models_run_in_onnxruntime(name: str) -> None:
    network = spatial_network(name)
    X = points_of(network).astype(np.float32)
    model = network.to_onnx(dtype=np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {item.name: part for item, part in zip(session.get_inputs(), split(network, X), strict=True)}
    assert_same_values(network, X.astype(np.float64), joined(session.run(None, feeds)), tolerance=1e-6)


def test_numbers_that_float32_cannot_hold() -> None:
    network = load([([[1e300]], [0.0])])
    with pytest.raises(NetworkError, match=r"node 'linear1' holds 1e\+300, which is too large for float32"):
        network.to_onnx(dtype=np.float32)


def test_other_types_are_refused() -> None:
    with pytest.raises(NetworkError, match="float64 or float32, not in float16"):
        chain(0.0).to_onnx(dtype=np.float16)


def test_values_that_onnx_cannot_name_or_hold() -> None:
    named = Network((Port("", (2,)),), (Node("y", Shift(constant(1.0)), ("",)),), ("y",))
    with pytest.raises(NetworkError, match="empty name"):
        named.to_onnx()
    nothing = Take(np.zeros((0,), dtype=np.int64))
    with pytest.raises(NetworkError, match=r"'none' has shape \(0,\), which holds no numbers"):
        Network((Port("x", (2,)),), (Node("none", nothing, ("x",)),), ("none",))


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    network = chain(0.25)
    path = tmp_path / "network.onnx"
    network.save_onnx(path)
    assert lower(load(path)).digest == lower(network).digest
    assert list(tmp_path.iterdir()) == [path]
    before = path.read_bytes()
    with pytest.raises(NetworkError):
        load([([[1e300]], [0.0])]).save_onnx(path, dtype=np.float32)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no-folder"):
        chain(0.0).save_onnx(tmp_path / "no-folder" / "network.onnx")
    (tmp_path / "taken.onnx").mkdir()
    with pytest.raises(StorageError, match="taken"):
        chain(0.0).save_onnx(tmp_path / "taken.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.onnx"]


def test_broadcasting_does_not_reach_the_rows() -> None:
    nodes = (
        Node("wide", Reshape((1, 1, 2)), ("x",)),
        Node("sum", Add(), ("x", "wide")),
        Node("tall", Shift(constant(np.arange(6.0).reshape(3, 2, 1))), ("x",)),
    )
    network = Network((Port("x", (2,)),), nodes, ("sum", "tall"))
    assert network.shapes["sum"] == (1, 1, 2) and network.shapes["tall"] == (3, 2, 2)
    assert lower(check(network)).digest == lower(network).digest
