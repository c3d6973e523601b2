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

import polyfold as pf
from helpers.large_models import FULL, SMALL, check_import, classifier, gates
from helpers.torch_agreement import Calls
from polyfold.engine.cells.exact_cell import coefficients
from polyfold.errors import LimitError
from polyfold.network import Network, load
from polyfold.program.lower.lower import lower
from polyfold.program.passes.settled_digits import plan, settle

nn = torch.nn
Array = npt.NDArray[np.float64]


def check(module: Any, network: Network, images: int, mixtures: Array, *, settled: bool = True) -> None:
    """Maps at random images against the network's values, and their rows, mixed, against autograd."""
    X = np.random.default_rng(2).normal(size=(images, *network.inputs[0].shape))
    maps = pf.local(network, X)
    assert len(maps) == images
    # Nothing that is merely unclear is called a wall; where proofs take seconds, nothing is unclear.
    assert not any(len(gates) for gates in maps.on_wall)
    assert not (settled and any(len(gates) for gates in maps.undecided))
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


@pytest.mark.parametrize(
    ("kind", "least", "images"),
    [
        ("short resnet", 10_000, 1),
        pytest.param("resnet", 400_000, 5, marks=pytest.mark.slow),
        pytest.param("inception", 300_000, 5, marks=pytest.mark.slow),
    ],
)
def test_small_images(kind: str, least: int, images: int) -> None:
    module = classifier(kind, SMALL[kind])
    network = load(module, input_shape=(1, SMALL[kind], SMALL[kind]))
    check_import(module, network, 3)
    assert gates(network) > least
    check(module, network, images, MIXTURES)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FULL)
def test_full_images(kind: str) -> None:
    module = classifier(kind, FULL[kind])
    check(module, load(module, input_shape=(1, FULL[kind], FULL[kind])), 5, np.eye(10), settled=False)


@pytest.mark.slow
def test_every_sign_of_a_full_image_can_be_proved() -> None:
    network = load(classifier("resnet", FULL["resnet"]), input_shape=(1, FULL["resnet"], FULL["resnet"]))
    program = lower(network)
    x = np.random.default_rng(2).normal(size=program.input_dim)
    found = settle(program, x, plan(program, x))
    assert len(found.on) == program.gates > 20_000_000 and found.proved.all()
    assert (program.evaluate(x[None, :])[1][0] == found.on).all()


def test_ties_of_a_pool_are_walls() -> None:
    """All four pixels of every window are equal: each comparison is zero there and nowhere else."""
    module = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 30 * 30, 3))
    program = lower(load(module.double(), input_shape=(1, 64, 64)))
    assert coefficients(program) > 1_000_000  # too large for rationals
    comparisons = 3 * 32 * 32
    constant, distinct = np.full((1, 64, 64), 0.1), np.random.default_rng(0).permutation(4096).reshape(1, 64, 64)
    maps = pf.local(program, np.stack([constant, distinct]))
    assert maps.on_wall[0].tolist() == list(range(comparisons)) and not len(maps.on_wall[1])
    assert not any(len(gates) for gates in (*maps.undecided, *maps.vanishing))
    assert maps.wall_distances().distance[0] == 0.0
    # Where the pixels are what dead gates put out, nothing ever switches.
    dead = nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 32, 3))
    with torch.no_grad():
        dead[0].weight.fill_(1.0)
        dead[0].bias.fill_(-1.0)
    maps = pf.local(lower(load(dead.double(), input_shape=(1, 64, 64))), constant[None])
    assert not len(maps.on_wall[0]) and not len(maps.undecided[0])
    assert maps.vanishing[0].tolist() == list(range(4096, 4096 + comparisons))


def test_what_is_undecided_is_on_no_wall() -> None:
    """Bounds on rounding errors grow too fast for so many layers; longer numbers prove every sign."""
    torch.manual_seed(0)
    layers = [part for _ in range(40) for part in (nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())]
    module = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), *layers, nn.Flatten(), nn.Linear(8 * 12 * 12, 3))
    for part in module:
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight)
    network = load(module, input_shape=(1, 12, 12))
    X = np.random.default_rng(0).normal(size=(2, 1, 12, 12))
    left, proved = pf.local(network, X, settle=False), pf.local(network, X)
    assert all(len(gates) > 10_000 for gates in left.undecided) and "signs undecided" in repr(left)
    assert not any(len(gates) for gates in (*left.on_wall, *proved.on_wall, *proved.undecided))
    assert (left.signs == proved.signs).all()


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
        maps.append(pf.local(program, X, max_memory=memory))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # One row of one map, and a convolution's windows, are needed at least. One identity matrix of all pixels has 2 GiB.
    assert peaks[0] < 100 << 20 and peaks[1] < 160 << 20
    # Up to the order in which a product of more rows adds.
    assert np.abs(maps[0].A - maps[1].A).max() < 1e-12 and np.abs(maps[0].c - maps[1].c).max() < 1e-12


def test_cells_that_are_too_large_are_refused() -> None:
    network = load(nn.Sequential(nn.Conv2d(1, 8, 1), nn.ReLU(), nn.AvgPool2d(100)), input_shape=(1, 100, 100))
    image = np.random.default_rng(0).normal(size=(1, 100, 100))
    maps = pf.local(network, image[None])
    message = r"80,000 rows of 10,000 numbers, take about [0-9,]+ bytes .* more than max_memory=4294967296"
    for refused in (lambda: maps.facets(0), lambda: pf.explore(network, image, max_cells=2)):
        with pytest.raises(LimitError, match=message):
            refused()
