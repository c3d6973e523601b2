"""Exported to torch, a network is the same function, made of torch's own layers as far as there are such."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.shared_files import MODELS

torch: Any = pytest.importorskip("torch")

from helpers.export_cases import (
    ROWS,
    SPATIAL,
    assert_same_values,
    chain,
    joined,
    points_of,
    spatial_model,
    spatial_network,
    split,
)
from helpers.random_networks import networks
from helpers.slow_params import examples
from network.test_shared_models import CONVOLUTIONAL, READABLE
from polyfold.datasets import iris
from polyfold.datasets.convolutional import mnist_conv
from polyfold.errors import NetworkError
from polyfold.network import Network, Node, Port, load
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Add, Scale, Shift
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Rectify
from polyfold.program.lower.lower import lower

nn = torch.nn


def run(module: Any, network: Network, X: Any) -> Any:
    inputs = [torch.from_numpy(part) for part in split(network, X)]
    with torch.no_grad():
        outputs = module(*inputs)
    return joined(outputs if isinstance(outputs, tuple) else (outputs,), len(X))


def check(network: Network) -> Any:
    """The module, after it was run."""
    module = network.to_torch()
    assert not module.training
    assert {value.dtype for value in module.state_dict().values()} <= {torch.float64, torch.int64}
    X = points_of(network)
    assert_same_values(network, X, run(module, network, X))
    return module


def read_again(module: Any, network: Network) -> Network:
    back = load(module, input_shape=[port.shape for port in network.inputs])
    X = points_of(network)
    assert_same_values(network, X, back(X))
    assert lower(back).gates == lower(network).gates
    return back


def kinds(module: Any) -> list[Any]:
    return [type(child) for child in module.children()]


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(with_spatial=True))
def test_random_networks(network: Network) -> None:
    check(network)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(with_spatial=True))
def test_random_networks_are_read_again(network: Network) -> None:
    read_again(check(network), network)


def test_a_plain_network_is_a_plain_sequence() -> None:
    network = load(iris())
    module = check(network)
    assert type(module) is nn.Sequential
    assert kinds(module) == [nn.Linear, nn.ReLU] * 3 + [nn.Linear]
    layers = [f"linear{k}.{part}" for k in (1, 2, 3, 4) for part in ("weight", "bias")]
    assert list(module.state_dict()) == layers
    for k, (weight, bias) in enumerate(iris(), start=1):
        assert np.array_equal(module.state_dict()[f"linear{k}.weight"].numpy(), weight)
        assert np.array_equal(module.state_dict()[f"linear{k}.bias"].numpy(), bias)
    back = load(module)
    assert [node.name for node in back.nodes] == [node.name for node in network.nodes]
    assert lower(back).digest == lower(network).digest


def test_a_module_keeps_its_own_state_dict() -> None:
    torch.manual_seed(0)
    original = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    exported = load(original).to_torch()
    assert list(exported.state_dict()) == list(original.state_dict())
    other = copy.deepcopy(original)
    nn.init.zeros_(other[0].weight)
    other.load_state_dict(exported.state_dict())
    x = torch.randn(5, 3, dtype=torch.float64)
    assert torch.equal(other(x), original(x))


@pytest.mark.parametrize(
    ("slopes", "layer"),
    [
        (0.0, nn.ReLU),
        ([0.0, 0.0, 0.0], nn.ReLU),
        (0.1, nn.LeakyReLU),
        (-1.0, nn.LeakyReLU),
        ([0.1, 0.2, 0.3], nn.PReLU),
    ],
)
def test_slopes_choose_the_layer(slopes: Any, layer: Any) -> None:
    network = chain(slopes)
    module = check(network)
    assert kinds(module) == [nn.Linear, layer, nn.Linear]
    assert lower(load(module)).digest == lower(network).digest


def test_slopes_that_torch_has_no_layer_for() -> None:
    shape = (2, 3)
    along_the_last = Node("last", Rectify(constant(1.0), constant([0.1, 0.2, 0.3])), ("x",))
    positive = Node("positive", Rectify(constant(2.0), constant(0.5)), ("last",))
    network = Network((Port("x", shape),), (along_the_last, positive), ("positive",))
    back = read_again(check(network), network)
    assert lower(back).digest == lower(network).digest


@pytest.mark.parametrize("name", SPATIAL)
def test_models_with_space(name: str) -> None:
    module, _ = spatial_model(name)
    network = spatial_network(name)
    exported = check(network)
    X = points_of(network)
    assert_same_values(network, X, run(module.double(), network, X))
    read_again(exported, network)


def test_the_layers_of_the_bundled_convolutional_network() -> None:
    module = check(mnist_conv())
    expected = [nn.Conv2d, nn.MaxPool2d, nn.ReLU] * 2 + [nn.Flatten, nn.Linear, nn.ReLU, nn.Linear]
    assert kinds(module) == expected
    assert list(module.state_dict())[:2] == ["convolution.weight", "convolution.bias"]
    assert lower(load(module, input_shape=(1, 28, 28))).digest == lower(mnist_conv()).digest


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", [*READABLE, *CONVOLUTIONAL])
def test_shared_models(name: str) -> None:
    network = load(MODELS / f"{name}.onnx")
    branches = len(network.inputs) > 1 or any(len(node.inputs) > 1 for node in network.nodes)
    assert (type(check(network)) is nn.Sequential) != branches


@pytest.mark.parametrize("name", ["acasxu_1_1", "marabou_multiInput_add", "marabou_cnn_max_mninst2"])
@pytest.mark.shared("models")
def test_shared_models_are_read_again(name: str) -> None:
    network = load(MODELS / f"{name}.onnx")
    back = read_again(network.to_torch(), network)
    assert lower(back).digest == lower(network).digest


@pytest.mark.parametrize("before", [0, 1])
def test_transposed_convolutions_that_torch_has_no_layer_for(before: int) -> None:
    rng = np.random.default_rng(before)
    window = Window(stride=(3, 1), padding=((before, 2), (0, 0)), dilation=(2, 1), groups=2)
    space = (3 * 3 + 2 * 1 + 1 - before - 2, 5)
    kernel, bias = constant(rng.normal(size=(4, 1, 2, 2))), constant(rng.normal(size=2))
    op = TransposedConvolution(kernel, bias, window, space)
    network = Network((Port("x", (4, 4, 4)),), (Node("up", op, ("x",)),), ("up",))
    read_again(check(network), network)


def test_convolutions_along_more_axes_than_torch_has() -> None:
    window = Window(stride=(1,) * 4, padding=((0, 0),) * 4, dilation=(1,) * 4, groups=1)
    op = Convolution(constant(np.ones((1, 1, 1, 1, 1, 1))), constant([0.0]), window)
    network = Network((Port("x", (1, 2, 2, 2, 2)),), (Node("conv", op, ("x",)),), ("conv",))
    with pytest.raises(NetworkError, match=r"node 'conv' \(Convolution\): torch has no Conv along 4 axes"):
        network.to_torch()


def test_names_that_modules_cannot_have() -> None:
    names = ["/net/0", "net.0", "net_0", "train", "//", "0", "forward"]
    nodes = [Node(name, Shift(constant(1.0)), (before,)) for before, name in zip(["x", *names], names, strict=False)]
    network = Network((Port("x", (2,)),), tuple(nodes), (names[-1],))
    module = check(network)
    cleaned = [name for name, _ in module.named_children()]
    assert cleaned == ["net_0", "net_0_2", "net_0_3", "train_2", "node", "0", "forward_2"]
    assert module.train().training and not module.eval().training


def test_several_inputs_and_outputs() -> None:
    nodes = (
        Node("sum", Add(), ("a", "b")),
        Node("bounded", Clamp(-1.0, np.inf), ("sum",)),
        Node("twice", Scale(constant(2.0)), ("sum",)),
    )
    network = Network((Port("a", (3,)), Port("b", (2, 3))), nodes, ("twice", "a", "bounded", "twice"))
    module = check(network)
    assert module.input_names == ("a", "b") and module.output_names == ("twice", "a", "bounded", "twice")
    assert list(module.state_dict()) == ["twice.factor"]
    outputs = module(torch.zeros(4, 3, dtype=torch.float64), torch.ones(4, 2, 3, dtype=torch.float64))
    assert [tuple(output.shape) for output in outputs] == [(4, 2, 3), (4, 3), (4, 2, 3), (4, 2, 3)]
    with pytest.raises(TypeError, match="takes a, b; 1 tensors were given"):
        module(torch.zeros(4, 3))


@pytest.mark.parametrize("name", ["residual", "decoder", "two ends"])
def test_weights_can_be_trained_saved_and_loaded(name: str) -> None:
    network = spatial_network(name)
    exported = network.to_torch()
    inputs = [torch.randn(ROWS, *port.shape, dtype=torch.float64) for port in network.inputs]
    outputs = exported(*inputs)
    sum(output.square().sum() for output in (outputs if isinstance(outputs, tuple) else (outputs,))).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in exported.parameters())
    memory = io.BytesIO()
    torch.save(exported.state_dict(), memory)
    memory.seek(0)
    other = network.to_torch()
    for parameter in other.parameters():
        nn.init.zeros_(parameter)
    other.load_state_dict(torch.load(memory, weights_only=True))
    with torch.no_grad():
        results = [one(*inputs) for one in (exported, other)]
    first, second = (result if isinstance(result, tuple) else (result,) for result in results)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_float32_is_another_function_unless_the_weights_were_float32() -> None:
    network = chain(0.5)
    module = network.to_torch(dtype=torch.float32)
    assert {value.dtype for value in module.state_dict().values()} == {torch.float32}
    rounded = load(module)
    assert lower(rounded).digest != lower(network).digest
    assert lower(load(rounded.to_torch(dtype=torch.float32))).digest == lower(rounded).digest


@pytest.mark.parametrize("name", SPATIAL)
def test_float32_models_with_space(name: str) -> None:
    network = spatial_network(name)
    exported = network.to_torch(dtype=torch.float32)
    assert {value.dtype for value in exported.state_dict().values()} <= {torch.float32, torch.int64}
    X = points_of(network).astype(np.float32)
    assert_same_values(network, X.astype(np.float64), run(exported, network, X), tolerance=1e-6)


def test_types_that_do_not_do() -> None:
    with pytest.raises(NetworkError, match=r"torch.float64 or torch.float32, not in torch.float16"):
        chain(0.0).to_torch(dtype=torch.float16)
    with pytest.raises(NetworkError, match=r"node 'linear1' holds 1e\+300, which is too large for float32"):
        load([([[1e300]], [0.0])]).to_torch(dtype=torch.float32)
