"""The rows of local maps: as the program pulled back has them, as automatic differentiation does."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.random_networks import networks
from helpers.shared_files import MNIST
from helpers.slow_params import examples, quick_then_slow
from polyfold.errors import LimitError, PolyfoldError, ShapeError
from polyfold.maps import sparse_rows
from polyfold.maps.graph_forward import passed
from polyfold.network import Network
from polyfold.network.graph import Node, Port
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Clamp, Largest
from polyfold.program.lower.lower import lower
from polyfold.program.passes.pulled_back import output_forms

QUICK = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
ARCHITECTURES = ("Dense", "Conv", "Inception", "ResNet")


def compare_with_program(network: Network, dtype: str, accuracy: float) -> None:
    points = np.random.default_rng(0).normal(size=(20, network.input_dim)) * 2
    maps = pf.maps.matrices(network, points, dtype=dtype)
    program = lower(network)
    outputs, signs = program.evaluate(points)
    A, c = output_forms(program, signs)
    scale = 1 + max(float(np.abs(value).max()) for value in network.evaluate(points).values())
    assert maps.matrices.shape == (network.output_dim, 20, network.input_dim + 1) and maps.matrices.dtype == dtype
    size = 1 + np.abs(A).max(initial=0.0) + np.abs(c).max(initial=0.0)
    np.testing.assert_allclose(maps.values(), outputs, rtol=0, atol=accuracy * scale * size)
    assert maps.residual == pytest.approx(np.abs(maps.values() - outputs).max(), abs=accuracy * scale * size)
    # Where entries of a maximum are equal all around, rows may differ and values not.
    for k in range(network.output_dim):
        same = np.abs(maps.matrices[k] - np.concatenate([A[:, k], c[:, k, None]], axis=1)).max(axis=1)
        assert (same <= accuracy * scale * size).all(), (k, same)


@QUICK
@given(networks(with_spatial=True))
def test_rows_are_those_of_the_program(network: Network) -> None:
    compare_with_program(network, "float64", 1e-10)


@QUICK
@given(networks(with_spatial=True))
def test_rows_in_float32(network: Network) -> None:
    compare_with_program(network, "float32", 1e-3)


def test_large_convolutions_stay_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    model = architecture("Inception", 8)
    X = np.random.default_rng(0).normal(size=(5, 1, 8, 8))
    network = pf.load(model, input_shape=(1, 8, 8))
    written = pf.maps.matrices(network, X).matrices
    monkeypatch.setattr(sparse_rows, "MOST_ENTRIES", 0)
    np.testing.assert_allclose(pf.maps.matrices(network, X).matrices, written, rtol=0, atol=1e-11)


def architecture(name: str, side: int):
    torch = pytest.importorskip("torch")
    from studies import image_networks

    torch.manual_seed(0)
    model = image_networks.ARCHITECTURES[name].build(side)
    # Batch norms whose statistics are those of some pictures, as after training.
    model.train()(torch.randn(50, 1, side, side))
    return model.double().eval()


def autograd_rows(model, X: np.ndarray) -> np.ndarray:
    """[w, b] by automatic differentiation: (outputs, n, inputs + 1)."""
    import torch

    x = torch.tensor(X).requires_grad_(True)
    values = model(x)
    rows = []
    for j in range(values.shape[1]):
        (slope,) = torch.autograd.grad(values[:, j].sum(), x, retain_graph=True)
        flat = slope.reshape(len(X), -1)
        offset = values[:, j] - (flat * x.reshape(len(X), -1)).sum(1)
        rows.append(torch.cat([flat, offset[:, None]], dim=1).detach().numpy())
    return np.stack(rows)


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("side", quick_then_slow([8, 28], quick=1))
def test_rows_are_those_of_autograd(name: str, side: int) -> None:
    model = architecture(name, side)
    X = np.random.default_rng(1).normal(size=(30, 1, side, side))
    maps = pf.maps.matrices(pf.load(model, input_shape=(1, side, side)), X)
    rows = autograd_rows(model, X)
    np.testing.assert_allclose(maps.matrices, rows, rtol=0, atol=1e-11 * np.abs(rows).max())
    assert maps.residual <= 1e-12 * np.abs(rows).max() and maps.distinct_cells == 30


@pytest.mark.slow
@pytest.mark.shared("mnist")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_rows_at_a_thousand_images(name: str) -> None:
    model = architecture(name, 28)
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(16 + 1000 * 784), dtype=np.uint8, offset=16)
    X = (pixels.reshape(1000, 1, 28, 28) / 255 - 0.1307) / 0.3081
    network = pf.load(model, input_shape=(1, 28, 28))
    maps, rows = pf.maps.matrices(network, X), autograd_rows(model, X)
    # On black background the entries of a pool are equal, up to the order in which each side adds. Where both take the
    # same entries, rows are the same; where not, the entries taken are equal.
    same = np.ones(1000, dtype=bool)
    decided = passed(network, X.reshape(1000, -1)).decided
    ours = [decided[node.name] for node in network.nodes if isinstance(node.op, Largest)]
    for mine, (values, theirs) in zip(ours, pool_winners(model, X), strict=True):
        same &= (mine == theirs).all(axis=1)
        taken = [np.take_along_axis(values, entries, axis=1) for entries in (mine.astype(np.int64), theirs)]
        np.testing.assert_allclose(*taken, rtol=0, atol=1e-13 * np.abs(values).max())
    assert same.mean() > 0.5
    np.testing.assert_allclose(maps.matrices[:, same], rows[:, same], rtol=0, atol=1e-11 * np.abs(rows).max())
    assert maps.residual <= 1e-12 * np.abs(rows).max()


def pool_winners(model, X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """What every max-pool of the model reads, flattened, and the entries that torch takes of it."""
    import torch

    found = []

    def note(pool, inputs, output) -> None:
        (x,) = inputs
        _, index = torch.nn.functional.max_pool2d(x, pool.kernel_size, pool.stride, return_indices=True)
        plane = torch.arange(x.shape[1])[:, None, None] * x.shape[2] * x.shape[3]
        found.append((x.flatten(1).numpy(), (index + plane).flatten(1).numpy()))

    hooks = [part.register_forward_hook(note) for part in model.modules() if isinstance(part, torch.nn.MaxPool2d)]
    with torch.no_grad():
        model(torch.tensor(X))
    for hook in hooks:
        hook.remove()
    return found


def test_some_outputs_in_any_order() -> None:
    layers = [(np.arange(12.0).reshape(4, 3) - 5, np.ones(4)), (np.arange(12.0).reshape(3, 4) - 5, np.ones(3))]
    X = np.random.default_rng(0).normal(size=(7, 3))
    every, some = pf.maps.matrices(layers, X), pf.maps.matrices(layers, X, output=[2, 0])
    assert some.outputs == (2, 0) and (some.of(0) == every.of(0)).all() and (some.of(2) == every.of(2)).all()
    assert (some.predict() == np.array([0, 2])[(some.values()[:, 1] < some.values()[:, 0]).astype(int)]).all()
    with pytest.raises(PolyfoldError, match="no maps of output 1"):
        some.of(1)


def test_cells_are_told_apart() -> None:
    # Two gates in one dimension: cells (-inf, 0), (0, 1), (1, inf).
    layers = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 1.0]], [0.0])]
    X = np.array([[-3.0], [-0.5], [0.25], [0.75], [2.0], [5.0], [0.5]])
    maps = pf.maps.matrices(layers, X)
    assert maps.distinct_cells == 3 == len(np.unique(pf.local(layers, X).patterns, axis=0))
    assert [len({row.tobytes() for row in maps.cells[k]}) for k in ([0, 1], [2, 3, 6], [4, 5])] == [1, 1, 1]


def test_clamps_and_constants() -> None:
    network = Network((Port("x", (2,)),), (Node("c", Clamp(-1.0, 2.0), ("x",)),), ("c",))
    maps = pf.maps.matrices(network, [[-3.0, 0.5], [4.0, 1.0]])
    assert maps.of(0).tolist() == [[0, 0, -1], [0, 0, 2]] and maps.of(1).tolist() == [[0, 1, 0], [0, 1, 0]]


def test_ties_go_to_the_first_as_in_autograd() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.MaxPool2d(2), torch.nn.ReLU(), torch.nn.Flatten()).double()
    X = np.ones((1, 1, 4, 4))
    X[0, 0, :2, :2] = 0.0
    maps = pf.maps.matrices(pf.load(model, input_shape=(1, 4, 4)), X)
    assert (maps.matrices == autograd_rows(model, X)).all()


def test_windows_with_groups_strides_and_padding() -> None:
    rng = np.random.default_rng(3)
    window = Window((2, 1), ((1, 2), (0, 1)), (1, 2), groups=2)
    op = Convolution(constant(rng.normal(size=(4, 3, 3, 2))), constant(rng.normal(size=4)), window)
    network = Network((Port("x", (6, 5, 7)),), (Node("c", op, ("x",)),), ("c",))
    X = rng.normal(size=(3, 6, 5, 7))
    maps = pf.maps.matrices(network, X)
    assert maps.residual < 1e-12 and maps.distinct_cells == 1
    np.testing.assert_allclose(maps.matrices[:, 0], maps.matrices[:, 2], rtol=0, atol=0)


@pytest.mark.parametrize("threads", quick_then_slow([3, 2, 1], quick=1))
def test_threads_change_nothing(threads: int) -> None:
    model = architecture("Conv", 28)
    X = np.random.default_rng(2).normal(size=(40, 1, 28, 28))
    network = pf.load(model, input_shape=(1, 28, 28))
    one = pf.maps.matrices(network, X, threads=1).matrices
    assert (pf.maps.matrices(network, X, threads=threads).matrices == one).all()


def test_many_outputs() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 37)
    ).double()
    X = np.random.default_rng(2).normal(size=(4, 1, 6, 6))
    network = pf.load(model, input_shape=(1, 6, 6))
    for dtype, accuracy in (("float64", 1e-13), ("float32", 1e-6)):
        np.testing.assert_allclose(
            pf.maps.matrices(network, X, dtype=dtype).matrices, autograd_rows(model, X), rtol=0, atol=accuracy
        )


def test_pictures_of_slopes() -> None:
    model = architecture("Dense", 8)
    X = np.random.default_rng(2).normal(size=(4, 1, 8, 8))
    maps = pf.maps.matrices(pf.load(model, input_shape=(1, 8, 8)), X)
    assert maps.images(3).shape == (4, 1, 8, 8) and (maps.images(3, [2])[0].ravel() == maps.of(3)[2, :-1]).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"output": [1]}, PolyfoldError, "there is no output 1: the network has 1 output"),
        ({"output": []}, ShapeError, "numbers 0 to 0"),
        ({"dtype": "int32"}, PolyfoldError, "dtype must be 'float32' or 'float64', got 'int32'"),
        ({"max_seconds": 0}, LimitError, "leaves no time"),
        ({"threads": 0}, LimitError, "threads=0"),
    ],
)
def test_bad_options(options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        pf.maps.matrices([([[1.0, 2.0]], [0.0])], [[1.0, 1.0]], **options)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_bad_inputs(kind: type) -> None:
    layers = [([[1.0, 2.0]], [0.0])]
    with pytest.raises(ShapeError, match=r"shape is \(2, 3\)"):
        pf.maps.matrices(layers, np.ones((2, 3), dtype=kind))
    with pytest.raises(ShapeError, match=r"X\[1, .\] is nan"):
        pf.maps.matrices(layers, np.array([[1.0, 1.0], [np.nan, 0.0]], dtype=kind))
