"""What facets are spanned by: the vertices, rays and lines that lie on them."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import Generators


def facet_generators(atlas: Atlas, facet: Ids) -> tuple[Ids, Ids, Generators]:
    """For each facet the generators that lie on it: where they start, and their rows in those of the cells."""
    cells = np.unique(atlas.facet_owner[facet])
    generators = atlas.generators(cells)
    row = np.repeat(np.arange(len(generators.points)), np.diff(generators.facet_start))
    number = np.full(len(atlas.facet_wall), -1)
    number[facet] = np.arange(len(facet))
    piece = number[atlas.facet_start[cells[generators.owner[row]]] + generators.facet]
    row, piece = row[piece >= 0], piece[piece >= 0]
    order = np.lexsort((row, piece))
    start = np.concatenate([[0], np.cumsum(np.bincount(piece, minlength=len(facet)))]).astype(np.int64)
    return start, row[order], generators
