"""Networks of plain layers rewritten so that they stay the same function, to the last digit."""

from __future__ import annotations

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def random_layers(rng: np.random.Generator, *dims: int) -> Layers:
    return [
        (rng.normal(size=(rows, columns)), rng.normal(size=rows))
        for rows, columns in zip(dims[1:], dims[:-1], strict=True)
    ]


def copy(layers: Layers) -> Layers:
    return [(np.array(W, dtype=float), np.array(b, dtype=float)) for W, b in layers]


def hidden(rng: np.random.Generator, layers: Layers) -> int:
    return int(rng.integers(len(layers) - 1))


def permuted(rng, layers):
    """The neurons of a layer in another order."""
    k = hidden(rng, layers)
    (W, b), (V, c) = layers[k], layers[k + 1]
    order = rng.permutation(len(b))
    layers[k], layers[k + 1] = (W[order], b[order]), (V[:, order], c)


def rescaled(rng, layers):
    """Neurons times powers of two."""
    k = hidden(rng, layers)
    (W, b), (V, c) = layers[k], layers[k + 1]
    factor = 2.0 ** rng.integers(-3, 4, size=len(b))
    layers[k], layers[k + 1] = (W * factor[:, None], b * factor), (V / factor, c)


def split(rng, layers):
    """A neuron becomes two, a quarter and three quarters of it."""
    k = hidden(rng, layers)
    (W, b), (V, c) = layers[k], layers[k + 1]
    i = int(rng.integers(len(b)))
    weight = np.concatenate([V, V[:, [i]] * 0.5], axis=1)
    weight[:, i] *= 0.5
    layers[k], layers[k + 1] = (np.concatenate([W, W[[i]]]), np.append(b, b[i])), (weight, c)


def with_dead(rng, layers):
    """A neuron that nobody reads, and one that is never on."""
    k = hidden(rng, layers)
    (W, b), (V, c) = layers[k], layers[k + 1]
    rows, biases = np.stack([rng.normal(size=W.shape[1]), np.zeros(W.shape[1])]), np.array([0.5, -1.0])
    columns = np.stack([np.zeros(len(c)), rng.normal(size=len(c))], axis=1)
    layers[k] = np.concatenate([W, rows]), np.concatenate([b, biases])
    layers[k + 1] = np.concatenate([V, columns], axis=1), c


def with_cancelling(rng, layers):
    """Two new neurons that are the same, read with opposite signs."""
    k = hidden(rng, layers)
    (W, b), (V, c) = layers[k], layers[k + 1]
    row, column = rng.normal(size=(1, W.shape[1])), rng.normal(size=(len(c), 1))
    layers[k] = np.concatenate([W, row, 2 * row]), np.concatenate([b, [0.25, 0.5]])
    layers[k + 1] = np.concatenate([V, column, -column / 2], axis=1), c


def deeper(rng, layers):
    """A layer more, which passes on relu(z) - relu(-z) = z."""
    k = int(rng.integers(len(layers)))
    W, b = layers[k]
    both = np.concatenate([np.eye(len(b)), -np.eye(len(b))], axis=1)
    layers[k : k + 1] = [(np.concatenate([W, -W]), np.concatenate([b, -b])), (both, np.zeros(len(b)))]


REWRITES = (permuted, rescaled, split, with_dead, with_cancelling, deeper)


def rewritten(rng: np.random.Generator, layers: Layers, times: int) -> Layers:
    """The same function after some rewrites."""
    found = copy(layers)
    for number in rng.integers(len(REWRITES), size=times):
        REWRITES[number](rng, found)
    return found


def nudged(rng: np.random.Generator, layers: Layers, factor: float = 1.25) -> Layers:
    """One weight changed."""
    found = copy(layers)
    W, _ = found[int(rng.integers(len(found)))]
    i, j = rng.integers(W.shape[0]), rng.integers(W.shape[1])
    W[i, j] = W[i, j] * factor if W[i, j] else 0.5
    return found
