"""Where pieces do not meet: how far two affine pieces are apart on the facet between their cells.

On a facet the difference of two pieces is affine, so its size is largest at a vertex: nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Report
from polyfold._base.inputs import real_array
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.asked import bounded_cells, cells_asked_for, finite
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.generators import facet_generators
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import ShapeError, how_many

_QUESTION = "the largest jump between pieces"
# About the vertices of the two cells of a facet, of which all are found.
_FLOATS_EACH = 16


@dataclass(frozen=True, eq=False, repr=False)
class FacetJumps(Rows):
    """How far two pieces are apart, each inner facet once.

    Attributes
    ----------
    facet : array of int, shape (n,)
        The numbers of the facets.
    cells : array of int, shape (n, 2)
        The cells that each of them lies between.
    largest : array of float, shape (n,)
        The largest difference of the two pieces' values on it, in size.
    at : array of float, shape (n, d)
        A vertex where that is taken, in the domain's parameters.
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

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "max": self.max}

    def rows(self) -> dict[str, Any]:
        """One row per facet."""
        sides = {"cell": self.cells[:, 0], "neighbour": self.cells[:, 1]}
        where = {f"u_{k}": self.at[:, k] for k in range(self.at.shape[1])}
        return {"facet": self.facet, **sides, "largest": self.largest, **where}


@question("maps.facet_jumps")
def facet_jumps(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    pieces: ArrayLike,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> FacetJumps:
    """How far pieces w . u + b, one row (w, b) per cell, are from fitting together, facet by facet.

    The cells must be bounded. Values are floats: pieces that fit have jumps of the size of rounding errors.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    pieces : ArrayLike, shape (cells, d + 1)
        For each cell its piece (w, b), over the domain's parameters.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    FacetJumps
        For each inner facet the largest difference of the two pieces, and where it is.

    Examples
    --------
    >>> import polyfold as pf
    >>> absolute = pf.unfold([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], pf.box(-1, 1))
    >>> dual = pf.maps.dual_space(absolute)
    >>> pieces = dual.points[dual.point_of_cell]
    >>> pf.maps.facet_jumps(absolute, pieces=pieces).max
    0.0
    >>> pf.maps.facet_jumps(absolute, pieces=pieces + [[0.0, 0.5], [0.0, 0.0]]).max
    0.5
    """
    atlas = as_atlas(source, domain, threads=threads)
    bounded_cells(atlas, cells_asked_for(atlas, None, _QUESTION), _QUESTION)
    given = real_array("pieces must be rows (w, b) of numbers, one per cell", pieces)
    if given.shape != (len(atlas), atlas.dim + 1):
        raise ShapeError(
            f"pieces must be one row (w, b) of {atlas.dim + 1} numbers for each of the "
            f"{how_many(len(atlas), 'cell')}; their shape is {given.shape}"
        )
    facet, cells = apart(lambda: _inner_facets(atlas))
    largest, at = np.zeros(len(facet)), np.zeros((len(facet), atlas.dim))

    def measure(some: slice) -> None:
        difference = given[cells[some, 0]] - given[cells[some, 1]]
        largest[some], at[some] = _largest_on(atlas, facet[some], difference)

    in_chunks(len(facet), _FLOATS_EACH * atlas.dim, measure)
    return answered(FacetJumps(facet, cells, finite(largest, _QUESTION), at), evidence_of(atlas))


def _inner_facets(atlas: Atlas) -> tuple[Ids, Ids]:
    """The facets between two cells, each once, and these cells."""
    facet = np.flatnonzero(atlas.neighbour > atlas.facet_owner)
    return facet, np.stack([atlas.facet_owner[facet], atlas.neighbour[facet]], axis=1)


def _largest_on(atlas: Atlas, facet: Ids, difference: Array) -> tuple[Array, Array]:
    """The largest size of an affine function on each of some facets, and the vertex where it is taken."""
    start, rows, generators = apart(lambda: facet_generators(atlas, facet))
    item = np.repeat(np.arange(len(facet)), np.diff(start))
    vertices = generators.points[rows]
    sizes = np.abs(np.einsum("vd,vd->v", vertices, difference[item, :-1]) + difference[item, -1])
    # The last of each facet's vertices in this order has the largest jump.
    last = np.lexsort((sizes, item))[start[1:] - 1]
    return sizes[last], vertices[last]
