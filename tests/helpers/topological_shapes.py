"""Networks by hand whose level sets have a known shape, in the maximum norm: everything is a box or made of boxes.

Many of their gates share walls or meet in points that are not simple, so these are degenerate networks, too.
"""

from __future__ import annotations

import itertools

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def _layer(rows: list[list[float]], bias: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(rows, dtype=float), np.array(bias, dtype=float)


def largest_coordinate(dim: int) -> Layers:
    """max |x_k|."""
    both = np.concatenate([np.eye(dim), -np.eye(dim)])
    layers: Layers = [(both, np.zeros(2 * dim))]
    # Left to play: |x_0| and so on, as sums of entries of the layer before.
    playing = [[float(j % dim == k) for j in range(2 * dim)] for k in range(dim)]
    while len(playing) > 1:
        # relu(a - b) + b for the first two; the others, which are not negative, are passed on.
        a, b, *rest = playing
        rows = [[x - y for x, y in zip(a, b, strict=True)], b, *rest]
        layers.append(_layer(rows, [0.0] * len(rows)))
        width = len(rows)
        playing = [[float(j < 2) for j in range(width)]]
        playing += [[float(j == k) for j in range(width)] for k in range(2, width)]
    return [*layers, _layer(playing, [0.0])]


def _then(layers: Layers, rows: list[list[float]], bias: list[float], out: list[float], offset: float) -> Layers:
    """One more hidden layer over the only output."""
    *hidden, (weight, constant) = layers
    first = np.array(rows)
    return [*hidden, (first @ weight, first @ constant + np.array(bias)), _layer([out], [offset])]


def sphere(dim: int) -> Layers:
    """Zero where max |x_k| = 1, negative inside."""
    *hidden, (weight, bias) = largest_coordinate(dim)
    return [*hidden, (weight, bias - 1.0)]


def shell(dim: int) -> Layers:
    """| max |x_k| - 2 | - 1: zero on two nested spheres, negative between them."""
    return _then(largest_coordinate(dim), [[1.0], [-1.0]], [-2.0, 2.0], [1.0, 1.0], -1.0)


def two_cubes() -> Layers:
    """max(| |x| - 3 |, |y|, |z|) - 1: zero on two spheres apart from each other."""
    layers = [
        _layer(np.concatenate([np.eye(3), -np.eye(3)]).tolist(), [0.0] * 6),
        # | |x| - 3 | as two gates, |y|, |z|
        _layer(
            [[1, 0, 0, 1, 0, 0], [-1, 0, 0, -1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], [-3.0, 3.0, 0.0, 0.0]
        ),
        _layer([[1, 1, -1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0.0] * 3),
        _layer([[1, 1, -1], [0, 0, 1]], [0.0] * 2),
    ]
    return [*layers, _layer([[1, 1]], [-1.0])]


def torus() -> Layers:
    """max(| max(|x|, |y|) - 2 |, |z|) - 1: zero on a torus with square sections around the z axis."""
    layers = [
        _layer(np.concatenate([np.eye(3), -np.eye(3)]).tolist(), [0.0] * 6),
        _layer([[1, -1, 0, 1, -1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], [0.0] * 3),  # max(|x|, |y|) in two; |z|
        _layer([[1, 1, 0], [-1, -1, 0], [0, 0, 1]], [-2.0, 2.0, 0.0]),
        _layer([[1, 1, -1], [0, 0, 1]], [0.0] * 2),
    ]
    return [*layers, _layer([[1, 1]], [-1.0])]


def random_layers(rng: np.random.Generator, *widths: int) -> Layers:
    return [(rng.normal(size=(after, before)), rng.normal(size=after)) for before, after in itertools.pairwise(widths)]
