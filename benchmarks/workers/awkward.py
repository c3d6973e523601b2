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


def plain(first: np.ndarray, bias: np.ndarray) -> nn.Module:
    """One hidden layer with given weights; the outputs' weights are random."""
    torch.manual_seed(0)
    hidden, output = nn.Linear(first.shape[1], len(first)), nn.Linear(len(first), 1)
    model = nn.Sequential(hidden, nn.ReLU(), output).double()
    with torch.no_grad():
        hidden.weight.copy_(torch.from_numpy(first))
        hidden.bias.copy_(torch.from_numpy(bias))
    return model.eval()


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
    integers = np.array([[1, 0, 1], [0, 1, 1], [1, 1, -1], [2, 0, 2], [1, -1, 1]], dtype=float)
    return {
        "duplicate neurons": plain(twice[:, :2], twice[:, 2]),
        "opposite neurons": plain(opposite[:, :2], opposite[:, 2]),
        "integer weights": plain(integers[:, :2], integers[:, 2]),
        "nested modules": seeded(0, _nested),
        "BatchNorm1d": seeded(0, _batch_norm),
        "MaxPool2d": seeded(0, _max_pool),
        "residual connection": seeded(0, Residual),
        "torch.relu in forward": seeded(0, Functional),
        "LeakyReLU": seeded(0, _leaky),
        "Hardtanh": seeded(0, _hard_tanh),
        "2,001 neurons without a Gurobi licence": seeded(0, _wide),
    }
