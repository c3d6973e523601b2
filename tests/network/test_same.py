"""Networks that are the same step by step."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.network.same import same_networks

torch = pytest.importorskip("torch")
nn = torch.nn


def convolutional(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(2, 2)
    ).eval()


def test_the_same_model_loaded_twice():
    a, b, other = (pf.load(convolutional(seed), input_shape=(1, 4, 4)) for seed in (0, 0, 1))
    assert same_networks(a, a) and same_networks(a, b) and not same_networks(a, other)


def test_one_weight_one_slope_or_one_step_more():
    layers = [(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]
    again = [(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]
    assert same_networks(pf.load(layers), pf.load(again))
    again[1][0][0, 2] = np.nextafter(1.0, 2.0)
    assert not same_networks(pf.load(layers), pf.load(again))
    relu, leaky = (nn.Sequential(nn.Linear(2, 2), kind, nn.Linear(2, 1)) for kind in (nn.ReLU(), nn.LeakyReLU(0.1)))
    with torch.no_grad():
        for one, two in zip(relu.parameters(), leaky.parameters(), strict=True):
            two[:] = one
    a, b = pf.load(relu), pf.load(leaky)
    assert same_networks(a, pf.load(relu)) and not same_networks(a, b)
    assert not same_networks(a, pf.load(nn.Sequential(relu, nn.ReLU())))


def test_what_a_step_reads_counts():
    class Joined(nn.Module):
        def __init__(self, turned: bool) -> None:
            super().__init__()
            self.turned = turned

        def forward(self, x):
            y = torch.relu(x)
            return torch.cat([y, x] if self.turned else [x, y], dim=1)

    a, b = (pf.load(Joined(turned), input_shape=(2,)) for turned in (False, True))
    assert same_networks(a, a) and not same_networks(a, b)


def test_reshapes_do_not_count():
    plain = nn.Sequential(nn.Linear(4, 2))
    folded = nn.Sequential(nn.Unflatten(1, (2, 2)), nn.Flatten(), plain[0])
    assert same_networks(pf.load(plain), pf.load(folded, input_shape=(4,)))
    # Along the last axis of another shape it is another layer.
    by_rows = nn.Sequential(nn.Linear(2, 2, bias=False))
    assert not same_networks(pf.load(by_rows, input_shape=(2, 2)), pf.load(by_rows, input_shape=(2,)))
