"""Networks of plain layers with superfluous neurons planted, in weights of few digits so that nothing is rounded."""

from __future__ import annotations

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Quarters between -2 and 2, none of them zero."""
    return rng.choice([-1.0, 1.0], size=shape) * rng.integers(1, 9, size=shape) / 4


def layers(rng: np.random.Generator, *dims: int) -> Layers:
    return [
        (numbers(rng, rows, columns), numbers(rng, rows)) for rows, columns in zip(dims[1:], dims[:-1], strict=True)
    ]


def with_neuron(net: Layers, layer: int, weights, bias: float, outgoing) -> Layers:
    """One more neuron in a hidden layer."""
    net = list(net)
    (W, b), (V, c) = net[layer], net[layer + 1]
    net[layer] = np.vstack([W, weights]), np.append(b, bias)
    net[layer + 1] = np.column_stack([V, outgoing]), c
    return net


def width(net: Layers, layer: int) -> tuple[int, int]:
    """How many neurons feed a layer, and how many read it."""
    return net[layer][0].shape[1], len(net[layer + 1][1])


def unread(rng, net, layer):
    inputs, readers = width(net, layer)
    return with_neuron(net, layer, numbers(rng, inputs), 0.5, np.zeros(readers))


def constant(rng, net, layer):
    inputs, readers = width(net, layer)
    return with_neuron(net, layer, np.zeros(inputs), 0.75, numbers(rng, readers))


def proportional(rng, net, layer):
    _, readers = width(net, layer)
    W, b = net[layer]
    return with_neuron(net, layer, 2 * W[0], 2 * b[0], numbers(rng, readers))


def dead(rng, net, layer):
    inputs, readers = width(net, layer)
    return with_neuron(net, layer, numbers(rng, inputs), -4096.0, numbers(rng, readers))


def dead_everywhere(rng, net, layer):
    inputs, readers = width(net, layer)
    return with_neuron(net, layer, -np.abs(numbers(rng, inputs)), -0.5, numbers(rng, readers))


def identity_layer(net: Layers, layer: int) -> Layers:
    """A hidden layer that passes on what the one before it puts out."""
    size = len(net[layer][1])
    return [*net[: layer + 1], (np.eye(size), np.zeros(size)), *net[layer + 1 :]]
