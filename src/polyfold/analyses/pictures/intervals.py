"""Cells of a one-dimensional atlas as intervals within a view."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold.analyses.pictures.polygons import Polygons
from polyfold.atlas.atlas import Atlas
from polyfold.errors import DomainError


def intervals(atlas: Atlas, lo: float, hi: float, cells: Any = None) -> Polygons:
    """The parts of cells between lo and hi, as polygons of two points with one coordinate each, the lower one first.

    >>> import polyfold as pf
    >>> hinge = pf.unfold([([[1.0]], [-1.0]), ([[3.0]], [0.0])])
    >>> intervals(hinge, 0.0, 2.0).points.ravel().tolist()
    [0.0, 1.0, 1.0, 2.0]
    """
    if atlas.dim != 1:
        raise DomainError(f"intervals are cells of a domain of dimension 1, not {atlas.dim}")
    ids = atlas.ids(cells)
    low, high = (bound[:, 0] for bound in atlas.bounding_boxes(ids))
    low, high = np.maximum(low, lo), np.minimum(high, hi)
    seen = np.flatnonzero(low < high)
    points = np.stack([low[seen], high[seen]], axis=1).reshape(-1, 1)
    return Polygons(ids[seen], 2 * np.arange(len(seen) + 1), points)
