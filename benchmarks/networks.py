"""The networks that are measured: torch's default initialisation from seed 0, and Xavier-uniform weights from any."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from workers.archive import Layers


def torch_default(widths: tuple[int, ...], seed: int = 0) -> nn.Sequential:
    """Float32 linear layers built in order with a ReLU between any two, then made double."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def xavier_uniform(widths: tuple[int, ...], seed: int, biases: bool) -> nn.Sequential:
    """The same with Xavier-uniform weights, and with the biases that torch gives a linear layer, or zeros."""
    model = torch_default(widths, seed)
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            if not biases:
                nn.init.zeros_(layer.bias)
    return model


def linear_layers(model: nn.Sequential) -> Layers:
    """(weight, bias) of every linear layer."""
    layers = (layer for layer in model if isinstance(layer, nn.Linear))
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in layers]
