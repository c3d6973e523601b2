"""Networks that tools with fewer layer types or more assumptions refuse. Needs PyTorch and NumPy only."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn


def seeded(seed: int, make: type[nn.Module] | object, *arguments: object) -> nn.Module:
    """A module in double precision and for evaluation, with weights that depend on the seed alone."""
    torch.manual_seed(seed)
    module: nn.Module = make(*arguments)  # type: ignore[operator]
    return module.double().eval()


def plain(*hidden: np.ndarray) -> nn.Module:
    """Hidden layers with given weights, biases in the last column; the output's weights are ones."""
    parts: list[nn.Module] = []
    for given in (*hidden, np.append(np.ones((1, len(hidden[-1]))), 0.0)[None, :]):
        linear = nn.Linear(given.shape[1] - 1, len(given), dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(given[:, :-1]))
            linear.bias.copy_(torch.from_numpy(given[:, -1]))
        parts += [linear, nn.ReLU()]
    return nn.Sequential(*parts[:-1]).eval()


def integer_networks() -> list[nn.Module]:
    """30 networks with random weights from -2 to 2."""
    rng = np.random.default_rng(0)
    shapes = ((4, 3), (3, 5))
    return [plain(*(rng.integers(-2, 3, size=shape).astype(float) for shape in shapes)) for _ in range(30)]


class Residual(nn.Module):
    """x + relu(Wx + b), then a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.relu, self.output = nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(x + self.relu(self.hidden(x)))


class Functional(nn.Module):
    """ReLU as a function instead of a module."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(2, 5), nn.Linear(5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(torch.relu(self.hidden(x)))


def _nested() -> nn.Module:
    block = nn.Sequential(nn.Linear(2, 4), nn.ReLU())
    return nn.Sequential(block, nn.Sequential(nn.Linear(4, 3), nn.ReLU()), nn.Linear(3, 1))


def _batch_norm() -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    model(torch.randn(64, 2))  # so that it has statistics
    return model


def _max_pool() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 4), nn.Unflatten(1, (1, 2, 2)), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1, 1))


def _leaky() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.1), nn.Linear(4, 1))


def _hard_tanh() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 3), nn.Hardtanh(), nn.Linear(3, 1))


def _wide() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2001), nn.ReLU(), nn.Linear(2001, 1))


def awkward() -> dict[str, nn.Module]:
    """All of them by name; each has inputs (n, 2) and one output."""
    random = np.random.default_rng(0).normal(size=(6, 3))
    twice, opposite = random.copy(), random.copy()
    twice[1], opposite[1] = twice[0], -opposite[0]
    first = np.array([[1, 0, 0], [0, 1, 0], [1, 1, -1], [1, -1, 2]], dtype=float)
    second = np.array([[1, -1, 2, 1, 1], [1, 1, -1, -2, -1]], dtype=float)
    through_a_point = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=float)
    return {
        "duplicate neurons": plain(twice),
        "opposite neurons": plain(opposite),
        "integer weights": plain(first, second),
        "three walls through a point": plain(through_a_point),
        "nested modules": seeded(0, _nested),
        "BatchNorm1d": seeded(0, _batch_norm),
        "MaxPool2d": seeded(0, _max_pool),
        "residual connection": seeded(0, Residual),
        "torch.relu in forward": seeded(0, Functional),
        "LeakyReLU": seeded(0, _leaky),
        "Hardtanh": seeded(0, _hard_tanh),
        "2,001 neurons without a Gurobi licence": seeded(0, _wide),
    }
