"""Train the bundled network and write src/polyfold/datasets/iris.json.

    python tools/train_iris.py

Iris, petal length and width, three hidden layers of 5, 7 and 4 ReLUs, one sigmoid per class, cross entropy,
Adam with learning rate 0.0001 and betas 0.9 and 0.999, 5000 epochs of one step over all training flowers,
40 % of the flowers kept for testing. Weights are float32 while training and are written as the doubles that
they are, with as many digits as it takes to read the same number back.

With so small a learning rate most seeds do not get far, so the seed was picked out of 24 (0 to 23): among
those that reach a training accuracy of 0.95, the one with the most ReLUs in use. The rule was settled after a
sweep that showed test accuracy as well, so the test accuracy of the bundled network is that of a chosen seed
and no unbiased estimate. `--scan 24` prints all of them, with how many cells hold the test flowers.

Nothing here is needed to use polyfold; it needs torch and scikit-learn, and takes a few seconds a seed.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch import nn

import polyfold as pf

TARGET = Path(__file__).parents[1] / "src" / "polyfold" / "datasets" / "iris.json"
HIDDEN = (5, 7, 4)
SETTINGS: dict[str, Any] = {
    "epochs": 5000,
    "steps_per_epoch": 1,
    "learning_rate": 1e-4,
    "betas": [0.9, 0.999],
    "loss": "cross entropy of one sigmoid per class",
    "test_share": 0.4,
    "seed": 18,
    "seed_choice": "picked out of seeds 0 to 23 with their test accuracies in view; see tools/train_iris.py",
}


def build(widths: list[int]) -> nn.Sequential:
    """Linear layers in order with a ReLU between any two; the sigmoid belongs to the loss."""
    layers: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(pairwise(widths)):
        if k:
            layers.append(nn.ReLU())
        layers.append(nn.Linear(inputs, outputs))
    return nn.Sequential(*layers)


def split(seed: int) -> list[np.ndarray]:
    """Petals to train and to test with, and the species of both."""
    iris = load_iris()
    parts: list[np.ndarray] = train_test_split(
        iris.data[:, 2:], iris.target, test_size=SETTINGS["test_share"], random_state=seed, stratify=iris.target
    )
    return parts


def cells_with_test_flowers(model: nn.Sequential, seed: int) -> tuple[int, int]:
    """How many cells of the network, on all of the plane, hold test flowers, and how many there are."""
    layers = [
        (layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy())
        for layer in model
        if isinstance(layer, nn.Linear)
    ]
    found = pf.summarise(pf.unfold(layers), split(seed)[1])
    return len(found), len(found) + found.unused


def train(seed: int) -> tuple[nn.Sequential, dict[str, Any]]:
    """The trained network and what there is to say about it."""
    iris = load_iris()
    train_x, test_x, train_y, test_y = (torch.as_tensor(part) for part in split(seed))
    train_x, test_x = train_x.float(), test_x.float()
    truth = nn.functional.one_hot(train_y, 3).float()

    torch.manual_seed(seed)
    model = build([2, *HIDDEN, 3])
    optimiser = torch.optim.Adam(
        model.parameters(),
        lr=SETTINGS["learning_rate"],
        betas=tuple(SETTINGS["betas"]),
        fused=False,
        foreach=False,
    )
    for _ in range(SETTINGS["epochs"]):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(train_x), truth).backward()
        optimiser.step()

    def accuracy(x: torch.Tensor, y: torch.Tensor) -> float:
        return round(float((model(x).argmax(dim=1) == y).double().mean()), 4)

    value, used = train_x, []
    for layer in model:
        value = layer(value)
        if isinstance(layer, nn.ReLU):
            used.append(int((value > 0).any(dim=0).sum()))

    facts = {
        "name": "iris",
        "inputs": ["petal length (cm)", "petal width (cm)"],
        "outputs": [str(name) for name in iris.target_names],
        "hidden": list(HIDDEN),
        "used_on_training_data": used,
        "train_accuracy": accuracy(train_x, train_y),
        "test_accuracy": accuracy(test_x, test_y),
        "training": {**SETTINGS, "seed": seed},
    }
    return model, facts


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SETTINGS["seed"])
    parser.add_argument("--scan", type=int, metavar="N", help="train seeds 0 to N-1, write nothing")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if options.scan:
        for seed in range(options.scan):
            model, facts = train(seed)
            holding, cells = cells_with_test_flowers(model, seed)
            print(
                f"seed {seed:3}  train accuracy {facts['train_accuracy']:.4f}  "
                f"test accuracy {facts['test_accuracy']:.4f}  in use {facts['used_on_training_data']}  "
                f"test flowers in {holding} of {cells} cells"
            )
        return
    model, facts = train(options.seed)
    facts["layers"] = [
        {"weight": layer.weight.detach().double().tolist(), "bias": layer.bias.detach().double().tolist()}
        for layer in model
        if isinstance(layer, nn.Linear)
    ]
    options.out.write_text(json.dumps(facts, indent=1) + "\n")
    print(f"train accuracy {facts['train_accuracy']}, test accuracy {facts['test_accuracy']}: {options.out}")


if __name__ == "__main__":
    main()
