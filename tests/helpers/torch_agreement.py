"""How tests compare a loaded network with the torch module that it came from."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from polyfold.network import Network, load


def check_module(module: Any, shape: Any, *, rows: int = 20, seed: int = 3) -> Network:
    """Load a module and compare it in float64 at fresh random points, relative to the largest output."""
    network = load(module, input_shape=shape)
    points = np.random.default_rng(seed).normal(size=(rows, network.input_dim))
    shaped = torch.as_tensor(points).reshape(rows, *network.inputs[0].shape)
    with torch.no_grad():
        expected = copy.deepcopy(module).double().eval()(shaped).reshape(rows, -1).numpy()
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(network(points), expected, rtol=0, atol=1e-12 * scale)
    return network


class Calls(torch.nn.Module):
    """A module that calls a function, with layers that the function may use."""

    def __init__(self, function: Any, **layers: Any) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            if isinstance(layer, torch.Tensor):
                self.register_buffer(name, layer)
            else:
                setattr(self, name, layer)

    def forward(self, x: Any) -> Any:
        return self.function(self, x)
