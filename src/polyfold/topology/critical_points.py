"""Where the sublevel sets of an output change: its critical points in the piecewise-linear sense.

An output is affine on every face, so on a face it is largest on one of its faces, and on all of it the same. Faces on
which it is largest at a vertex v (and only there) make up the lower star of v: what passing v's value adds to the
sublevel set. The vertex is regular if that adds nothing, that is if the lower star has no homology relative to what
lies below; otherwise it is critical, and the numbers in this homology are its indices: (1, 0, ...) is a minimum, (0, 1,
0, ...) a saddle that joins two components or closes a loop. Vertices that edges with one and the same value join are
one flat set, and are looked at together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import Report, tick
from polyfold._base.inputs import one_of, one_output
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.errors import how_many
from polyfold.topology.betti import sparse_rank
from polyfold.topology.endless_stars import Face, relative_numbers
from polyfold.topology.face_complex import FaceComplex, as_faces
from polyfold.topology.vertex_order import VertexOrder, ends_of_edges, vertex_order


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoints(Rows):
    """The vertices of a complex and the flat sets that they make, by an output's value there.

    A flat set is one vertex, as a rule; vertices that edges with one and the same value join are one set. Values are
    rounded to floats, their order along edges is exact. `evidence` says what is known of the cells.

    Attributes
    ----------
    faces : FaceComplex
        The complex.
    output : int
        The output.
    label : array of int, shape (vertices,)
        The flat set of every vertex.
    value : array of float, shape (sets,)
        The output there.
    indices : array of int, shape (sets, d + 1)
        The dimensions of the relative homology over two elements: all 0 where it is regular. They are -1 where that is
        not decided: in a flat set without end that has very many faces.
    flat : array of bool, shape (sets,)
        More than one vertex, or no end.
    boundary : array of bool, shape (sets,)
        Some vertex lies on the domain's boundary, where the output is looked at within the domain only.
    """

    faces: FaceComplex
    output: int
    label: Ids
    value: Array
    indices: Ids
    flat: Flags
    boundary: Flags

    def __len__(self) -> int:
        """How many flat sets are critical."""
        return len(self.critical)

    def __repr__(self) -> str:
        sets = how_many(len(self.value), "flat set")
        return f"CriticalPoints: {len(self)} of {sets} of vertices are critical; {self.evidence}"

    @property
    def critical(self) -> Ids:
        """The critical flat sets, by value."""
        return np.flatnonzero((self.indices > 0).any(axis=1))

    @property
    def regular(self) -> Ids:
        return np.flatnonzero((self.indices == 0).all(axis=1))

    @property
    def undecided(self) -> Ids:
        """Flat sets without end that have too many faces."""
        return np.flatnonzero((self.indices < 0).any(axis=1))

    def points(self, flat_set: int) -> Array:
        """The coordinates of the vertices of a flat set."""
        number = one_of(flat_set, len(self.value), "flat set", "the output")
        found: Array = self.faces.vertices[self.label == number]
        return found

    @property
    def index_sum(self) -> int:
        """The sum of all indices with alternating signs; on a bounded domain that is its Euler characteristic, 1."""
        decided = self.indices[(self.indices >= 0).all(axis=1)]
        return int((decided * (-1) ** np.arange(decided.shape[1])).sum())

    def rows(self) -> dict[str, Any]:
        """One row per flat set: its value, how many vertices it has, and its indices."""
        columns: dict[str, Any] = {
            "flat_set": np.arange(len(self.value)),
            "value": self.value,
            "vertices": np.bincount(self.label, minlength=len(self.value)),
        }
        columns |= {f"index_{k}": self.indices[:, k] for k in range(self.indices.shape[1])}
        return columns | {"flat": self.flat, "boundary": self.boundary}

    def facts(self) -> dict[str, Any]:
        names = ("output", "critical", "undecided", "value", "indices", "flat", "boundary")
        return {name: getattr(self, name) for name in names}

    def ask_instead(self) -> str:
        return "compare how many flat sets are critical, len(points)"


@question("topology.critical_points")
def critical_points(
    source: SourceLike | FaceComplex,
    domain: DomainLike = None,
    *,
    output: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> CriticalPoints:
    """The critical points of an output: where the topology of {output <= t} changes as t grows.

    Which end of an edge is higher is decided exactly, as is whether both are the same.

    Parameters
    ----------
    source : model, Network, Program, Atlas or FaceComplex
        What is asked about. Anything but an atlas is unfolded on the domain first; faces that were listed before need
        not be listed again.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int
        The number of the output.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    CriticalPoints
        All flat sets of vertices by value, with their indices.

    Examples
    --------
    >>> import polyfold as pf
    >>> fold = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> found = pf.topology.critical_points(fold, pf.box(-1, 2))
    >>> found.value.round(12).tolist(), found.indices.tolist()
    ([0.0, 1.0, 2.0], [[1, 0], [0, 0], [0, 0]])
    """
    faces = as_faces(source, domain, threads)
    output = one_output(output, faces.atlas.outputs)
    order = vertex_order(faces, output, "where an output is critical")
    label, count = _flat_sets(faces, order)
    stars = _lower_stars(faces, order, label)
    owner = stars.owner
    indices = np.zeros((count, faces.dim + 1), dtype=np.int64)
    ranks = [np.zeros(count, dtype=np.int64) for _ in range(faces.dim + 2)]
    for k in range(1, faces.dim + 1):
        ranks[k] = _ranks_by_owner(faces.boundary[k], owner[k - 1], owner[k], count)
    for k in range(faces.dim + 1):
        faces_in_star = np.bincount(owner[k][owner[k] >= 0], minlength=count)
        indices[:, k] = faces_in_star - ranks[k] - ranks[k + 1]
    for flat_set in stars.endless.tolist():
        tick()
        facets, in_flat_set = stars.of(flat_set, faces)
        numbers = relative_numbers(facets, in_flat_set, faces.dim)
        indices[flat_set] = -1 if numbers is None else numbers
    value = np.empty(count)
    value[label] = order.value
    boundary = np.zeros(count, dtype=bool)
    boundary[label[(faces.signs(0)[:, faces.atlas.gates :] == 0).any(axis=1)]] = True
    flat = np.bincount(label, minlength=count) > 1
    flat[stars.endless] = True
    return answered(CriticalPoints(faces, output, label, value, indices, flat, boundary), faces.evidence)


def _flat_sets(faces: FaceComplex, order: VertexOrder) -> tuple[Ids, int]:
    """The flat set of every vertex, numbered by value."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = ends_of_edges(faces)
    same = order.level[a] == order.level[b]
    size = len(order.level)
    graph = coo_array((np.ones(int(same.sum()), dtype=bool), (a[same], b[same])), shape=(size, size))
    count, raw = connected_components(graph, directed=False)
    level = np.empty(count, dtype=np.int64)
    level[raw] = order.level
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(level, kind="stable")] = np.arange(count)
    return rank[raw], int(count)


@dataclass(frozen=True, eq=False)
class _LowerStars:
    """By dimension: the flat set on which the output is largest on every face, or -1 where it has no largest value;
    and whether the output is the same on all of the face. `endless` are the flat sets with rays."""

    owner: list[Ids]
    same: list[Flags]
    endless: Ids

    def of(self, flat_set: int, faces: FaceComplex) -> tuple[dict[Face, list[Face]], dict[Face, bool]]:
        """The faces of one star, with their facets in it and whether they lie in the flat set."""
        facets: dict[Face, list[Face]] = {}
        inside: dict[Face, bool] = {}
        for k, owner in enumerate(self.owner):
            matrix = faces.boundary[k].tocsc()
            for i in np.flatnonzero(owner == flat_set).tolist():
                below = matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]].tolist()
                facets[k, i] = [(k - 1, j) for j in below if self.owner[k - 1][j] == flat_set]
                inside[k, i] = bool(self.same[k][i])
        return facets, inside


def _lower_stars(faces: FaceComplex, order: VertexOrder, label: Ids) -> _LowerStars:
    # Flat sets are numbered by value, so the largest number among a face's vertices is the one.
    owner, lowest = [label], [label]
    rises, falls = [np.zeros(len(label), dtype=bool)], [np.zeros(len(label), dtype=bool)]
    for k in range(1, faces.dim + 1):
        matrix = faces.boundary[k].tocoo()
        row, column, count = matrix.row, matrix.col, matrix.shape[1]
        largest, least = np.full(count, -1, dtype=np.int64), np.full(count, len(label), dtype=np.int64)
        np.maximum.at(largest, column, owner[-1][row])
        np.minimum.at(least, column, lowest[-1][row])
        up, down = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        np.logical_or.at(up, column, rises[-1][row])
        np.logical_or.at(down, column, falls[-1][row])
        if k == 1:
            up[faces.ray_face[order.slope > 0]] = True
            down[faces.ray_face[order.slope < 0]] = True
        owner.append(largest)
        lowest.append(least)
        rises.append(up)
        falls.append(down)
    same = [(a == b) & ~up & ~down for a, b, up, down in zip(owner, lowest, rises, falls, strict=True)]
    endless = np.unique(owner[1][faces.ray_face[order.slope == 0]])
    return _LowerStars([np.where(up, -1, o) for o, up in zip(owner, rises, strict=True)], same, endless)


def _ranks_by_owner(boundary: Any, below: Ids, above: Ids, count: int) -> Ids:
    """The ranks, over two elements, of a boundary matrix restricted to the faces of each owner.

    Together these make a matrix of blocks, each of which has its own pivots.
    """
    entries = boundary.tocoo()
    kept = (below[entries.row] == above[entries.col]) & (above[entries.col] >= 0)
    from scipy.sparse import csc_array

    matrix = csc_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=boundary.shape)
    found = sparse_rank(matrix, np.zeros(matrix.shape[1], dtype=np.uint8), True)
    return np.bincount(below[found["pivot_rows"]], minlength=count)
