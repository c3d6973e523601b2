"""Small networks for studies: random ones, and the same ones along the way of their training. All need PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from polyfold._base.extras import require
from polyfold._base.types import Array

Layers = list[tuple[Array, Array]]

_POINTS = 400
_RATE = 0.01


def random_network(widths: Sequence[int], seed: int) -> Layers:
    """A network as PyTorch initialises it, in double precision."""
    return _layers(_model(widths, seed))


def along_training(widths: Sequence[int], seed: int, epochs: Sequence[int]) -> Iterator[tuple[int, Layers]]:
    """The network before, while and after it learns to tell a ball from what is around it, after so many epochs each.

    The points are uniform in the cube from -1 to 1; the ball has as many inside as outside. Adam on all of them at
    once, in one thread: the same numbers in every run.
    """
    torch = require("torch", extra="torch", purpose="training")
    model = _model(widths, seed)
    points = torch.rand(_POINTS, widths[0], generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1
    radius = points.norm(dim=1)
    inside = (radius < radius.median()).double()[:, None]
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    loss_of = torch.nn.BCEWithLogitsLoss()
    done = 0
    for epoch in sorted(epochs):
        with _one_thread(torch):
            for _ in range(epoch - done):
                optimiser.zero_grad()
                loss_of(model(points), inside).backward()
                optimiser.step()
        done = epoch
        yield epoch, _layers(model)


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """For such small matrices threads only wait for each other; and sums are added in one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _model(widths: Sequence[int], seed: int) -> Any:
    torch = require("torch", extra="torch", purpose="a random network")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        parts: list[Any] = []
        for inputs, outputs in pairwise(widths):
            parts += [torch.nn.Linear(inputs, outputs, dtype=torch.float64), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def _layers(model: Any) -> Layers:
    return [
        (part.weight.detach().numpy().copy(), part.bias.detach().numpy().copy())
        for part in model
        if hasattr(part, "weight")
    ]
