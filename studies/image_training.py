"""Training of a classifier of pictures that can be stopped after any epoch and goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from polyfold._base.files import atomically
from polyfold.errors import StorageError
from studies.image_data import Array, Labels, Pictures
from studies.image_networks import Architecture, Recipe

_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class Trained:
    """A network in evaluation mode, and how many test pictures it gets right."""

    name: str
    model: nn.Module
    right: int


def trained(
    architecture: Architecture, recipe: Recipe, data: Pictures, path: Path, say: Callable[[str], None]
) -> Trained:
    """The network after all its epochs; those that the file has already are not done again.

    The order of the pictures depends on the epoch alone, and the state of torch's random numbers is kept, so that a
    training that was stopped ends where it would have.
    """
    # Networks as small as these are trained no faster by several threads.
    torch.set_num_threads(1)
    torch.manual_seed(recipe.seed)
    model = architecture.build(data.side)
    for part in model.modules():
        if isinstance(part, nn.Dropout | nn.Dropout2d):
            part.p = recipe.dropout
    optimiser = torch.optim.SGD(model.parameters(), lr=recipe.rate, momentum=recipe.momentum, weight_decay=recipe.decay)
    done = _restore(path, f"{data.digest} {recipe}", model, optimiser)
    for epoch in range(done, recipe.epochs):
        loss = _epoch(model, optimiser, data, recipe, epoch)
        _keep(path, f"{data.digest} {recipe}", model, optimiser, epoch + 1)
        right = count_right(model, data.test, data.test_labels)
        say(f"{architecture.name}: epoch {epoch + 1} of {recipe.epochs}, loss {loss:.4f}, {right:,} right")
    model.eval()
    return Trained(architecture.name, model, count_right(model, data.test, data.test_labels))


def count_right(model: nn.Module, X: Array, labels: Labels) -> int:
    """How many pictures get their own label."""
    model.eval()
    with torch.no_grad():
        found = [model(torch.from_numpy(X[k : k + _AT_ONCE])).argmax(1).numpy() for k in range(0, len(X), _AT_ONCE)]
    return int((np.concatenate(found) == labels).sum())


def _epoch(model: nn.Module, optimiser: torch.optim.SGD, data: Pictures, recipe: Recipe, epoch: int) -> float:
    model.train()
    order = np.random.default_rng([recipe.seed, epoch]).permutation(len(data.train))
    X, y = torch.from_numpy(data.train), torch.from_numpy(data.train_labels)
    total = 0.0
    for start in range(0, len(order), recipe.batch):
        part = torch.from_numpy(order[start : start + recipe.batch])
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(X[part]), y[part])
        loss.backward()
        optimiser.step()
        total += float(loss.detach()) * len(part)
    return total / len(order)


def _keep(path: Path, made_of: str, model: nn.Module, optimiser: torch.optim.SGD, epochs: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {
        "made_of": made_of,
        "epochs": epochs,
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "chance": torch.get_rng_state(),  # what drops out next
    }
    with atomically(path) as file:
        torch.save(kept, file)


def _restore(path: Path, made_of: str, model: nn.Module, optimiser: torch.optim.SGD) -> int:
    """Bring model and optimiser to where the file has them; how many epochs that is."""
    if not path.exists():
        return 0
    kept = torch.load(path, weights_only=True)
    if kept["made_of"] != made_of:
        raise StorageError(f"{str(path)!r} is of other data or settings: remove it, or use another folder")
    model.load_state_dict(kept["model"])
    optimiser.load_state_dict(kept["optimiser"])
    torch.set_rng_state(kept["chance"])
    return int(kept["epochs"])
