"""Attributions of the bundled convolutional network's largest output for MNIST pictures. Prints one JSON object.

    python run_attributions.py METHOD PICTURES MNIST_FOLDER|-

METHOD is polyfold, captum_50, captum_500, deep or deep_functional. The baseline is black. Without MNIST the pictures
are noise.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import polyfold as pf
from polyfold.datasets.convolutional import mnist_conv

Array = npt.NDArray[np.float64]
WEIGHTS = Path(pf.__file__).parent / "datasets" / "mnist_conv.npz"


def pictures(folder: str, count: int) -> Array:
    if folder == "-":
        return np.random.default_rng(0).random(size=(count, 1, 28, 28))
    with gzip.open(Path(folder) / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(16 + count * 784), dtype=np.uint8, offset=16)
    return pixels.reshape(count, 1, 28, 28) / 255


def torch_model(functional: bool) -> Any:
    """The same network in torch, with layers as modules, or with pools and ReLUs called as functions."""
    import torch
    from torch import nn

    modules = nn.Sequential(
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
    ).double()
    with np.load(WEIGHTS) as kept:
        modules.load_state_dict({name: torch.tensor(kept[name]).double() for name in kept.files if name != "facts"})
    if not functional:
        return modules

    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.three, self.four = modules[0], modules[3], modules[7], modules[9]

        def forward(self, x: Any) -> Any:
            x = nn.functional.relu(nn.functional.max_pool2d(self.one(x), 2))
            x = nn.functional.relu(nn.functional.max_pool2d(self.two(x), 2))
            return self.four(nn.functional.relu(self.three(x.flatten(1))))

    return Functional()


def attributions(method: str, X: Array, targets: npt.NDArray[np.int64]) -> tuple[Array, float]:
    """Values (pictures, pixels), and CPU-seconds."""
    if method == "polyfold":
        network = mnist_conv()
        start = time.process_time()
        found = pf.explain.integrated_gradients(network, X, baseline=np.zeros(784), output="largest")
        return found.values[:, :, 0], time.process_time() - start
    import torch

    model, x = torch_model(method == "deep_functional"), torch.tensor(X)
    black = torch.zeros_like(x[:1])
    if method.startswith("captum"):
        from captum.attr import IntegratedGradients

        explainer, steps = IntegratedGradients(model), int(method.split("_")[1])
        start = time.process_time()
        values = [explainer.attribute(x[[i]], black, target=int(k), n_steps=steps) for i, k in enumerate(targets)]
        return torch.cat(values).detach().numpy().reshape(len(X), -1), time.process_time() - start
    import shap

    start = time.process_time()
    found = shap.DeepExplainer(model, black).shap_values(x, check_additivity=False)
    spent = time.process_time() - start
    return found.reshape(len(X), 784, 10)[np.arange(len(X)), :, targets], spent


def main() -> None:
    """Measure one method."""
    warnings.simplefilter("ignore")
    method, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    X, network = pictures(folder, count), mnist_conv()
    outputs = network(X)
    targets = outputs.argmax(axis=1)
    gain = outputs.max(axis=1) - network(np.zeros((1, 784)))[0, targets]
    values, spent = attributions(method, X, targets)
    off = np.abs(values.sum(axis=1) - gain)
    exact = pf.explain.integrated_gradients(network, X, baseline=np.zeros(784), output="largest").values[:, :, 0]
    answer = {
        "largest_gap": float(off.max()),
        "median_gap": float(np.median(off)),
        "pixel": float(np.median(np.abs(values - exact).max(axis=1))),
        "largest_pixel": float(np.median(np.abs(exact).max(axis=1))),
        "gain": float(np.median(gain)),
        "cpu_seconds": spent / count,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
