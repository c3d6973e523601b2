"""Local maps of large and of unusual architectures are torch's Jacobians."""

from __future__ import annotations

import copy
import tracemalloc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("pytorchcv", reason="PYTORCHCV IS ABSENT: make setup installs it")

import polyfold as pf  # noqa: E402
from network.large_models import FULL, SMALL, check_import, classifier, gates  # noqa: E402
from network.torch_agreement import Calls  # noqa: E402
from polyfold.network import Network, load  # noqa: E402
from polyfold.program.lower import lower  # noqa: E402

nn = torch.nn
Array = npt.NDArray[np.float64]


def check(module: Any, network: Network, images: int, mixtures: Array) -> None:
    """Maps at random images against the network's values, and their rows, mixed, against autograd."""
    X = np.random.default_rng(2).normal(size=(images, *network.inputs[0].shape))
    maps = pf.local(network, X)
    assert len(maps) == images
    original = copy.deepcopy(module).double().eval()
    for i in range(images):
        image = torch.as_tensor(X[i : i + 1]).requires_grad_()
        outputs = original(image).reshape(-1)
        expected = outputs.detach().numpy()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(maps.A[i] @ X[i].ravel() + maps.c[i], expected, rtol=0, atol=1e-9 * scale)
        for mixture in mixtures:
            weights = torch.as_tensor(mixture)
            (slopes,) = torch.autograd.grad(outputs, image, grad_outputs=weights, retain_graph=True)
            slopes = slopes.numpy().ravel()
            scale = np.abs(slopes).max()
            assert scale > 0
            np.testing.assert_allclose(mixture @ maps.A[i], slopes, rtol=0, atol=1e-9 * scale)


# Two random mixtures of all ten rows tell a wrong row as well as ten rows do, in a fifth of the time.
MIXTURES = np.random.default_rng(3).normal(size=(2, 10))


@pytest.mark.parametrize(("kind", "least"), [("resnet", 400_000), ("inception", 300_000)])
def test_small_images(kind: str, least: int) -> None:
    module = classifier(kind, SMALL[kind])
    network = load(module, input_shape=(1, SMALL[kind], SMALL[kind]))
    check_import(module, network, 3)
    assert gates(network) > least
    check(module, network, 5, MIXTURES)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FULL)
def test_full_images(kind: str) -> None:
    module = classifier(kind, FULL[kind])
    check(module, load(module, input_shape=(1, FULL[kind], FULL[kind])), 5, np.eye(10))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_recurrent_network(layers: int) -> None:
    torch.manual_seed(0)
    module = Calls(
        lambda m, x: m.last(m.rnn(x)[0][:, -1]),
        rnn=nn.RNN(4, 6, num_layers=layers, nonlinearity="relu", batch_first=True),
        last=nn.Linear(6, 3),
    )
    check(module, load(module, input_shape=(7, 4)), 5, np.eye(3))


@pytest.mark.parametrize("nodes", [6, 60])
def test_a_graph_network(nodes: int) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    edges = np.eye(nodes)
    edges[rng.integers(nodes, size=3 * nodes), rng.integers(nodes, size=3 * nodes)] = 1.0
    module = Calls(
        lambda m, x: m.last((m.adjacency @ m.second((m.adjacency @ m.first(x)).relu())).relu().mean(1)),
        adjacency=torch.as_tensor(edges / edges.sum(1, keepdims=True), dtype=torch.float32),
        first=nn.Linear(3, 8),
        second=nn.Linear(8, 8),
        last=nn.Linear(8, 2),
    )
    check(module, load(module, input_shape=(nodes, 3)), 5, np.eye(2))


def test_memory_is_kept_to() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(10))
    module(torch.zeros(1, 1, 128, 128))
    program = lower(load(module, input_shape=(1, 128, 128)))
    X = np.random.default_rng(0).normal(size=(3, 128, 128))
    maps, peaks = [], []
    for memory in (80 << 20, 400 << 20):
        tracemalloc.start()
        maps.append(pf.local(program, X, memory=memory))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # One row of one map, and a convolution's windows, are needed at least. One identity matrix of all pixels has 2 GiB.
    assert peaks[0] < 100 << 20 and peaks[1] < 160 << 20
    # Up to the order in which a product of more rows adds.
    assert np.abs(maps[0].A - maps[1].A).max() < 1e-12 and np.abs(maps[0].c - maps[1].c).max() < 1e-12
