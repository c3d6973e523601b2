"""Training of small networks in NumPy, meant to give the same weights on every machine.

After every step all weights are rounded to multiples of 2^-20. So what another machine rounds otherwise, in the
sixteenth digit, is gone before it can grow, unless a weight lies that close to the middle of two multiples.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from polyfold._base.types import Array

Layers = list[tuple[Array, Array]]

_STEPS_OF_ONE = 2.0**20


def initial(widths: Sequence[int], seed: int) -> Layers:
    """Weights and biases between -1 and 1 by the root of the number of inputs, as torch.nn.Linear begins."""
    rng = np.random.default_rng(seed)
    layers = []
    for inputs, outputs in pairwise(widths):
        weight, bias = rng.uniform(-1.0, 1.0, (outputs, inputs)), rng.uniform(-1.0, 1.0, outputs)
        layers.append((_rounded(weight / np.sqrt(inputs)), _rounded(bias / np.sqrt(inputs))))
    return layers


def trained(
    layers: Layers, X: Array, target: Array, *, steps: int, rate: float, loss: Literal["square", "logistic"]
) -> Layers:
    """The layers after full-batch steps: plain ones down the mean square error, Adam's down the logistic loss.

    Targets are -1 and 1. There is one output.
    """
    layers = [(weight.copy(), bias.copy()) for weight, bias in layers]
    first = [[np.zeros_like(part) for part in layer] for layer in layers]
    second = [[np.zeros_like(part) for part in layer] for layer in layers]
    for step in range(1, steps + 1):
        values = [X]
        for k, (weight, bias) in enumerate(layers):
            sums = values[-1] @ weight.T + bias
            values.append(np.maximum(sums, 0.0) if k < len(layers) - 1 else sums)
        outputs = values[-1][:, 0]
        slope = 2 * (outputs - target) if loss == "square" else -target * 0.5 * (1 - np.tanh(0.5 * target * outputs))
        back = (slope / len(X))[:, None]
        for k in reversed(range(len(layers))):
            gradients = (back.T @ values[k], back.sum(axis=0))
            if k:
                back = (back @ layers[k][0]) * (values[k] > 0)
            for part, gradient in enumerate(gradients):
                move = gradient
                if loss == "logistic":
                    first[k][part] = 0.9 * first[k][part] + 0.1 * gradient
                    second[k][part] = 0.99 * second[k][part] + 0.01 * gradient**2
                    mean, square = first[k][part] / (1 - 0.9**step), second[k][part] / (1 - 0.99**step)
                    # A weight without any gradient so far stays where it is.
                    move = np.divide(mean, np.sqrt(square), out=np.zeros_like(mean), where=square > 0)
                layers[k][part][...] = _rounded(layers[k][part] - rate * move)
    return layers


def _rounded(numbers: Array) -> Array:
    rounded: Array = np.round(numbers * _STEPS_OF_ONE) / _STEPS_OF_ONE
    return rounded
