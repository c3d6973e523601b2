"""Small convolutional, recurrent and graph-convolutional networks: all cells, as the reference engine finds them.

Cells depend on how a maximum is written as comparisons; regions do not, so where there are pools regions are compared
with those of a network whose maxima are written another way.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import polyfold as pf
from helpers.agreement import assert_same
from polyfold.program.lower.lower import lower, written_out
from polyfold.testing.reference import reference_unfold


class Recurrent(nn.Module):
    """A ReLU RNN over three steps of one number, read out at the end."""

    def __init__(self, layers: int = 1, both_ways: bool = False) -> None:
        super().__init__()
        self.rnn = nn.RNN(1, 2, layers, nonlinearity="relu", batch_first=True, bidirectional=both_ways)
        self.out = nn.Linear(4 if both_ways else 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.rnn(x)
        return self.out(hidden[:, -1])


class GraphConvolution(nn.Module):
    """Two graph convolutions on a path of three nodes with one feature."""

    def __init__(self) -> None:
        super().__init__()
        adjacency = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
        self.register_buffer("adjacency", adjacency / adjacency.sum(1, keepdim=True))
        self.first, self.second = nn.Linear(1, 2), nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(self.adjacency @ x))
        return torch.relu(self.second(self.adjacency @ hidden)).sum((1, 2))[:, None]


class PoolByHand(nn.Module):
    """The largest of neighbours in space, compared in another order than pools compare them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        right, left = x[..., 1::2], x[..., 0::2]
        return torch.maximum(right, left)


def convolution() -> nn.Module:
    return nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.AvgPool1d(2, 1), nn.Flatten(), nn.Linear(4, 2), nn.ReLU())


def transposed() -> nn.Module:
    return nn.Sequential(nn.Conv1d(1, 1, 2, stride=2), nn.ReLU(), nn.ConvTranspose1d(1, 2, 2), nn.ReLU(), nn.Flatten())


def image() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 2, (1, 2), padding="same"), nn.ReLU(), nn.Flatten(), nn.Linear(8, 1))


NETWORKS = {
    "convolution": (convolution, (1, 4)),
    "transposed convolution": (transposed, (1, 4)),
    "image": (image, (1, 2, 2)),
    "rnn": (Recurrent, (3, 1)),
    "rnn of two layers": (lambda: Recurrent(layers=2), (3, 1)),
    "rnn both ways": (lambda: Recurrent(both_ways=True), (3, 1)),
    "graph convolution": (GraphConvolution, (3, 1)),
}


@pytest.mark.parametrize(
    ("name", "bounded"),
    [
        pytest.param(name, bounded, marks=[] if bounded == bool(k % 2) else [pytest.mark.slow])
        for k, name in enumerate(NETWORKS)
        for bounded in (True, False)
    ],
)
def test_all_cells(name: str, bounded: bool) -> None:
    make, shape = NETWORKS[name]
    torch.manual_seed(len(name))
    program = written_out(lower(pf.load(make().double(), input_shape=shape)))
    domain = pf.box(-20, 20) if bounded else None
    atlas = pf.unfold(program, domain)
    assert atlas.complete and len(atlas) > 5
    assert_same(atlas, reference_unfold(program, atlas.domain))
    assert pf.certify(atlas).level == "certified"


def pooled(pool: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv1d(1, 2, 1), nn.ReLU(), pool, nn.Flatten(), nn.Linear(4, 2), nn.ReLU()).double()


def test_regions_do_not_depend_on_how_a_maximum_is_written() -> None:
    both = [
        pf.unfold(pf.load(pooled(pool), input_shape=(1, 4)), pf.box(-2, 2)) for pool in (nn.MaxPool1d(2), PoolByHand())
    ]
    regions = [pf.regions(atlas) for atlas in both]
    assert len(regions[0]) == len(regions[1]) < len(both[0])
    # A region of one is a region of the other: points that one puts together, the other does too.
    points = np.random.default_rng(0).uniform(-2, 2, size=(2000, 4))
    labels = [merged.label[atlas.locate(points)] for merged, atlas in zip(regions, both, strict=True)]
    pairs = set(zip(*(label.tolist() for label in labels), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_pools_agree_with_the_reference_engine() -> None:
    program = written_out(lower(pf.load(pooled(nn.MaxPool1d(2)), input_shape=(1, 4))))
    atlas = pf.unfold(program, pf.box(-2, 2))
    assert_same(atlas, reference_unfold(program, atlas.domain))
    assert any(origin.role.startswith("max") for origin in program.origins)
