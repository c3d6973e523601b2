"""Where pieces do not meet: how far two affine pieces are apart on the facet between their cells.

On a facet the difference of two pieces is affine, so its size is largest at a vertex: nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import real_array
from polyfold._base.notebook import InNotebooks
from polyfold.atlas.asked import an_atlas, bounded_cells, cells_asked_for, finite
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, evidence_of, resting_on
from polyfold.atlas.geometry.facet_generators import facet_generators
from polyfold.errors import ShapeError, how_many

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

_QUESTION = "the largest jump between pieces"


@dataclass(frozen=True, eq=False, repr=False)
class FacetJumps(Answer, InNotebooks):
    """Each inner facet once: `facet[i]` lies between the cells `cells[i]` (n, 2).

    `largest[i]` is the largest difference of the two pieces' values on it, in size, and `at[i]` a vertex where it is
    taken, in the domain's parameters. `evidence` says what is known of the cells.
    """

    facet: Ids
    cells: Ids
    largest: Array
    at: Array

    def __len__(self) -> int:
        return len(self.facet)

    def __repr__(self) -> str:
        return f"FacetJumps: {how_many(len(self), 'facet')}, at most {self.max:g}; {self.evidence}"

    @property
    def max(self) -> float:
        """The largest jump of all; 0 if no two cells touch."""
        return float(self.largest.max(initial=0.0))


def facet_jumps(atlas: Atlas, points: Any) -> FacetJumps:
    """How far pieces w . u + b, one row (w, b) a cell, are from fitting together, facet by facet.

    The cells must be bounded. Values are floats: pieces that fit have jumps of the size of rounding errors.

    >>> import polyfold as pf
    >>> absolute = pf.unfold([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], pf.box(-1, 1))
    >>> dual = pf.maps.dual_space(absolute)
    >>> pieces = dual.points[dual.point_of_cell]
    >>> pf.maps.facet_jumps(absolute, pieces).max, pf.maps.facet_jumps(absolute, pieces + [[0.0, 0.5], [0.0, 0.0]]).max
    (0.0, 0.5)
    """
    an_atlas(atlas, _QUESTION)
    bounded_cells(atlas, cells_asked_for(atlas, None, _QUESTION), _QUESTION)
    pieces = real_array("pieces are rows (w, b) of numbers, one a cell", points)
    if pieces.shape != (len(atlas), atlas.dim + 1):
        raise ShapeError(
            f"pieces are one row (w, b) of {atlas.dim + 1} numbers for each of the {how_many(len(atlas), 'cell')}; "
            f"this array has shape {pieces.shape}"
        )
    owner, neighbour = atlas.facet_owner, atlas.neighbour.astype(np.int64)
    facet = np.flatnonzero(neighbour > owner)
    cells = np.stack([owner[facet], neighbour[facet]], axis=1)
    start, rows, generators = facet_generators(atlas, facet)
    item = np.repeat(np.arange(len(facet)), np.diff(start))
    vertices = generators.points[rows]
    apart = pieces[cells[:, 0]] - pieces[cells[:, 1]]
    sizes = np.abs(np.einsum("vd,vd->v", vertices, apart[item, :-1]) + apart[item, -1])
    # The last of each facet's vertices in this order has the largest jump.
    order = np.lexsort((sizes, item))
    last = order[start[1:] - 1]
    jumps = FacetJumps(facet, cells, finite(sizes[last], _QUESTION), vertices[last])
    return resting_on(evidence_of(atlas), jumps)
