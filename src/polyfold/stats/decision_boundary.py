"""The decision boundary: where one class ends and another begins, as polytopes.

Cells are cut where outputs tie (`classes.py`), so the boundary is made of facets: those between parts of different
classes. By continuity both classes win on such a facet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Report, tick
from polyfold._base.inputs import one_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import VERTEX, Generators, facet_generators
from polyfold.atlas.geometry.halfspaces import wall_rows
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.errors import how_many
from polyfold.stats.classes import Classes, as_classes


@dataclass(frozen=True, eq=False)
class DecisionBoundary(Rows):
    """Pieces of dimension d - 1: points in one dimension, segments in two, polygons in three.

    Attributes
    ----------
    classes : Classes
        The parts of cells that the pieces lie between.
    pair : array of int, shape (n, 2)
        The classes that each piece lies between, the lower number first.
    facet : array of int, shape (n,)
        The facet of `classes.atlas` that each piece is.
    parts, cells : array of int, shape (n, 2)
        The parts on both sides, and the cells of the original atlas that these lie in: the same one twice, unless the
        boundary runs along a wall of the network.
    start : array of int, shape (n + 1,)
        Piece i is spanned by `points[start[i] : start[i + 1]]`.
    points : array of float, shape (.., d)
        Vertices and directions in the domain's parameters. Polygons that are bounded have their corners in order.
    kind : array of int
        Whether points are vertices (0) or the directions of rays (1) or lines (2).
    """

    classes: Classes
    pair: Ids
    facet: Ids
    parts: Ids
    cells: Ids
    start: Ids
    points: Array
    kind: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.facet)

    def __repr__(self) -> str:
        pairs = len(np.unique(self.pair, axis=0))
        pieces = how_many(len(self), "piece")
        return f"DecisionBoundary: {pieces} between {how_many(pairs, 'pair')} of classes; {self.evidence}"

    def vertices(self, piece: int) -> Array:
        """The vertices of one piece."""
        piece = one_of(piece, len(self), "piece", "the boundary")
        rows = slice(self.start[piece], self.start[piece + 1])
        found: Array = self.points[rows][self.kind[rows] == VERTEX]
        return found

    @cached_property
    def bounded(self) -> Flags:
        """Pieces without rays or lines."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.start))
        ends: Flags = np.bincount(owner[self.kind != VERTEX], minlength=len(self)) == 0
        return ends

    @cached_property
    def measures(self) -> Array:
        """Lengths, areas or volumes of the pieces in the domain's parameters; 1 for a point, infinite if unbounded."""
        return _measures(self)

    def rows(self) -> dict[str, Any]:
        """One row per piece: the two classes, the cells on both sides, and how large it is."""
        columns: dict[str, Any] = {"piece": np.arange(len(self))}
        for name, values in (("class", self.pair), ("cell", self.cells)):
            columns |= {f"{name}_{side}": values[:, k] for k, side in enumerate(("below", "above"))}
        return columns | {"bounded": self.bounded, "measure": self.measures}

    def facts(self) -> dict[str, Any]:
        names = ("pair", "cells", "start", "points", "kind")
        return {"pieces": len(self)} | {name: getattr(self, name) for name in names}

    def ask_instead(self) -> str:
        return "compare the number of its pieces, len(boundary)"


@question("stats.decision_boundary")
def decision_boundary(
    source: SourceLike | Classes,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> DecisionBoundary:
    """The decision boundary of a network over its domain, bounded or not.

    Where classes tie on whole cells the lowest number wins, so the boundary is at the end of that.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Classes
        What is asked about. Anything but an atlas is unfolded on the domain first; classes that were found before need
        not be found again.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    DecisionBoundary
        The pieces of the boundary, each between two classes.

    Examples
    --------
    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.stats.decision_boundary(larger, pf.box(0, 1))
    >>> found.pair.tolist(), sorted(found.vertices(0).tolist())
    ([[0, 1]], [[0.0, 0.0], [1.0, 1.0]])
    """
    found = as_classes(source, domain, threads)
    parts = found.atlas
    owner, neighbour = parts.facet_owner, parts.neighbour.astype(np.int64)
    inner = np.flatnonzero(neighbour >= 0)
    facet = inner[found.label[owner[inner]] < found.label[neighbour[inner]]]
    sides = np.stack([owner[facet], neighbour[facet]], axis=1)
    start, rows, generators = facet_generators(parts, facet)
    if parts.dim == 3:
        rows = _in_order(parts, facet, start, rows, generators)
    boundary = DecisionBoundary(
        found,
        found.label[sides],
        facet,
        sides,
        found.cell[sides],
        start,
        generators.points[rows],
        generators.kind[rows],
    )
    return answered(boundary, found.evidence)


def _in_order(atlas: Atlas, facet: Ids, start: Ids, rows: Ids, generators: Generators) -> Ids:
    """The rows of each polygon around its middle; vertices come before rays."""
    normals, _ = wall_rows(atlas, atlas.facet_owner[facet], atlas.facet_wall[facet].astype(np.int64))
    piece = np.repeat(np.arange(len(facet)), np.diff(start))
    points, vertex = generators.points[rows], generators.kind[rows] == VERTEX
    count = np.maximum(np.bincount(piece, weights=vertex, minlength=len(facet)), 1)
    middle = np.zeros((len(facet), 3))
    np.add.at(middle, piece, points * vertex[:, None] / count[piece, None])
    # Two directions in the plane: across the normal's smallest coordinate, and across both.
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    one = np.cross(normals, axis)
    other = np.cross(normals, one) / np.linalg.norm(normals, axis=1)[:, None]
    away = points - middle[piece]
    angle = np.arctan2(np.einsum("rd,rd->r", away, other[piece]), np.einsum("rd,rd->r", away, one[piece]))
    return rows[np.lexsort((np.where(vertex, angle, 0.0), ~vertex, piece))]


def _measures(boundary: DecisionBoundary) -> Array:
    """Each piece is cut into simplices with a common corner, face by face, as the core does with cells."""
    atlas, dim = boundary.classes.atlas, boundary.classes.atlas.dim - 1
    found = np.where(boundary.bounded, 0.0, np.inf)
    start, rows, generators = facet_generators(atlas, boundary.facet)
    corners, piece = [], []
    for i in np.flatnonzero(boundary.bounded).tolist():
        tick()
        some = rows[start[i] : start[i + 1]].tolist()
        on = {g: frozenset(generators.facet[slice(*generators.facet_start[g : g + 2])].tolist()) for g in some}
        simplices = list(_simplices(some, on, dim, ()))
        corners += simplices
        piece += [i] * len(simplices)
    if corners:
        spanned = generators.points[np.array(corners)]
        edges = spanned[:, 1:] - spanned[:, :1]
        # Triangular factors keep more digits than the determinant of all products would.
        factors = np.linalg.qr(np.swapaxes(edges, 1, 2), mode="r")
        sizes = np.abs(np.prod(np.diagonal(factors, axis1=1, axis2=2), axis=1)) / factorial(dim)
        np.add.at(found, piece, sizes)
    return found


def _simplices(
    face: Sequence[int], on: dict[int, frozenset[int]], dim: int, apexes: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """A face is its corners. Its own facets are the largest of its meets with the cell's facets; those that miss its
    first corner are bases of pyramids over it."""
    if len(apexes) + len(face) == dim + 1:
        yield (*apexes, *face)
        return
    everywhere = frozenset.intersection(*(on[g] for g in face))
    somewhere = frozenset.union(*(on[g] for g in face)) - everywhere
    parts = {frozenset(g for g in face if facet in on[g]) for facet in sorted(somewhere)}
    for part in sorted(parts, key=sorted):
        if face[0] not in part and not any(part < other for other in parts):
            yield from _simplices(sorted(part), on, dim, (*apexes, face[0]))
