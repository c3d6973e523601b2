"""Graphs of outputs: polygons and points lifted to the outputs' values."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.plotting.geometry.polygons import Polygons
from polyfold.plotting.geometry.view import View


def heights(atlas: Atlas, shown: Polygons, output: int) -> Array:
    """The output's value at every corner of the polygons, by the map of the corner's own cell."""
    A, c = atlas.maps(shown.cells, over="parameters")
    owner = np.repeat(np.arange(len(shown)), np.diff(shown.start))
    found: Array = np.einsum("pk,pk->p", A[owner, output], shown.points) + c[owner, output]
    return found


def lifted(atlas: Atlas, points: Array, view: View, output: int) -> Array:
    """Points that the view and the atlas have, with the output's value there as one more coordinate."""
    inside = points[((points >= view.lo) & (points <= view.hi)).all(axis=1)]
    cell = atlas.locate(inside, outside="ignore")
    inside, cell = inside[cell >= 0], cell[cell >= 0]
    A, c = atlas.maps(cell, over="parameters")
    return np.column_stack([inside, np.einsum("nd,nd->n", A[:, output], inside) + c[:, output]])


def triangles(start: Ids) -> tuple[Ids, Ids]:
    """Convex polygons with the corners start[i]:start[i + 1], cut into triangles, and the polygon of each.

    >>> triangles(np.array([0, 4, 7]))[0].tolist()
    [[0, 1, 2], [0, 2, 3], [4, 5, 6]]
    """
    piece = np.repeat(np.arange(len(start) - 1), np.maximum(np.diff(start) - 2, 0))
    within = np.arange(len(piece)) - np.searchsorted(piece, piece)
    first = start[piece]
    return np.stack([first, first + within + 1, first + within + 2], axis=1), piece
