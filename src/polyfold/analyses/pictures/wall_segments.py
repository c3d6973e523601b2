"""Where units switch, within a view: the walls between cells, by the layer that makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold.analyses.facet_generators import facet_generators
from polyfold.analyses.facet_statistics.layers import layer_of_facets, layer_of_gates
from polyfold.analyses.pictures.view import View
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.atlas.generators import LINE, RAY, VERTEX

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WallSegments:
    """Segment i runs from ends[i, 0] to ends[i, 1]: what of facet `facet[i]` lies in the view.

    `layer[i]` numbers `layers`, the user's layers that have gates. Each wall between two cells is listed once.
    """

    layers: tuple[str, ...]
    layer: Ids
    facet: Ids
    ends: Array


def wall_segments(atlas: Atlas, view: View) -> WallSegments:
    """The walls between cells of a two-dimensional atlas.

    >>> import polyfold as pf
    >>> atlas = pf.unfold([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    >>> wall_segments(atlas, View(np.full(2, -1.0), np.full(2, 1.0))).ends.tolist()
    [[[0.0, -1.0], [0.0, 1.0]]]
    """
    layers, layer = layer_of_gates(atlas)
    facet = _inner_facets(atlas)
    start, rows, generators = facet_generators(atlas, facet)
    ends, seen = segments_in_view(start, generators.points[rows], generators.kind[rows], view)
    return WallSegments(layers, layer_of_facets(atlas, layer)[facet[seen]], facet[seen], ends)


def wall_points(atlas: Atlas, lo: float, hi: float) -> WallSegments:
    """The same for one dimension, where walls are points: ends (k, 1).

    >>> import polyfold as pf
    >>> wall_points(pf.unfold([([[1.0]], [-1.0]), ([[3.0]], [0.0])]), 0.0, 2.0).ends.tolist()
    [[1.0]]
    """
    layers, layer = layer_of_gates(atlas)
    facet = _inner_facets(atlas)
    start, rows, generators = facet_generators(atlas, facet)
    points = generators.points[rows[start[:-1]]]
    seen = np.flatnonzero((points[:, 0] >= lo) & (points[:, 0] <= hi))
    return WallSegments(layers, layer_of_facets(atlas, layer)[facet[seen]], facet[seen], points[seen])


def _inner_facets(atlas: Atlas) -> Ids:
    """Each wall between cells once. Where nobody got to there is one as well, which no cell behind it lists too."""
    across = atlas.neighbour
    return np.flatnonzero((across != DOMAIN_BOUNDARY) & ((across < 0) | (atlas.facet_owner < across)))


def segments_in_view(start: Ids, points: Array, kind: npt.NDArray[np.uint8], view: View) -> tuple[Array, Ids]:
    """Pieces of lines, spanned by vertices, rays and lines, cut off at the view: ends (k, 2, 2), and whose they are.

    Piece i is spanned by points[start[i]:start[i + 1]].
    """
    count = len(start) - 1
    owner = np.repeat(np.arange(count), np.diff(start))
    place, direction = np.zeros((count, 2)), np.zeros((count, 2))
    low, high = np.zeros(count), np.zeros(count)
    vertex = np.flatnonzero(kind == VERTEX)
    # The first vertex is where a piece starts; without one it is a line, and goes through its own nearest point to 0.
    place[owner[vertex][::-1]] = points[vertex][::-1]
    away = points - np.where((kind == VERTEX)[:, None], place[owner], 0.0)
    there = away.any(axis=1)
    direction[owner[there]] = away[there]
    high[owner[there]] = 1.0
    high[owner[np.isin(kind, (RAY, LINE))]] = np.inf
    low[owner[kind == LINE]] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        for axis in range(2):
            first = (view.lo[axis] - place[:, axis]) / direction[:, axis]
            second = (view.hi[axis] - place[:, axis]) / direction[:, axis]
            moves = direction[:, axis] != 0
            outside = ~moves & ((place[:, axis] < view.lo[axis]) | (place[:, axis] > view.hi[axis]))
            low = np.where(moves, np.maximum(low, np.minimum(first, second)), np.where(outside, np.inf, low))
            high = np.where(moves, np.minimum(high, np.maximum(first, second)), high)
    seen = np.flatnonzero(low < high)
    ends = place[seen, None] + np.stack([low, high], axis=1)[seen, :, None] * direction[seen, None]
    return ends, seen
