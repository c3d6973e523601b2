"""A deep network in three dimensions, in general position, whose cells have more than 2d facets on average."""

from __future__ import annotations

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def wavy(kinks: int, copies: int, seed: int, noise: float = 1e-3) -> Layers:
    """Gates of the second layer are zero where three triangle waves, one a coordinate, add up to nearly 3/2.

    The waves go up and down between 0 and 1. Where they add up to 3/2 is a surface of hexagons, one in each cube
    between the waves' kinks, four around each corner: it has many handles. The copies lie close together, so that
    between two of them there are prisms over hexagons, which have eight facets. Noise on all weights brings the
    network into general position.
    """
    rng = np.random.default_rng(seed)
    first, bias = np.repeat(np.eye(3), kinks, axis=0), np.tile(kinks / 2 - 0.5 - np.arange(kinks), 3)
    slopes = np.tile([1.0, *(2.0 * (-1) ** k for k in range(1, kinks))], 3)
    layers = [
        (first, bias),
        (np.tile(slopes, (copies, 1)), -1.5 + np.linspace(-0.1, 0.1, copies)),
        (np.ones((1, copies)), np.zeros(1)),
    ]
    return [(W + noise * rng.normal(size=W.shape), b + noise * rng.normal(size=b.shape)) for W, b in layers]
