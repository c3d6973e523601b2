"""Diameters of cells: the largest distance between two vertices."""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.atlas.geometry.generators import VERTEX, Generators

# Floats that the differences of one batch may hold: 16 MB.
_FLOATS = 1 << 21
# With more corners than this every item is an array large enough by itself.
_FEW = 48


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
            tick()
            part = items[first : first + step]
            corners = found.points[found.start[part][:, None] + np.arange(count)]
            diameters[part] = _largest_distance(corners)
    return diameters


def _largest_distance(corners: Array) -> Array:
    """Of the corners (n, count, d) of n items."""
    corners = corners - corners[:, :1]
    # Squares of very large or small distances would overflow or vanish: they are taken of parts of the item's size.
    size = np.abs(corners).max(axis=(1, 2))
    scaled = np.divide(corners, size[:, None, None], out=np.zeros_like(corners), where=size[:, None, None] > 0)
    by = _few_corners if corners.shape[1] <= _FEW else _many_corners
    found: Array = size * np.sqrt(by(scaled))
    return found


def _few_corners(corners: Array) -> Array:
    """Squares of the largest distances, of many items at once."""
    largest = np.zeros(len(corners))
    for k in range(1, corners.shape[1]):
        apart = corners[:, k:] - corners[:, :-k]
        np.maximum(largest, np.einsum("ijk,ijk->ij", apart, apart).max(axis=1), out=largest)
    return largest


def _many_corners(corners: Array) -> Array:
    """The same, one item after the other."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.spatial.distance import cdist

    rows = max(1, _FLOATS // corners.shape[1])
    blocks = range(0, corners.shape[1], rows)
    return np.array(
        [max(cdist(item[k : k + rows], item, "sqeuclidean").max() for k in blocks) for item in corners],
        dtype=np.float64,
    )
