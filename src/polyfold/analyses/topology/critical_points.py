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
import numpy.typing as npt

from polyfold import core
from polyfold.analyses.statistics.asked import an_atlas
from polyfold.analyses.topology.face_complex import FaceComplex, face_complex
from polyfold.analyses.topology.vertex_order import VertexOrder, vertex_order
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.numbers import one_of
from polyfold.errors import how_many

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoints:
    """The vertices of `faces` and the flat sets that they make, by the output's value there.

    Flat set s (one vertex, as a rule) has the value `value[s]` and consists of the vertices of `faces` with `label` s.
    `indices[s]` (d + 1 numbers) are the dimensions of the relative homology over two elements: all 0 where it is
    regular. They are -1 where a flat set has no end, which is not decided. `flat[s]`: more than one vertex.
    `boundary[s]`: some vertex lies on the domain's boundary, where the output is looked at within the domain only.
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
        return f"CriticalPoints: {len(self)} of {how_many(len(self.value), 'flat set')} of vertices are critical"

    @property
    def critical(self) -> Ids:
        """The critical flat sets, by value."""
        return np.flatnonzero((self.indices > 0).any(axis=1))

    @property
    def regular(self) -> Ids:
        return np.flatnonzero((self.indices == 0).all(axis=1))

    @property
    def undecided(self) -> Ids:
        """Flat sets without end."""
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


def critical_points(atlas: Atlas | FaceComplex, *, output: int = 0) -> CriticalPoints:
    """The critical points of an output: where the topology of {output <= t} changes as t grows.

    Which vertices are higher than which is decided exactly, as is which are the same.

    >>> import polyfold as pf
    >>> fold = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> found = pf.critical_points(pf.unfold(fold, pf.box(-1, 2)))
    >>> found.value.round(12).tolist(), found.indices.tolist()
    ([0.0, 1.0, 2.0], [[1, 0], [0, 0], [0, 0]])
    """
    faces = atlas if isinstance(atlas, FaceComplex) else face_complex(an_atlas(atlas, "where an output is critical"))
    output = one_of(output, faces.atlas.outputs, "output", "the network")
    order = vertex_order(faces, output, "where an output is critical")
    label, count = _flat_sets(faces, order)
    owner, endless = _lower_stars(faces, order, label, count)
    indices = np.zeros((count, faces.dim + 1), dtype=np.int64)
    ranks = [np.zeros(count, dtype=np.int64) for _ in range(faces.dim + 2)]
    for k in range(1, faces.dim + 1):
        ranks[k] = _ranks_by_owner(faces.boundary[k], owner[k - 1], owner[k], count)
    for k in range(faces.dim + 1):
        faces_in_star = np.bincount(owner[k][owner[k] >= 0], minlength=count)
        indices[:, k] = faces_in_star - ranks[k] - ranks[k + 1]
    indices[endless] = -1
    value = np.empty(count)
    value[label] = order.value
    boundary = np.zeros(count, dtype=bool)
    boundary[label[(faces.signs(0)[:, faces.atlas.gates :] == 0).any(axis=1)]] = True
    return CriticalPoints(faces, output, label, value, indices, np.bincount(label, minlength=count) > 1, boundary)


def _edges(faces: FaceComplex) -> tuple[Ids, Ids, Ids]:
    """Both ends of all bounded edges, and their numbers."""
    edges = np.flatnonzero(faces.bounded[1])
    ends = faces.boundary[1].tocsc()[:, edges].indices.reshape(-1, 2).astype(np.int64)
    return ends[:, 0], ends[:, 1], edges


def _flat_sets(faces: FaceComplex, order: VertexOrder) -> tuple[Ids, int]:
    """The flat set of every vertex, numbered by value."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b, _ = _edges(faces)
    same = order.level[a] == order.level[b]
    size = len(order.level)
    graph = coo_array((np.ones(int(same.sum()), dtype=bool), (a[same], b[same])), shape=(size, size))
    count, raw = connected_components(graph, directed=False)
    level = np.empty(count, dtype=np.int64)
    level[raw] = order.level
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(level, kind="stable")] = np.arange(count)
    return rank[raw], int(count)


def _lower_stars(faces: FaceComplex, order: VertexOrder, label: Ids, count: int) -> tuple[list[Ids], Ids]:
    """The flat set on which the output is largest for every face, by dimension, or -1 where it has no largest value;
    and the flat sets that rays belong to."""
    # Flat sets are numbered by value, so the largest number among a face's vertices is the one.
    owner = [label]
    rises = [np.zeros(len(label), dtype=bool)]
    for k in range(1, faces.dim + 1):
        matrix = faces.boundary[k].tocoo()
        largest = np.full(matrix.shape[1], -1, dtype=np.int64)
        np.maximum.at(largest, matrix.col, owner[-1][matrix.row])
        rising = np.zeros(matrix.shape[1], dtype=bool)
        np.logical_or.at(rising, matrix.col, rises[-1][matrix.row])
        if k == 1:
            rising[faces.ray_face[order.slope > 0]] = True
        owner.append(largest)
        rises.append(rising)
    endless = np.unique(owner[1][faces.ray_face[order.slope == 0]]) if len(faces.rays) else np.zeros(0, dtype=np.int64)
    return [np.where(rising, -1, largest) for largest, rising in zip(owner, rises, strict=True)], endless


def _ranks_by_owner(boundary: Any, below: Ids, above: Ids, count: int) -> Ids:
    """The ranks, over two elements, of a boundary matrix restricted to the faces of each owner.

    Together these make a matrix of blocks, each of which has its own pivots.
    """
    entries = boundary.tocoo()
    kept = (below[entries.row] == above[entries.col]) & (above[entries.col] >= 0)
    from scipy.sparse import csc_array

    matrix = csc_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=boundary.shape)
    found = core.sparse_rank(
        matrix.shape[0],
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int8),
        np.zeros(matrix.shape[1], dtype=np.uint8),
        True,
    )
    return np.bincount(below[found["pivot_rows"]], minlength=count)
