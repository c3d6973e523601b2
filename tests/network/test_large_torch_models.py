"""Image classifiers of hundreds of layers: they are read in little time and memory, and computed alike."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("pytorchcv", reason="PYTORCHCV IS ABSENT: make setup installs it")

from pytorchcv.models.inceptionv3 import inceptionv3  # noqa: E402
from pytorchcv.models.resnet import resnet152  # noqa: E402

from polyfold.network import Network, load  # noqa: E402
from polyfold.network.ops import Linear, Rectify, size  # noqa: E402
from polyfold.network.verify import FEWEST_POINTS, POINTS, affordable_points  # noqa: E402


def classifier(make: Callable[..., Any], pixels: int, *, adaptive: bool) -> Any:
    """A classifier with random weights whose normalisation fits them, so that all layers matter for its outputs."""
    torch.manual_seed(0)
    module = make(in_channels=1, num_classes=10)
    module.in_size = (pixels, pixels)
    if adaptive:
        module.features.final_pool = torch.nn.AdaptiveAvgPool2d(1)
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(3, 1, pixels, pixels))
    return module.eval()


def check(module: Any, pixels: int, rows: int) -> Network:
    network = load(module, input_shape=(1, pixels, pixels))
    points = torch.as_tensor(np.random.default_rng(1).normal(size=(rows, 1, pixels, pixels)))
    with torch.no_grad():
        expected = copy.deepcopy(module).double()(points).numpy()
    assert np.ptp(expected, axis=0).min() > 1e-3  # the outputs depend on the inputs
    np.testing.assert_allclose(network(points.numpy()), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    dense = [node.op.weight.size for node in network.nodes if isinstance(node.op, Linear)]
    assert max(dense) <= 2048 * 10  # nothing but the last layer is a matrix
    return network


def gates(network: Network) -> int:
    return sum(size(network.shapes[node.name]) for node in network.nodes if isinstance(node.op, Rectify))


def test_resnet_152_of_small_images() -> None:
    assert gates(check(classifier(resnet152, 32, adaptive=True), 32, 3)) > 400_000


def test_inception_v3_of_small_images() -> None:
    assert gates(check(classifier(inceptionv3, 75, adaptive=True), 75, 3)) > 300_000


@pytest.mark.slow
def test_resnet_152() -> None:
    network = check(classifier(resnet152, 224, adaptive=False), 224, 2)
    assert gates(network) > 20_000_000
    assert affordable_points(network) == FEWEST_POINTS


@pytest.mark.slow
def test_inception_v3() -> None:
    assert gates(check(classifier(inceptionv3, 299, adaptive=False), 299, 2)) > 8_000_000


def test_small_networks_are_compared_at_all_points() -> None:
    assert affordable_points(load([([[1.0, 2.0]], [0.5])])) == POINTS
