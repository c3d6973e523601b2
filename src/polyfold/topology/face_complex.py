"""All faces of an atlas's cells, each once: the polyhedral complex behind the network.

A face is where some gates vanish, the others keep their signs, and the domain's rows hold, some of them with equality.
Its sign vector says which, and is its name: all cells around a face agree on it, and no two faces share one. So the
core (`native/geometry/face_list.*`) finds what is the same without comparing a coordinate, and degenerate networks are
no special case. Signs of incidence are found from the faces alone as well (`native/geometry/face_complex.*`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.apart import apart_if_wanted
from polyfold._base.clock import Report, running, tick
from polyfold._base.evidence import weaker
from polyfold._base.extras import require
from polyfold._base.inputs import one_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core, core_problem
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.patterns import PatternIndex, pack, unpack
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike, own_domain
from polyfold.engine.unfold import as_atlas
from polyfold.errors import LimitError, PolyfoldError, ShapeError, how_many

if TYPE_CHECKING:
    import networkx

    from polyfold.topology.subcomplex import Subcomplex

Packed = npt.NDArray[np.uint8]
Sparse = Any  # scipy.sparse.csc_array, which has no types

_MOST_FACES = 20_000_000


@dataclass(frozen=True, eq=False, repr=False)
class FaceComplex(Rows):
    """The faces of `atlas`: face i of dimension k is row i of entry k of every tuple; of dimension d it is cell i.

    Coordinates are the domain's parameters, in floats; everything else here is exact.

    Attributes
    ----------
    atlas : Atlas
        The cells.
    contained, on : tuple of array of uint8
        The walls that contain each face, and the gates that are positive there, as packed bits; `signs` unpacks them.
    boundary : tuple of scipy.sparse.csc_array
        `boundary[k]` is the matrix (faces of dimension k - 1, faces of dimension k) of incidence numbers: 1 or -1 where
        the one bounds the other, such that `boundary[k - 1] @ boundary[k]` is zero.
    bounded : tuple of array of bool
        Which faces have an end in all directions but those of `lines`.
    points : array of float, shape (n, d)
        The faces of the least dimension are vertices, or parallel to all lines: the vertex, or a point of it.
    ray_face, rays : array of int, shape (r,), and of float, shape (r, d)
        Unbounded faces of the next dimension are rays: their numbers, and their directions.
    lines : array of float, shape (l, d)
        The lines that every cell contains, if there are any.
    point_errors, ray_errors : array of float
        How far coordinates can be off at most, before they are rounded to floats.
    original : Atlas
        The atlas that was asked about, whose cells may have been cut for this complex.
    """

    atlas: Atlas
    contained: tuple[Packed, ...]
    on: tuple[Packed, ...]
    boundary: tuple[Sparse, ...]
    bounded: tuple[Flags, ...]
    points: Array
    ray_face: Ids
    rays: Array
    lines: Array
    point_errors: Array
    ray_errors: Array
    original: Atlas

    def __post_init__(self) -> None:
        for arrays in (self.contained, self.on, self.bounded, (self.points, self.ray_face, self.rays, self.lines)):
            for array in arrays:
                array.setflags(write=False)

    def __len__(self) -> int:
        return sum(self.f_vector)

    def __repr__(self) -> str:
        by_dimension = ", ".join(f"{n:,}" for n in self.f_vector)
        return f"FaceComplex: {how_many(len(self), 'face')}, by dimension {by_dimension}; {self.evidence}"

    @property
    def dim(self) -> int:
        return self.atlas.dim

    @property
    def least(self) -> int:
        """The least dimension of a face: 0, unless all cells contain lines."""
        return len(self.lines)

    @property
    def f_vector(self) -> tuple[int, ...]:
        """Numbers of faces of dimension 0, 1, ..., d."""
        return tuple(len(flags) for flags in self.bounded)

    @property
    def euler_characteristic(self) -> int:
        """The alternating sum of the f-vector: 1 on a bounded domain, (-1)^d on all of R^d."""
        return sum((-1) ** k * count for k, count in enumerate(self.f_vector))

    @property
    def vertices(self) -> Array:
        """Coordinates of the faces of dimension 0."""
        return self.points if self.least == 0 else np.zeros((0, self.dim))

    def rows(self) -> dict[str, Any]:
        """One row per face: its dimension, its number, and whether it is bounded."""
        return {
            "dim": np.repeat(np.arange(self.dim + 1), self.f_vector),
            "face": np.concatenate([np.arange(count) for count in self.f_vector]),
            "bounded": np.concatenate(self.bounded),
        }

    def facts(self) -> dict[str, Any]:
        return {
            "f_vector": self.f_vector,
            "euler_characteristic": self.euler_characteristic,
            "bounded": [int(flags.sum()) for flags in self.bounded],
            "points": self.points,
            "rays": self.rays,
            "lines": self.lines,
        }

    def ask_instead(self) -> str:
        return "compare the number of its faces, len(faces)"

    # -- single faces

    def signs(self, dim: int, faces: Any = None) -> npt.NDArray[np.int8]:
        """Sign vectors (n, gates + domain rows): 0 where a gate vanishes or a row holds with equality, else 1 or -1.

        A domain row is never -1. Gate g is column g, row r of the domain column `gates + r`.
        """
        k = self._dimension(dim)
        ids = self.ids(k, faces)
        gates, rows = self.atlas.gates, self.atlas.domain.rows
        signs = np.ones((len(ids), gates + rows), dtype=np.int8)
        signs[:, :gates] = 2 * unpack(self.on[k][ids], gates).view(np.int8) - 1
        signs *= ~unpack(self.contained[k][ids], gates + rows)
        return signs

    def signs_of(self, dim: int, wall: int) -> npt.NDArray[np.int8]:
        """One column of that: the signs of a gate, or of a domain row, on all faces of a dimension."""
        k = self._dimension(dim)
        wall = one_of(wall, self.atlas.gates + self.atlas.domain.rows, "wall", "the complex")
        byte, bit = divmod(wall, 8)
        zero = (self.contained[k][:, byte] >> bit) & 1
        on = (self.on[k][:, byte] >> bit) & 1 if wall < self.atlas.gates else np.ones_like(zero)
        return (1 - zero.astype(np.int8)) * (2 * on.astype(np.int8) - 1)

    def find(self, dim: int, signs: Any) -> Ids:
        """The faces with these sign vectors (n, gates + domain rows), or -1 where there is none of this dimension."""
        k = self._dimension(dim)
        wanted = np.atleast_2d(np.asarray(signs))
        gates, rows = self.atlas.gates, self.atlas.domain.rows
        if wanted.shape[1] != gates + rows:
            raise ShapeError(
                f"sign vectors have {gates + rows} entries, one per gate or domain row; these have shape {wanted.shape}"
            )
        names = np.concatenate([pack(wanted == 0), pack(wanted[:, :gates] > 0)], axis=1)
        found = PatternIndex(np.concatenate([self.contained[k], self.on[k]], axis=1)).find(names)
        # No face lies outside of the domain; the sign of a row is not part of the name.
        return np.where((wanted[:, gates:] < 0).any(axis=1), -1, found)

    def walls(self, dim: int, face: int) -> tuple[int, ...]:
        """The walls that contain a face: gates, and domain rows numbered behind them."""
        return tuple(np.flatnonzero(self.signs(dim, [face])[0] == 0).tolist())

    def within(self, small: int, large: int) -> Sparse:
        """The sparse matrix (faces of dimension `small`, faces of dimension `large`) of which lies in which."""
        from scipy.sparse import eye_array

        small, large = self._dimension(small), self._dimension(large)
        if small > large:
            raise PolyfoldError(
                f"faces of dimension {small} lie in none of dimension {large}: it must be the larger one"
            )
        found = eye_array(self.f_vector[large], dtype=bool, format="csc")
        for k in range(large, small, -1):
            found = (abs(self.boundary[k]).astype(bool) @ found).astype(bool)
        return found.tocsr()

    def cells(self, dim: int, face: int) -> Ids:
        """The cells that a face belongs to."""
        k = self._dimension(dim)
        face = one_of(face, self.f_vector[k], f"face of dimension {k}", "the complex")
        faces = np.array([face])
        for j in range(k + 1, self.dim + 1):
            faces = np.unique(self.boundary[j].tocsr()[faces].indices)
        return faces.astype(np.int64)

    def inner_points(self, dim: int, faces: Any = None) -> Array:
        """A point inside each face, in floats: the mean of its vertices, moved along its rays."""
        k = self._dimension(dim)
        ids = self.ids(k, faces)
        vertices = self.within(self.least, k)[:, ids].astype(np.float64)
        points: Array = (vertices.T @ self.points) / np.asarray(vertices.sum(axis=0))[:, None]
        if k > self.least and len(self.rays):
            rays = self.within(self.least + 1, k)[self.ray_face][:, ids].astype(np.float64)
            points += np.maximum(1.0, np.abs(points).max(axis=1, initial=0.0))[:, None] * (rays.T @ self.rays)
        return points

    def ids(self, dim: int, faces: Any = None) -> Ids:
        """Numbers of faces of one dimension as an array: None is all of them; flags choose."""
        count = self.f_vector[self._dimension(dim)]
        if faces is None:
            return np.arange(count)
        ids = np.atleast_1d(np.asarray(faces))
        if ids.dtype == bool and ids.shape == (count,):
            return np.flatnonzero(ids)
        if ids.size == 0:
            return np.zeros(0, dtype=np.int64)
        if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
            raise ShapeError(f"faces must be whole numbers; this is an array of {ids.dtype} of shape {ids.shape}")
        if ids.min() < 0 or ids.max() >= count:
            bad = int(ids[(ids < 0) | (ids >= count)][0])
            raise IndexError(f"there is no face {bad} of dimension {dim}: there are {count}")
        return ids.astype(np.int64)

    # -- all of them

    @cached_property
    def original_cells(self) -> Ids:
        """The cell of `original` that each cell is a part of: itself, unless cells were cut for this complex."""
        if self.original is self.atlas:
            return self.atlas.ids()
        return self.original.index.find(pack(self.atlas.signs()[:, : self.original.gates]))

    def all(self) -> Subcomplex:
        """All faces, as a set to ask about."""
        return self._chosen(np.ones(count, dtype=bool) for count in self.f_vector)

    def bounded_part(self) -> Subcomplex:
        """The bounded faces; where every cell contains lines, those that are bounded but for these."""
        return self._chosen(flags.copy() for flags in self.bounded)

    def closure(self, dim: int, faces: Any) -> Subcomplex:
        """These faces of one dimension and all faces of theirs."""
        k = self._dimension(dim)
        chosen = [np.zeros(count, dtype=bool) for count in self.f_vector]
        chosen[k][self.ids(k, faces)] = True
        return self._chosen(closed(self, chosen))

    def skeleton(self, dim: int) -> Subcomplex:
        """All faces up to a dimension."""
        k = self._dimension(dim)
        return self._chosen(np.full(count, j <= k) for j, count in enumerate(self.f_vector))

    def on_wall(self, wall: int) -> Subcomplex:
        """The faces that a wall contains: where a gate is zero, which is a bent hyperplane, or a side of the domain."""
        return self._chosen(self.signs_of(k, wall) == 0 for k in range(self.dim + 1))

    def hasse(self) -> networkx.DiGraph:
        """The face poset: one node (dimension, number) per face, and an edge from every face to those that it bounds.

        Edges have the attribute `incidence`; a node's attribute `bounded` says whether the face is.
        """
        networkx = require("networkx", extra="graph", purpose="FaceComplex.hasse()")
        graph = networkx.DiGraph()
        for k, flags in enumerate(self.bounded):
            graph.add_nodes_from(((k, i), {"bounded": flag}) for i, flag in enumerate(flags.tolist()))
            entries = self.boundary[k].tocoo()
            graph.add_edges_from(
                ((k - 1, i), (k, j), {"incidence": sign})
                for i, j, sign in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
            )
        return graph

    def _chosen(self, flags: Iterator[Flags] | list[Flags]) -> Subcomplex:
        from polyfold.topology.subcomplex import Subcomplex

        return answered(Subcomplex(self, tuple(flags)), self.evidence)

    def _dimension(self, dim: int) -> int:
        if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or not 0 <= dim <= self.dim:
            raise PolyfoldError(f"there are no faces of dimension {dim!r}: it must be one of 0, ..., {self.dim}")
        return int(dim)


def closed(complex: FaceComplex, chosen: list[Flags]) -> list[Flags]:
    """These faces and all faces of theirs."""
    for k in range(complex.dim, 0, -1):
        below = abs(complex.boundary[k]) @ chosen[k].astype(np.int64) > 0
        chosen[k - 1] = chosen[k - 1] | below
    return chosen


@question("topology.faces")
def faces(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_faces: int = _MOST_FACES,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> FaceComplex:
    """All faces of all dimensions of a network's cells, with sign vectors, incidences and vertices.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_faces : int
        LimitError if there are more; they are counted first, which needs no room for them.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    FaceComplex
        The polyhedral complex behind the network.

    Examples
    --------
    >>> import polyfold as pf
    >>> quadrants = pf.unfold([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> faces = pf.topology.faces(quadrants)
    >>> faces.f_vector, faces.vertices.tolist(), faces.signs(0).tolist(), faces.cells(1, 0).size
    ((1, 4, 4), [[0.0, 0.0]], [[0, 0]], 2)
    """
    return listed(as_atlas(source, domain, threads=threads), max_faces)


def as_faces(source: Any, domain: DomainLike, threads: int | None = None) -> FaceComplex:
    """A face complex as it is, or that of a source."""
    if isinstance(source, FaceComplex):
        own_domain(source.original, domain)
        return source
    return faces(source, domain, threads=threads)


def listed(atlas: Atlas, max_faces: int = _MOST_FACES, original: Atlas | None = None) -> FaceComplex:
    """The same; `original` is the atlas that this one's cells are parts of."""
    if beyond_core(atlas.program, atlas.domain):
        raise LimitError(
            "the faces of lines and planes through networks as large as this one are counted (Atlas.f_vector), not "
            "listed"
        )
    count = sum(atlas.f_vector())
    if count > max_faces:
        raise LimitError(
            f"there are {count:,} faces, more than max_faces={max_faces:,}: choose a smaller domain, or allow more"
        )
    problem, clock = core_problem(atlas.program, atlas.domain, rounded=False), running()

    def list_them(wanted: Callable[[], bool]) -> dict[str, Any]:
        def go_on(cells: int) -> bool:
            clock.tell(cells, len(atlas), "cells")
            return wanted()

        return core.list_faces(problem, atlas.certificate.threads, go_on)

    try:
        found = apart_if_wanted(list_them)
    except core.TooLarge as error:
        raise LimitError(str(error)) from None
    whole = original or atlas
    return answered(_from_core(atlas, found, whole), weaker(evidence_of(whole), evidence_of(atlas)))


def _from_core(atlas: Atlas, found: dict[str, Any], original: Atlas) -> FaceComplex:
    """Faces by dimension, cells in the atlas's order."""
    d, gates, walls = atlas.dim, atlas.gates, atlas.gates + atlas.domain.rows
    start = found["start"]
    by_dimension = [slice(start[k], start[k + 1]) for k in range(d + 1)]
    words = (walls + 63) // 64
    contained = np.ascontiguousarray(found["names"][:, :words]).view(np.uint8)[:, : (walls + 7) // 8]
    on = np.ascontiguousarray(found["names"][:, words:]).view(np.uint8)[:, : (gates + 7) // 8]
    # Gates that vanish on a whole cell are off in its pattern, as they are in its name.
    place = atlas.index.find(np.ascontiguousarray(on[start[d] :]))
    order = np.arange(start[-1])
    order[start[d] + place] = np.arange(start[d], start[-1])
    contained, on, bounded = contained[order], on[order], found["bounded"].astype(bool)[order]
    least = len(found["lines"])
    rays = found["placed"] >= start[least + 1]
    points, errors = _divided(found, ~rays)
    ray_face = found["placed"][rays] - start[least + 1]
    return FaceComplex(
        atlas,
        tuple(contained[part] for part in by_dimension),
        tuple(on[part] for part in by_dimension),
        tuple(_boundary(found, k, order[by_dimension[k]]) for k in range(d + 1)),
        tuple(bounded[part] for part in by_dimension),
        points,
        ray_face if least + 1 < d else place[ray_face],
        found["coordinates"][rays, :d],
        found["lines"],
        errors,
        found["error"][rays],
        original,
    )


def _boundary(found: dict[str, Any], k: int, order: Ids) -> Sparse:
    """The boundaries of the faces of one dimension, in another order."""
    from scipy.sparse import csc_array

    tick()
    start, facet_start = found["start"], found["facet_start"]
    below = start[k - 1] if k else 0
    entries = slice(facet_start[start[k]], facet_start[start[k + 1]])
    stops = facet_start[start[k] : start[k + 1] + 1] - entries.start
    shape = (start[k] - below, start[k + 1] - start[k])
    return csc_array((found["incidence"][entries], found["facet"][entries] - below, stops), shape=shape)[
        :, order - start[k]
    ]


def _divided(found: dict[str, Any], rows: Flags) -> tuple[Array, Array]:
    """Points from homogeneous coordinates, and how far their coordinates can be off before they are rounded.

    A point beyond float64 is infinite, and nothing is known of its smaller coordinates.
    """
    homogeneous, error = found["coordinates"][rows], found["error"][rows]
    last = homogeneous[:, -1]
    # (x + e) / (t + f) with |e| and |f| up to the error.
    room = last - error
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        points = np.where(homogeneous[:, :-1] == 0, 0.0, homogeneous[:, :-1] / last[:, None])
        errors = np.where(room > 0, (1 + np.abs(points).max(axis=1, initial=0.0)) * error / room, np.inf)
    return points, errors
