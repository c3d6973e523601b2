"""Which networks are chains of dense ReLU layers: what comes through, and which node is named when not."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.exact.rational_arrays import nearest
from polyfold.layers.dense_layers import dense_layers

torch = pytest.importorskip("torch")
nn = torch.nn


def agrees(model: object, dim: int) -> pf.layers.Truncation:
    """The layers compute what the model computes, and so do the truncation maps where they are proved to."""
    network = pf.load(model)
    X = np.random.default_rng(0).normal(size=(30, dim))
    value, layers = X, dense_layers(network)
    for k, layer in enumerate(layers):
        value = value @ nearest(layer.weight).T + nearest(layer.bias)
        value = np.maximum(value, 0) if k < len(layers) - 1 else value
    np.testing.assert_allclose(value, network(X), rtol=0, atol=1e-9)
    found = pf.layers.truncation(model)
    if found.holds:
        np.testing.assert_allclose(found.outputs(X), network(X), rtol=0, atol=1e-8)
    return found


def test_torch_with_normalisation_and_several_linear_layers() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(4, 4),
        nn.BatchNorm1d(4),
        nn.ReLU(),
        nn.Linear(4, 5),
        nn.Linear(5, 3),
        nn.ReLU(),
        nn.Linear(3, 2),
    ).double()
    model(torch.randn(50, 4, dtype=torch.float64))
    found = agrees(model.eval(), 4)
    assert found.holds and [tau.gates for tau in found.maps] == [4, 3]


def test_a_network_that_ends_with_a_relu() -> None:
    torch.manual_seed(1)
    found = agrees(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2), nn.ReLU()).double(), 3)
    assert found.holds and found.output_weight.shape == (2, 3)
    assert np.array_equal(found.output_weight, found.maps[-1].weight)


def test_a_layer_of_zeros_keeps_its_place() -> None:
    layers = [(np.eye(2), np.zeros(2)), (np.zeros((2, 2)), np.array([1.0, -1.0])), (np.ones((1, 2)), np.zeros(1))]
    found = agrees(layers, 2)
    assert [tau.rank for tau in found.maps] == [2, 0] and found.surjective == (True, False)


def test_a_layer_along_the_last_axis() -> None:
    torch.manual_seed(2)
    model = nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(4, 2)).double()
    assert agrees(pf.load(model, input_shape=6), 6).holds


def test_scikit_learn_and_onnx(tmp_path) -> None:
    sklearn = pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    model = sklearn.MLPClassifier((3, 2), max_iter=30, random_state=0)
    with pytest.warns(UserWarning):
        model.fit(X, y)
    assert agrees(model, 3).holds
    pytest.importorskip("onnx")
    pf.load(model).save_onnx(tmp_path / "m.onnx")
    assert agrees(tmp_path / "m.onnx", 3).holds


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.second(x + torch.relu(self.first(x)))


@pytest.mark.parametrize(
    ("model", "shape", "said"),
    [
        (nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU(0.1), nn.Linear(2, 1)), 2, "node '1' .*slopes are 1 and 0.1"),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU6(), nn.Linear(2, 1)), 2, "node '1' .*Clamp"),
        (nn.Sequential(nn.Conv1d(1, 1, 2), nn.ReLU(), nn.Flatten(), nn.Linear(3, 1)), (1, 4), "node '0.* it is a Conv"),
        (Residual(), 3, "node 'add' .*it reads "),
    ],
    ids=["leaky", "clamp", "convolution", "residual"],
)
def test_others_are_refused_by_name(model: object, shape: object, said: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=said):
        pf.layers.truncation(pf.load(model, input_shape=shape))
