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

from polyfold import _core as core
from polyfold._base.notebook import InNotebooks
from polyfold._base.numbers import one_of, one_output
from polyfold.atlas.asked import an_atlas
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, resting_on
from polyfold.errors import how_many
from polyfold.topology.endless_stars import Face, relative_numbers
from polyfold.topology.face_complex import FaceComplex
from polyfold.topology.face_complex import faces as face_complex
from polyfold.topology.vertex_order import VertexOrder, ends_of_edges, vertex_order

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoints(Answer, InNotebooks):
    """The vertices of `faces` and the flat sets that they make, by the output's value there.

    Flat set s (one vertex, as a rule) has the value `value[s]` and consists of the vertices of `faces` with `label` s.
    `indices[s]` (d + 1 numbers) are the dimensions of the relative homology over two elements: all 0 where it is
    regular. They are -1 where that is not decided: in a flat set without end that has very many faces. `flat[s]`: more
    than one vertex, or no end.
    `boundary[s]`: some vertex lies on the domain's boundary, where the output is looked at within the domain only.
    `evidence` says what is known of the cells.
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


def critical_points(atlas: Atlas | FaceComplex, *, output: int = 0) -> CriticalPoints:
    """The critical points of an output: where the topology of {output <= t} changes as t grows.

    Which end of an edge is higher is decided exactly, as is whether both are the same.

    >>> import polyfold as pf
    >>> fold = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> found = pf.topology.critical_points(pf.unfold(fold, pf.box(-1, 2)))
    >>> found.value.round(12).tolist(), found.indices.tolist()
    ([0.0, 1.0, 2.0], [[1, 0], [0, 0], [0, 0]])
    """
    faces = atlas if isinstance(atlas, FaceComplex) else face_complex(an_atlas(atlas, "where an output is critical"))
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
        facets, in_flat_set = stars.of(flat_set, faces)
        numbers = relative_numbers(facets, in_flat_set, faces.dim)
        indices[flat_set] = -1 if numbers is None else numbers
    value = np.empty(count)
    value[label] = order.value
    boundary = np.zeros(count, dtype=bool)
    boundary[label[(faces.signs(0)[:, faces.atlas.gates :] == 0).any(axis=1)]] = True
    flat = np.bincount(label, minlength=count) > 1
    flat[stars.endless] = True
    return resting_on(faces.evidence, CriticalPoints(faces, output, label, value, indices, flat, boundary))


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
    found = core.sparse_rank(
        matrix.shape[0],
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int8),
        np.zeros(matrix.shape[1], dtype=np.uint8),
        True,
    )
    return np.bincount(below[found["pivot_rows"]], minlength=count)
