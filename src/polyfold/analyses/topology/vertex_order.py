"""An output at the vertices of a complex: which values are larger than which, and which are the same, decided.

Floats with error bounds tell most values apart. Those whose bounds overlap are computed in rationals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.analyses.bounded_maps import bounded_maps
from polyfold.analyses.topology.exact_points import ExactPoints
from polyfold.analyses.topology.face_complex import FaceComplex
from polyfold.atlas.maps import in_chunks
from polyfold.errors import DomainError
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY, relative

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VertexOrder:
    """Vertex i has the value `value[i]`, up to rounding; `level[i]` is its place among all distinct values, exactly.

    Along ray j the output falls (-1), rises (1) or stays the same (0): `slope[j]`, exactly.
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
    values, errors = _values(faces, output, np.arange(len(cells)), cells)
    value, level = _ordered(values, errors, lambda i: exact.value(i, int(cells[i]), output))
    slope = np.zeros(len(faces.rays), dtype=np.int64)
    if len(faces.rays):
        beside = _first_cells(faces, 1)[faces.ray_face]
        for j, (face, cell) in enumerate(zip(faces.ray_face.tolist(), beside.tolist(), strict=True)):
            slope[j] = exact.slope(face, faces.rays[j].tolist(), cell, output)
    return VertexOrder(value, level, slope)


def _first_cells(faces: FaceComplex, dim: int) -> Ids:
    """A cell for every face of one dimension."""
    inside = faces.within(dim, faces.dim).tocsr()
    first: Ids = inside.indices[inside.indptr[:-1]].astype(np.int64)
    return first


def _values(faces: FaceComplex, output: int, vertices: Ids, cells: Ids) -> tuple[Array, Array]:
    """Values in floats, and how far they can be off."""
    atlas = faces.atlas
    points = np.column_stack([faces.points[vertices], np.ones(len(vertices))])
    doubt = np.column_stack([np.repeat(faces.point_errors[vertices, None], atlas.dim, axis=1), np.zeros(len(vertices))])
    # The point was divided by its last coordinate, which rounds once.
    doubt += np.abs(points) * relative(4)
    values, errors = np.empty(len(vertices)), np.empty(len(vertices))

    def fill(part: slice) -> None:
        maps = bounded_maps(atlas, cells[part])
        A, off = maps.values[:, output], maps.errors[:, output]
        sizes = np.abs(points[part])
        values[part] = np.einsum("nk,nk->n", A, points[part])
        bound = np.einsum("nk,nk->n", np.abs(A), sizes) * relative(atlas.dim + 2)
        bound += np.einsum("nk,nk->n", off, sizes + doubt[part]) + np.einsum("nk,nk->n", np.abs(A), doubt[part])
        errors[part] = bound * (1 + relative(4 * atlas.dim + 16)) + TINY

    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(vertices), 12 * atlas.outputs * (atlas.dim + 1) + atlas.gates, fill)
    known = np.isfinite(values) & np.isfinite(errors)
    return np.where(known, values, 0.0), np.where(known, errors, np.inf)


def _ordered(values: Array, errors: Array, exact: Callable[[int], fmpq]) -> tuple[Array, Ids]:
    """The values and their places among the distinct ones; `exact` computes what floats leave open."""
    low = values - errors
    order = np.argsort(low, kind="stable")
    reach = np.maximum.accumulate((values + errors)[order])
    # A new group begins where everything before ends below.
    begins = np.concatenate([[True], low[order][1:] > reach[:-1]])
    start = np.append(np.flatnonzero(begins), len(order))
    value, level = values.copy(), np.empty(len(values), dtype=np.int64)
    levels = 0
    for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        members = order[first:last].tolist()
        if len(members) == 1:
            level[members[0]] = levels
            levels += 1
            continue
        known = {i: exact(i) for i in members}
        places = {number: place for place, number in enumerate(sorted(set(known.values())))}
        for i, number in known.items():
            value[i], level[i] = as_float(number), levels + places[number]
        levels += len(places)
    return value, level
