"""Networks whose statistics are known by hand, and random ones."""

from __future__ import annotations

import numpy as np

import polyfold as pf

# |x|; a hat over [0, 2] with its tip in 1; max(x, y) = relu(x - y) + relu(y) - relu(-y); and the network that computes
# exclusive or in the corners of the unit square: s for s = x + y <= 1, and 2 - s beyond.
ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
HAT = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
LARGER = [([[1.0, -1.0], [0.0, 1.0], [0.0, -1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, -1.0]], [0.0])]
XOR = [([[1.0, 1.0], [1.0, 1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]


def random_layers(rng: np.random.Generator, *widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        (rng.normal(size=(after, before)), rng.normal(size=after))
        for before, after in zip(widths[:-1], widths[1:], strict=True)
    ]


def unit_square(network: list) -> pf.Atlas:
    return pf.unfold(network, pf.box(0, 1))
