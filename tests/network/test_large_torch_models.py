"""Image classifiers of hundreds of layers: they are read in little time and memory, and computed alike."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("pytorchcv", reason="PYTORCHCV IS ABSENT: make setup installs it")

from network.large_models import FULL, classifier  # noqa: E402
from polyfold.network import Network, load  # noqa: E402
from polyfold.network.ops import Linear, Rectify, size  # noqa: E402
from polyfold.network.verify import FEWEST_POINTS, POINTS, affordable_points  # noqa: E402


def check(module: Any, network: Network, rows: int) -> Network:
    points = torch.as_tensor(np.random.default_rng(1).normal(size=(rows, *network.inputs[0].shape)))
    with torch.no_grad():
        expected = copy.deepcopy(module).double()(points).numpy()
    assert np.ptp(expected, axis=0).min() > 1e-3  # the outputs depend on the inputs
    np.testing.assert_allclose(network(points.numpy()), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    dense = [node.op.weight.size for node in network.nodes if isinstance(node.op, Linear)]
    assert max(dense) <= 2048 * 10  # nothing but the last layer is a matrix
    return network


def check_full(kind: str) -> Network:
    module = classifier(kind, FULL[kind])
    return check(module, load(module, input_shape=(1, FULL[kind], FULL[kind])), 2)


def gates(network: Network) -> int:
    return sum(size(network.shapes[node.name]) for node in network.nodes if isinstance(node.op, Rectify))


@pytest.mark.xdist_group("small_resnet")
def test_resnet_152_of_small_images(small_resnet: tuple[Any, Network]) -> None:
    assert gates(check(*small_resnet, 3)) > 400_000


@pytest.mark.xdist_group("small_inception")
def test_inception_v3_of_small_images(small_inception: tuple[Any, Network]) -> None:
    assert gates(check(*small_inception, 3)) > 300_000


@pytest.mark.slow
def test_resnet_152() -> None:
    network = check_full("resnet")
    assert gates(network) > 20_000_000
    assert affordable_points(network) == FEWEST_POINTS


@pytest.mark.slow
def test_inception_v3() -> None:
    assert gates(check_full("inception")) > 8_000_000


def test_small_networks_are_compared_at_all_points() -> None:
    assert affordable_points(load([([[1.0, 2.0]], [0.5])])) == POINTS
