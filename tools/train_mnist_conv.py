"""Train a small convolutional network on MNIST and write src/polyfold/datasets/mnist_conv.npz.

    python tools/train_mnist_conv.py [FOLDER OF MNIST]

Two convolutions with kernels of 5 x 5 (10 and 20 channels), each with a max-pool of 2 x 2 and a ReLU, then 50 ReLUs and
10 outputs; pixels between 0 and 1 with nothing else done to them. Cross entropy, Adam, 3 epochs, one thread of one
processor: about a minute, and about 98 % of the test pictures. Weights are float32, as trained; the file holds the test
accuracy and the settings as well.

The folder holds the four files of MNIST, gzipped, under their usual names. Nothing here is needed to use polyfold.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "polyfold" / "datasets" / "mnist_conv.npz"
MNIST = ROOT.parent / "shared" / "data" / "mnist"
SETTINGS: dict[str, Any] = {"seed": 0, "epochs": 3, "batch": 64, "learning_rate": 0.001, "optimiser": "Adam"}


def build() -> nn.Sequential:
    """The network, with the names that its weights have in the file."""
    return nn.Sequential(
        nn.Conv2d(1, 10, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(10, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(320, 50),
        nn.ReLU(),
        nn.Linear(50, 10),
    )


def read(folder: Path, part: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (n, 1, 28, 28) between 0 and 1, and labels."""
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), dtype=np.uint8, offset=8).astype(np.int64)
    return torch.from_numpy(pixels.astype(np.float32) / 255), torch.from_numpy(labels)


def train(folder: Path) -> nn.Sequential:
    """The network after all epochs."""
    pictures, labels = read(folder, "train")
    torch.manual_seed(SETTINGS["seed"])
    model = build()
    optimiser = torch.optim.Adam(model.parameters(), lr=SETTINGS["learning_rate"])
    for _ in range(SETTINGS["epochs"]):
        for batch in torch.randperm(len(labels)).split(SETTINGS["batch"]):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(pictures[batch]), labels[batch]).backward()
            optimiser.step()
    return model.eval()


def main() -> None:
    """Train, test, write."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else MNIST
    model = train(folder)
    pictures, labels = read(folder, "t10k")
    with torch.no_grad():
        accuracy = float((model(pictures).argmax(dim=1) == labels).float().mean())
    facts = {**SETTINGS, "test_accuracy": round(accuracy, 4), "torch": torch.__version__}
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    np.savez_compressed(TARGET, facts=np.array(json.dumps(facts)), **weights)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes, {facts}")


if __name__ == "__main__":
    main()
