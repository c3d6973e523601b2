"""Two problems of section 4 of "Locally Linear Attributes of ReLU Neural Networks", and their training, recorded.

A circle inside an annulus (figure 7, left), and the same four times with the classes exchanged as in XOR (right). The
paper gives pictures and no numbers: radii, gaps and the training are chosen here. It needs torch.

    found = trained("circle", (3,))
    pf.training.movie(found.recording, pf.box(-1, 1), out="circle.mp4", X=found.data, y=found.labels)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.types import Array, Ids
from polyfold.errors import PolyfoldError
from polyfold.training.recorder import record
from polyfold.training.recording import Recording

PROBLEMS = ("circle", "xor")
# The circle's radius, and the annulus's two.
_CIRCLE, _ANNULUS = 0.4, (0.6, 0.9)
# Of the XOR problem, each copy is of half the size, around these centres.
_CENTRES = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
EXTENT = (-1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Trained:
    """A recording of training, with the data that it was trained on."""

    recording: Recording
    data: Array
    labels: Ids


def circle(count: int, seed: int = 0) -> tuple[Array, Ids]:
    """Points of a circle (class 1) and of an annulus around it (class 0), as many of each, evenly over their areas.

    >>> X, y = circle(100)
    >>> X.shape, int(y.sum()), bool((np.linalg.norm(X[y == 1], axis=1) <= 0.4).all())
    ((100, 2), 50, True)
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    inner, outer = (np.where(labels, circle_end, end) for circle_end, end in zip((0.0, _CIRCLE), _ANNULUS, strict=True))
    radius = np.sqrt(rng.uniform(inner**2, outer**2))
    angle = rng.uniform(0, 2 * np.pi, count)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), labels


def xor(count: int, seed: int = 0) -> tuple[Array, Ids]:
    """Four circles with their annuli, of half the size; in two opposite ones the classes are exchanged.

    >>> X, y = xor(400)
    >>> nearest = np.sign(X[:, 0] * X[:, 1]) > 0
    >>> within = np.linalg.norm(np.abs(X) - 0.5, axis=1) <= 0.2
    >>> bool((y == (within != nearest)).all())
    True
    """
    X, labels = circle(count, seed)
    copy = (np.arange(count) // 2) % 4
    exchanged = _CENTRES[copy].prod(axis=1) > 0
    return X / 2 + _CENTRES[copy], np.where(exchanged, 1 - labels, labels)


def trained(
    problem: str,
    hidden: tuple[int, ...],
    *,
    epochs: int = 400,
    every: int = 4,
    count: int = 400,
    rate: float = 0.02,
    seed: int = 0,
    path: str | PathLike[str] | None = None,
    progress: Callable[[int], None] = lambda epoch: None,
) -> Trained:
    """Train a network of hidden layers on "circle" or "xor" in torch, with a snapshot every few epochs."""
    if problem not in PROBLEMS:
        raise PolyfoldError(f"there is no problem {problem!r}: use one of {', '.join(PROBLEMS)}")
    torch = require("torch", extra="torch", purpose="training")
    X, y = {"circle": circle, "xor": xor}[problem](count, seed)
    torch.manual_seed(seed)
    layers: list[Any] = []
    for before, width in zip((2, *hidden), hidden, strict=False):
        layers += [torch.nn.Linear(before, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(hidden[-1], 1))
    inputs, targets = torch.tensor(X, dtype=torch.float32), torch.tensor(y[:, None], dtype=torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    with _one_thread(torch), record(model, path, every=every) as recorder:
        for epoch in range(epochs):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.step(loss=loss)
            progress(epoch + 1)
    return Trained(recorder.recording, X, y)


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Threads of torch wait for each other far longer than such small layers take."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
