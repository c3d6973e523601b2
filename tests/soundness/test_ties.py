"""At a tie every op takes the branch that torch's automatic differentiation takes, where that takes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
import torch
from onnx import helper, numpy_helper
from torch import nn
from torch.nn import functional

import polyfold as pf
from polyfold.datasets.convolutional import mnist_conv
from polyfold.network.ops.switches import Maximum, Minimum

Array = npt.NDArray[np.float64]
Function = Callable[[torch.Tensor], torch.Tensor]


class Module(nn.Module):  # type: ignore[misc]
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def autograd(function: Function, x: Array) -> Array:
    """The Jacobian (outputs, inputs) at one input."""
    found = torch.autograd.functional.jacobian(function, torch.from_numpy(x[None]))
    return np.asarray(found.reshape(-1, x.size).numpy())


def found_by_polyfold(network: pf.Network, x: Array) -> dict[str, Array]:
    """The Jacobian at one input, from all that give one, and after the network was written to a file and read again."""
    rows = x.reshape(1, -1)
    found = {
        "local": pf.local(network, rows).A[0],
        "local_maps": np.stack([pf.maps.matrices(network, rows).of(j)[0, :-1] for j in range(network.output_dim)]),
        "written to ONNX": pf.local(pf.load(network.to_onnx()), rows).A[0],
    }
    # torch.maximum and minimum, which these become, have no branch.
    if not any(isinstance(node.op, Maximum | Minimum) for node in network.nodes):
        found["written to torch"] = autograd(network.to_torch(), x)
    return found


ONE_BRANCH: list[tuple[str, Function, list[float]]] = [
    ("relu", functional.relu, [0.0, -0.0]),
    ("leaky_relu", lambda x: functional.leaky_relu(x, 0.25), [0.0, 1.0]),
    ("prelu", lambda x: functional.prelu(x, torch.tensor([0.25, -0.5], dtype=x.dtype)), [0.0, 0.0]),
    ("rrelu", functional.rrelu, [0.0, -1.0]),
    ("threshold", lambda x: functional.threshold(x, 1.0, 1.0), [1.0, 2.0]),
    ("clamp", lambda x: x.clamp(-1, 1), [-1.0, 1.0]),
    ("clamp_min", lambda x: x.clamp_min(0.5), [0.5, 0.5]),
    ("clamp_max", lambda x: x.clamp_max(0.5), [0.5, 0.5]),
    ("clamp by arrays", lambda x: x.clamp(torch.tensor([-1.0, 0.0]), torch.tensor([0.0, 1.0])), [-1.0, 1.0]),
    ("clamp by arrays, other ends", lambda x: x.clamp(torch.tensor([-1.0, 0.0]), torch.tensor([0.0, 1.0])), [0.0, 0.0]),
    ("clamp by a value", lambda x: torch.clamp(x[:, :1], min=x[:, 1:]), [0.5, 0.5]),
    ("hardtanh", functional.hardtanh, [-1.0, 1.0]),
    ("relu6", functional.relu6, [0.0, 6.0]),
    ("hardsigmoid", lambda x: 6 * functional.hardsigmoid(x), [-3.0, 3.0]),
    ("softshrink", functional.softshrink, [-0.5, 0.5]),
    ("max of an axis", lambda x: x.max(1).values, [1.0, 2.0, 2.0, 2.0]),
    ("min of an axis", lambda x: x.min(1).values, [3.0, 2.0, 2.0, 2.0]),
    ("fmax", lambda x: torch.fmax(x[:, :1], x[:, 1:]), [1.0, 1.0]),
    ("fmin", lambda x: torch.fmin(x[:, :1], x[:, 1:]), [1.0, 1.0]),
    ("fmax with a number", lambda x: torch.fmax(x, torch.tensor(1.0, dtype=x.dtype)), [1.0, 1.0]),
    ("fmax of a number", lambda x: torch.fmax(torch.tensor(1.0, dtype=x.dtype), x), [1.0, 1.0]),
    ("fmin of numbers", lambda x: torch.fmin(torch.tensor([1.0, 2.0], dtype=x.dtype), x), [1.0, 2.0]),
    ("fmin with numbers", lambda x: torch.fmin(x, torch.tensor([1.0, 2.0], dtype=x.dtype)), [1.0, 2.0]),
    ("cummax", lambda x: x.cummax(1).values, [1.0, 1.0, 0.0, 1.0]),
    ("cummin", lambda x: x.cummin(1).values, [1.0, 1.0, 2.0, 1.0]),
    ("sort", lambda x: x.sort(1).values, [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 2.0]),
    ("sort, descending", lambda x: x.sort(1, descending=True).values, [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 2.0]),
    ("where >", lambda x: torch.where(x > 1, 2 * x, x + 1), [1.0, 2.0]),
    ("where >=", lambda x: torch.where(x >= 1, 2 * x, x + 1), [1.0, 0.0]),
    ("where <", lambda x: torch.where(x < 1, 2 * x, x + 1), [1.0, 2.0]),
    ("where <=", lambda x: torch.where(x <= 1, 2 * x, x + 1), [1.0, 2.0]),
    ("where, a number on the left", lambda x: torch.where(torch.tensor(1.0) >= x, 2 * x, x + 1), [1.0, 2.0]),
    ("larger by >", lambda x: torch.where(x[:, :1] > x[:, 1:], x[:, :1], x[:, 1:]), [1.0, 1.0]),
    ("larger by >=", lambda x: torch.where(x[:, :1] >= x[:, 1:], x[:, :1], x[:, 1:]), [1.0, 1.0]),
    ("smaller by <", lambda x: torch.where(x[:, :1] < x[:, 1:], x[:, :1], x[:, 1:]), [1.0, 1.0]),
    ("smaller by >=", lambda x: torch.where(x[:, :1] >= x[:, 1:], x[:, 1:], x[:, :1]), [1.0, 1.0]),
    ("product with >", lambda x: x * (x > 0), [0.0, 1.0]),
    ("product with >=", lambda x: x * (x >= 0), [0.0, 1.0]),
]


@pytest.mark.parametrize(("function", "x"), [case[1:] for case in ONE_BRANCH], ids=[case[0] for case in ONE_BRANCH])
def test_one_branch(function: Function, x: list[float]) -> None:
    at = np.array(x)
    expected = autograd(function, at)
    network = pf.load(Module(function), input_shape=at.shape)
    for name, found in found_by_polyfold(network, at).items():
        assert (found == expected).all(), f"{name}: {found.tolist()} instead of {expected.tolist()}"


AVERAGED: list[tuple[str, Function, list[float], list[list[float]]]] = [
    ("abs", torch.abs, [0.0], [[-1.0]]),
    ("maximum", lambda x: torch.maximum(x[:, :1], x[:, 1:]), [1.0, 1.0], [[1.0, 0.0]]),
    ("minimum", lambda x: torch.minimum(x[:, :1], x[:, 1:]), [1.0, 1.0], [[1.0, 0.0]]),
    ("maximum with a number", lambda x: torch.maximum(x, torch.tensor(1.0, dtype=x.dtype)), [1.0], [[1.0]]),
    ("maximum of a number", lambda x: torch.maximum(torch.tensor(1.0, dtype=x.dtype), x), [1.0], [[0.0]]),
    ("amax", lambda x: x.amax(1), [0.0, 1.0, 1.0], [[0.0, 1.0, 0.0]]),
    ("amin", lambda x: x.amin(1), [2.0, 1.0, 1.0], [[0.0, 1.0, 0.0]]),
    ("largest of absolute values", lambda x: torch.linalg.vector_norm(x, np.inf, dim=1), [-1.0, 1.0], [[-1.0, 0.0]]),
    ("sum of absolute values", lambda x: torch.linalg.vector_norm(x, 1, dim=1), [0.0, 1.0], [[-1.0, 1.0]]),
]


@pytest.mark.parametrize(("function", "x", "first"), [case[1:] for case in AVERAGED], ids=[c[0] for c in AVERAGED])
def test_the_first_argument_where_torch_averages(function: Function, x: list[float], first: list[list[float]]) -> None:
    at = np.array(x)
    assert (autograd(function, at) != np.array(first)).any()
    network = pf.load(Module(function), input_shape=at.shape)
    for name, found in found_by_polyfold(network, at).items():
        if name != "written to torch":
            assert found.tolist() == first, name


POOLS: list[tuple[str, Function, tuple[int, ...]]] = [
    ("1d", lambda x: functional.max_pool1d(x, 2), (2, 6)),
    ("1d with padding", lambda x: functional.max_pool1d(x, 3, 2, 1), (2, 7)),
    ("1d with gaps, rounded up", lambda x: functional.max_pool1d(x, 2, 2, 1, 2, ceil_mode=True), (1, 8)),
    ("2d", lambda x: functional.max_pool2d(x, 2), (2, 4, 4)),
    ("2d, overlapping, with padding", lambda x: functional.max_pool2d(x, 3, 2, 1), (1, 5, 6)),
    ("2d with gaps", lambda x: functional.max_pool2d(x, 2, 1, 0, 2), (1, 4, 5)),
    ("2d rounded up", lambda x: functional.max_pool2d(x, 3, 2, ceil_mode=True), (1, 6, 6)),
    ("3d with padding", lambda x: functional.max_pool3d(x, 2, 2, 1), (1, 3, 3, 3)),
    ("adaptive 1d", lambda x: functional.adaptive_max_pool1d(x, 3), (2, 7)),
    ("adaptive 2d", lambda x: functional.adaptive_max_pool2d(x, (2, 3)), (1, 5, 4)),
]


# Half of them: in every dimension one, with padding or without, and one whose windows grow.
QUICK_POOLS = ("1d with padding", "2d, overlapping, with padding", "2d rounded up", "3d with padding", "adaptive 2d")


@pytest.mark.parametrize(
    ("function", "shape"),
    [pytest.param(*case, id=name, marks=[] if name in QUICK_POOLS else [pytest.mark.slow]) for name, *case in POOLS],
)
def test_pools(function: Function, shape: tuple[int, ...]) -> None:
    network = pf.load(Module(function), input_shape=shape)
    rng = np.random.default_rng(0)
    for x in (np.zeros(shape), rng.integers(-1, 2, shape).astype(float)):
        expected = autograd(function, x)
        for name, found in found_by_polyfold(network, x).items():
            assert (found == expected).all(), name


def onnx_network(operator: str, inputs: list[str], constants: dict[str, Array], size: int, **options: Any) -> Any:
    node = helper.make_node(operator, inputs, ["y"], **options)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", onnx.TensorProto.DOUBLE, [1, size])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return pf.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))


@pytest.mark.parametrize(
    ("operator", "inputs", "constants", "x", "expected"),
    [
        ("Clip", ["x", "low", "high"], {"low": -1.0, "high": 1.0}, [-1.0, 1.0], np.eye(2)),
        ("Max", ["x", "low"], {"low": [1.0, 2.0]}, [1.0, 2.0], np.eye(2)),
        ("Max", ["low", "x"], {"low": [1.0, 2.0]}, [1.0, 2.0], np.zeros((2, 2))),
        ("Min", ["x", "high"], {"high": 1.0}, [1.0, 2.0], [[1, 0], [0, 0]]),
        ("Min", ["high", "x"], {"high": 1.0}, [1.0, 0.0], [[0, 0], [0, 1]]),
        ("ReduceMax", ["x"], {}, [1.0, 1.0], [[1, 0]]),
        ("ReduceMin", ["x"], {}, [1.0, 1.0], [[1, 0]]),
        ("HardSigmoid", ["x"], {}, [-2.0, 2.0], np.zeros((2, 2))),
        ("Shrink", ["x"], {}, [-0.5, 0.5], np.zeros((2, 2))),
        ("Relu", ["x"], {}, [0.0, 1.0], [[0, 0], [0, 1]]),
        ("Abs", ["x"], {}, [0.0, 1.0], [[-1, 0], [0, 1]]),
    ],
)
def test_onnx_operators_follow_torch_s(
    operator: str, inputs: list[str], constants: dict[str, Any], x: list[float], expected: Any
) -> None:
    options = {"HardSigmoid": {"alpha": 0.25, "beta": 0.5}, "Shrink": {"lambd": 0.5, "bias": 0.5}}
    arrays = {name: np.array(value, dtype=np.float64) for name, value in constants.items()}
    network = onnx_network(operator, inputs, arrays, len(x), **options.get(operator, {}))
    assert pf.local(network, [x]).A[0].reshape(-1, 2).tolist() == np.asarray(expected, dtype=float).tolist()


def test_the_black_border_of_pictures() -> None:
    """Thousands of pools of the bundled network tie there; all answers are those of automatic differentiation."""
    network, rng = mnist_conv(), np.random.default_rng(0)
    pictures = np.zeros((2, 1, 28, 28))
    pictures[:, 0, 8:20, 8:20] = rng.integers(0, 17, size=(2, 12, 12)) / 16
    module = network.to_torch()
    maps = pf.local(network, pictures)
    matrices = pf.maps.matrices(network, pictures)
    for i, picture in enumerate(pictures):
        assert len(maps.on_wall[i]) > 1000 and not len(maps.undecided[i])
        expected = autograd(module, picture)
        close = 1e-12 * np.abs(expected).max()
        assert np.abs(maps.A[i] - expected).max() < close
        assert max(np.abs(matrices.of(j)[i, :-1] - expected[j]).max() for j in range(10)) < close


def test_gradients_along_a_wall() -> None:
    """The way from (0, 0) to (1, 1) lies on the wall of a maximum; the first one is taken all along it."""
    network = pf.load(Module(lambda x: functional.max_pool1d(x[:, None], 2)[:, 0]), input_shape=(2,))
    found = pf.explain.integrated_gradients(network, [[1.0, 1.0]], baseline=[0.0, 0.0])
    assert np.allclose(np.asarray(found.values).ravel(), [1.0, 0.0], rtol=1e-12, atol=0)
