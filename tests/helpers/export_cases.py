"""Networks for tests of exporters, and how what was exported is compared with them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from polyfold.network import Network, load
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import constant, size
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder
from polyfold.network.read.check import sample_points

ROWS = 20


class Residual(nn.Module):
    """Two convolutions around which their input goes as well."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: Any) -> Any:
        return torch.relu(x + self.norm(self.second(torch.relu(self.first(x)))))


class TwoEnds(nn.Module):
    """Two inputs and two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(3, 4), nn.Linear(2, 4)

    def forward(self, left: Any, right: Any) -> Any:
        hidden = torch.maximum(self.left(left), self.right(right))
        return hidden, hidden.abs().amax(dim=1)


# Modules with the shapes of their inputs.
SPATIAL: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "classifier": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5), nn.ReLU6()
        ),
        [(1, 14, 14)],
    ),
    "padded pools": (
        lambda: nn.Sequential(
            nn.MaxPool2d(3, stride=2, padding=1), nn.LeakyReLU(0.1), nn.MaxPool2d((2, 3), dilation=2, ceil_mode=True)
        ),
        [(2, 11, 12)],
    ),
    "residual": (
        lambda: nn.Sequential(nn.Conv2d(1, 3, 1), Residual(), nn.AvgPool2d(3, 2, 1), nn.Flatten(), nn.Linear(48, 2)),
        [(1, 8, 8)],
    ),
    "decoder": (
        lambda: nn.Sequential(
            nn.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1, groups=2), nn.PReLU(4), nn.Upsample(scale_factor=2)
        ),
        [(2, 4, 3)],
    ),
    "lines": (
        lambda: nn.Sequential(
            nn.Conv1d(2, 4, 3, padding="same", padding_mode="circular", groups=2),
            nn.AdaptiveMaxPool1d(4),
            nn.Linear(4, 2),
        ),
        [(2, 9)],
    ),
    "volumes": (lambda: nn.Sequential(nn.Conv3d(1, 2, 2), nn.ReLU(), nn.MaxPool3d(2)), [(1, 5, 5, 5)]),
    "uneven padding": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 4, padding="same"), nn.ReLU(), nn.ConvTranspose2d(2, 1, 2, padding=1)),
        [(1, 6, 5)],
    ),
    "two ends": (TwoEnds, [(3,), (2,)]),
}


def spatial_model(name: str) -> tuple[Any, list[tuple[int, ...]]]:
    """A module by its name, with weights that stay the same, and the shapes of its inputs."""
    torch.manual_seed(0)
    make, shapes = SPATIAL[name]
    return make().eval(), shapes


@cache
def spatial_network(name: str) -> Network:
    """The same module, as polyfold reads it. Networks do not change, so that one serves all tests."""
    module, shapes = spatial_model(name)
    return load(module, input_shape=shapes)


def points_of(network: Network) -> Any:
    return sample_points(network.input_dim, ROWS, seed=5)


def split(network: Network, X: Any) -> list[Any]:
    """Input rows as one array for each input of the network."""
    stops = np.cumsum([size(port.shape) for port in network.inputs])[:-1]
    return [
        part.reshape(len(X), *port.shape) for part, port in zip(np.split(X, stops, axis=1), network.inputs, strict=True)
    ]


def joined(outputs: Any, rows: int = ROWS) -> Any:
    return np.concatenate([np.asarray(output, dtype=np.float64).reshape(rows, -1) for output in outputs], axis=1)


def assert_same_values(network: Network, X: Any, values: Any, tolerance: float = 1e-12) -> None:
    """Relative to the largest number on the way, which is what roundings are relative to."""
    scale = max(1.0, *(float(np.abs(value).max(initial=0.0)) for _, value in network.walk(X)))
    np.testing.assert_allclose(values, network(X), rtol=0, atol=tolerance * scale)


def chain(slopes: Any, names: tuple[str, str, str] = ("first", "bend", "last")) -> Network:
    """A hidden layer of three neurons with these slopes for negative values, under these names."""
    rng = np.random.default_rng(0)
    builder = Builder("arrays")
    x = builder.port("x", (2,))
    hidden = builder.emit(names[0], Linear(constant(rng.normal(size=(3, 2))), constant(rng.normal(size=3))), x)
    bent = builder.emit(names[1], Rectify(constant(1.0), constant(slopes)), hidden)
    last = Linear(constant(rng.normal(size=(2, 3))), constant(rng.normal(size=2)))
    return builder.finish([builder.emit(names[2], last, bent)])
