"""Image classifiers of hundreds of layers with random weights, for tests that need something large and real."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from pytorchcv.models.inceptionv3 import inceptionv3
from pytorchcv.models.resnet import get_resnet, resnet152

from polyfold.network import Network
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import size
from polyfold.network.ops.switches import Rectify

MODELS: dict[str, Callable[..., Any]] = {
    "resnet": resnet152,
    "inception": inceptionv3,
    "short resnet": partial(get_resnet, blocks=14, bottleneck=True, width_scale=0.25),
}

# The smallest images that each takes once its last pool is adaptive, and those that it was made for.
# The short one is of the same blocks, a dozen layers instead of 150, and a quarter as wide.
SMALL = {"resnet": 32, "inception": 75, "short resnet": 32}
FULL = {"resnet": 224, "inception": 299}


def classifier(kind: str, pixels: int) -> Any:
    """A classifier of one channel into ten classes whose normalisation fits it, so that all layers matter."""
    torch.manual_seed(0)
    module = MODELS[kind](in_channels=1, num_classes=10)
    module.in_size = (pixels, pixels)
    if kind not in FULL or pixels < FULL[kind]:
        module.features.final_pool = torch.nn.AdaptiveAvgPool2d(1)
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(3, 1, pixels, pixels))
    return module.eval()


def check_import(module: Any, network: Network, rows: int) -> None:
    """The network computes what the module does, and nothing was made a matrix that was none."""
    points = torch.as_tensor(np.random.default_rng(1).normal(size=(rows, *network.inputs[0].shape)))
    with torch.no_grad():
        expected = copy.deepcopy(module).double()(points).numpy()
    assert np.ptp(expected, axis=0).min() > 1e-3  # the outputs depend on the inputs
    np.testing.assert_allclose(network(points.numpy()), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    dense = [node.op.weight.size for node in network.nodes if isinstance(node.op, Linear)]
    assert max(dense) <= 2048 * 10  # nothing but the last layer is a matrix


def gates(network: Network) -> int:
    """How many gates its rectifiers have."""
    return sum(size(network.shapes[node.name]) for node in network.nodes if isinstance(node.op, Rectify))
