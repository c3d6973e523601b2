"""Networks whose statistics are known by hand, and random ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import polyfold as pf

# |x|; a hat over [0, 2] with its tip in 1; max(x, y) = relu(x - y) + relu(y) - relu(-y); and the network that computes
# exclusive or in the corners of the unit square: s for s = x + y <= 1, and 2 - s beyond.
ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
HAT = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
LARGER = [([[1.0, -1.0], [0.0, 1.0], [0.0, -1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, -1.0]], [0.0])]
XOR = [([[1.0, 1.0], [1.0, 1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]


def random_layers(rng: np.random.Generator, *widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(rng.normal(size=(after, before)), rng.normal(size=after)) for before, after in pairwise(widths)]


def random_classifier(rng: np.random.Generator, *widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same with outputs that are zero in the mean over [-1, 1]^d, so that no class wins everywhere."""
    *hidden, (weight, bias) = random_layers(rng, *widths)
    X = rng.uniform(-1, 1, size=(2000, widths[0]))
    return [*hidden, (weight, bias - pf.load([*hidden, (weight, bias)])(X).mean(axis=0))]


def unit_square(network: list) -> pf.Atlas:
    return pf.unfold(network, pf.box(0, 1))
