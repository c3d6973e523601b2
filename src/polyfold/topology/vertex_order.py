"""An output at the vertices of a complex: which end of an edge is higher, or whether both are the same, decided.

Floats with error bounds tell most ends of edges apart. Where the bounds of both overlap, both are computed in
rationals. An affine function on a polytope is largest where all edges lead down, so the order along edges is all that a
face needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import running, tick
from polyfold._base.types import Array, Ids
from polyfold.atlas.geometry.cell_maps import bounded_maps
from polyfold.errors import DomainError
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY, relative
from polyfold.topology.exact_points import ExactPoints
from polyfold.topology.face_complex import FaceComplex


@dataclass(frozen=True, eq=False)
class VertexOrder:
    """Vertex i has the value `value[i]`, up to rounding.

    Of two ends of an edge the higher one has the larger `level`, and they have the same if neither is higher: exactly.
    So on every face the output is largest at the vertices with the largest level. Along ray j the output falls (-1),
    rises (1) or stays the same (0): `slope[j]`, exactly.
    """

    value: Array
    level: Ids
    slope: Ids


def vertex_order(faces: FaceComplex, output: int, question: str) -> VertexOrder:
    """The order of an output's values at all vertices."""
    if faces.least:
        raise DomainError(
            f"{question} needs vertices, and the cells have none: nothing bends along {faces.least} of {faces.dim} "
            "dimensions; unfold on a bounded domain, say pf.box(lo, hi)"
        )
    exact = ExactPoints(faces)
    cells = _first_cells(faces, 0)
    values, errors = _values(faces, output, cells, faces.points, faces.point_errors, 1.0)
    value, level = _ordered(values, errors, ends_of_edges(faces), lambda i: exact.value(i, int(cells[i]), output))
    slope = np.zeros(0, dtype=np.int64)
    if len(faces.rays):
        cells = _first_cells(faces, 1)[faces.ray_face]
        slopes, errors = _values(faces, output, cells, faces.rays, faces.ray_errors, 0.0)
        slope = np.sign(slopes).astype(np.int64)
        for j in np.flatnonzero(np.abs(slopes) <= errors).tolist():
            tick()
            slope[j] = exact.slope(int(faces.ray_face[j]), faces.rays[j].tolist(), int(cells[j]), output)
    return VertexOrder(value, level, slope)


def ends_of_edges(faces: FaceComplex) -> tuple[Ids, Ids]:
    """Both ends of all bounded edges."""
    ends = faces.boundary[1].tocsc()[:, np.flatnonzero(faces.bounded[1])].indices.reshape(-1, 2).astype(np.int64)
    return ends[:, 0], ends[:, 1]


def _first_cells(faces: FaceComplex, dim: int) -> Ids:
    """A cell for every face of one dimension."""
    inside = faces.within(dim, faces.dim).tocsr()
    first: Ids = inside.indices[inside.indptr[:-1]].astype(np.int64)
    return first


def _values(
    faces: FaceComplex, output: int, cells: Ids, places: Array, errors: Array, last: float
) -> tuple[Array, Array]:
    """An output at points of cells (last = 1) or its slope along directions (last = 0), and how far that can be off."""
    atlas = faces.atlas
    points = np.column_stack([places, np.full(len(places), last)])
    doubts = np.column_stack([np.repeat(errors[:, None], atlas.dim, axis=1), np.zeros(len(places))])
    # A point was divided by its last homogeneous coordinate, which rounds once.
    doubts += np.abs(points) * relative(4)
    values, bounds = np.empty(len(places)), np.empty(len(places))

    def fill(part: slice) -> None:
        maps = bounded_maps(atlas, cells[part])
        A, off = maps.values[:, output], maps.errors[:, output]
        sizes, doubt = np.abs(points[part]), doubts[part]
        values[part] = np.einsum("nk,nk->n", A, points[part])
        bound = np.einsum("nk,nk->n", np.abs(A), sizes) * relative(atlas.dim + 2)
        bound += np.einsum("nk,nk->n", off, sizes + doubt) + np.einsum("nk,nk->n", np.abs(A), doubt)
        bounds[part] = bound * (1 + relative(4 * atlas.dim + 16)) + TINY

    widest = max([atlas.program.input_dim, *atlas.program.steps.widths])
    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(places), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill)
    known = np.isfinite(values) & np.isfinite(bounds)
    return np.where(known, values, 0.0), np.where(known, bounds, np.inf)


def _ordered(values: Array, errors: Array, edges: tuple[Ids, Ids], exact: Callable[[int], fmpq]) -> tuple[Array, Ids]:
    """The values, and places that are in the right order along every edge; `exact` computes what floats leave open."""
    a, b = edges
    open_edges = np.abs(values[a] - values[b]) <= (errors[a] + errors[b]) * (1 + relative(8))
    unknown = np.unique(np.concatenate([a[open_edges], b[open_edges]]))
    value = values.copy()
    finer = np.zeros(len(values), dtype=np.int64)
    if len(unknown):
        known, clock = list[fmpq](), running()
        for i in unknown.tolist():
            clock.check()
            clock.tell(len(known), len(unknown), "vertices compared exactly")
            known.append(exact(i))
        places = {number: place for place, number in enumerate(sorted(set(known)))}
        value[unknown] = [as_float(number) for number in known]
        finer[unknown] = [1 + places[number] for number in known]
    # Where floats are the same: exact ones by their numbers, all others apart. A value that was not computed exactly is
    # told by its bound from those at the other ends of its edges, whichever place it gets among equals.
    order = np.lexsort((finer, value))
    differs = (
        (value[order][1:] != value[order][:-1]) | (finer[order][1:] != finer[order][:-1]) | (finer[order][1:] == 0)
    )
    level = np.empty(len(values), dtype=np.int64)
    level[order] = np.concatenate([[0], np.cumsum(differs)])
    return value, level
