"""The networks that are compared: torch's default initialisation from seed 0."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn


def torch_default(widths: tuple[int, ...], seed: int = 0) -> nn.Sequential:
    """Float32 linear layers built in order with a ReLU between any two, then made double."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def write(model: nn.Sequential, path: Path) -> None:
    """The weights as w0, b0, w1, b1, ... in one NumPy archive, for programs that do not know torch."""
    arrays = {}
    for k, layer in enumerate(layer for layer in model if isinstance(layer, nn.Linear)):
        arrays[f"w{k}"] = layer.weight.detach().numpy()
        arrays[f"b{k}"] = layer.bias.detach().numpy()
    np.savez(path, **arrays)
