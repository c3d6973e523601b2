"""Networks for tests of pictures, as layers, and what they compute: written straight from the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def random_layers(seed: int, *widths: int, outputs: int = 3) -> Layers:
    rng = np.random.default_rng(seed)
    sizes = (2, *widths, outputs)
    return [(rng.normal(size=(m, n)) / np.sqrt(n), 0.5 * rng.normal(size=m)) for n, m in pairwise(sizes)]


def forward(layers: Layers, X: np.ndarray) -> np.ndarray:
    """The outputs at rows of points."""
    for W, b in layers[:-1]:
        X = np.maximum(X @ np.asarray(W).T + b, 0)
    return X @ np.asarray(layers[-1][0]).T + layers[-1][1]


def before_layer(layers: Layers, number: int, X: np.ndarray) -> np.ndarray:
    """What the neurons of a layer compare with zero."""
    return forward(layers[: number + 1], X)


DEGENERATE: dict[str, Layers] = {
    "no gates": [(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))],
    "three walls through a point": [
        (np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3)),
        (np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.5]]), np.zeros(2)),
    ],
    "the same wall twice": [
        (np.array([[1.0, -1.0], [-2.0, 2.0], [1.0, -1.0]]), np.zeros(3)),
        (np.array([[1.0, 0.5, 1.0], [0.0, 1.0, 0.0]]), np.array([0.25, 0.0])),
    ],
    "classes that tie on a cell": [
        (np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)),
        (np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.zeros(3)),
    ],
    "dead neurons": [
        (np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0.0, -1.0])),
        (np.array([[1.0, 1.0], [-1.0, 2.0]]), np.array([-0.5, 0.0])),
        (np.array([[1.0, -1.0], [0.0, 1.0]]), np.zeros(2)),
    ],
    "parallel walls": [
        (np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.array([0.0, -0.5, 0.5])),
        (np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 0.5]]), np.zeros(2)),
    ],
}
