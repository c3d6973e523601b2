"""Random dense layers with weights that are floats and small fractions, so that exact arithmetic stays quick."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def layers_of(rng: np.random.Generator, widths: list[int]) -> Layers:
    """Layers of these widths, the inputs first; entries are multiples of 1/8."""
    return [
        (rng.integers(-16, 17, (after, before)) / 8, rng.integers(-16, 17, after) / 8)
        for before, after in pairwise(widths)
    ]


def points_in(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    return rng.integers(-40, 41, (count, dim)) / 16
