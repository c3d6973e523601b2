"""Diameters of cells: the largest distance between two vertices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.atlas.generators import VERTEX, Generators

Array = npt.NDArray[np.float64]

# Floats that the differences of one batch may hold: 16 MB.
_FLOATS = 1 << 21


def diameters_of(found: Generators) -> Array:
    """The diameter of every item: infinite where it is unbounded."""
    bounded = np.ones(len(found), dtype=bool)
    bounded[found.owner[found.kind != VERTEX]] = False
    diameters = np.full(len(found), np.inf)
    counts = np.diff(found.start)
    dim = found.points.shape[1]
    # Items with equally many vertices are one array.
    for count in np.unique(counts[bounded]).tolist():
        items = np.flatnonzero(bounded & (counts == count))
        step = max(1, _FLOATS // (count * dim))
        for first in range(0, len(items), step):
            part = items[first : first + step]
            corners = found.points[found.start[part][:, None] + np.arange(count)]
            diameters[part] = _largest_distance(corners)
    return diameters


def _largest_distance(corners: Array) -> Array:
    """Of the corners (n, count, d) of n items."""
    largest = np.zeros(len(corners))
    for k in range(1, corners.shape[1]):
        # hypot, as it were: squares of very large or small distances would overflow or vanish.
        apart = np.abs(corners[:, k:] - corners[:, :-k])
        size = apart.max(axis=2)
        scaled = np.divide(apart, size[..., None], out=np.zeros_like(apart), where=size[..., None] > 0)
        distance = size * np.sqrt((scaled**2).sum(axis=2))
        np.maximum(largest, distance.max(axis=1), out=largest)
    return largest
