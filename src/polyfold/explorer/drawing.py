"""What the page draws, as arrays: the parts of cells in the view with what they can be coloured by, walls, classes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import facet_generators
from polyfold.atlas.layers_of_facets import layer_of_facets, layer_of_gates
from polyfold.plotting.geometry.cell_columns import cell_columns
from polyfold.plotting.geometry.intervals import intervals
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.segments import facet_segments, inner_facets, segments
from polyfold.plotting.geometry.view import View
from polyfold.stats.classes import Classes
from polyfold.stats.decision_boundary import decision_boundary

Arrays = dict[str, npt.NDArray[Any]]


def view_in(lo: tuple[float, ...], hi: tuple[float, ...]) -> View:
    """The view of a job; a line's is given a second coordinate that nobody looks at."""
    return View(np.array([*lo, 0.0][:2]), np.array([*hi, 1.0][:2]))


def shapes(atlas: Atlas, view: View, cells: Any = None) -> tuple[Ids, Ids, Array, Array]:
    """The cells that reach into the view, where the points of each start, the points, and areas or lengths.

    In two dimensions the points are corners; on a line they are the two ends, of one coordinate.
    """
    if atlas.dim == 2:
        seen = polygons(atlas, view, cells)
        return seen.cells, seen.start, seen.points, seen.areas
    parts = intervals(atlas, view, cells)
    order = np.argsort(parts.cells, kind="stable")
    ends = parts.ends[order]
    return parts.cells[order], 2 * np.arange(len(parts) + 1), ends.reshape(-1, 1), ends[:, 1] - ends[:, 0]


def draw_cells(atlas: Atlas, view: View, cells: Any = None) -> Arrays:
    """One row for each cell that reaches into the view."""
    seen, start, points, areas = shapes(atlas, view, cells)
    columns = cell_columns(atlas, seen)
    found: Arrays = {
        "cell": seen,
        "start": start,
        "points": points,
        "area": areas,
        "centre": columns.centres,
        "values": columns.values,
        "slopes": columns.slopes,
        "class": columns.label,
        "layer": columns.layer,
        "facets": columns.facets,
    }
    if atlas.dim == 1:
        A, c = atlas.maps(seen, over="parameters")
        ends = points.reshape(-1, 1, 2)
        found["ends"] = A * ends + c[:, :, None]
    return found


def keys_of(atlas: Atlas, cells: Ids) -> list[str]:
    """Names of cells that stay the same while their numbers change: short digests of their patterns."""
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in atlas.patterns[cells]]


def draw_walls(atlas: Atlas, view: View) -> tuple[tuple[str, ...], Arrays]:
    """The names of layers; the walls between cells (on a line: the points) with the numbers of their layers."""
    names, layer = layer_of_gates(atlas)
    facets = inner_facets(atlas)
    if atlas.dim == 2:
        seen, ends = facet_segments(atlas, facets, view)
        ends = ends.reshape(-1, 4)
    else:
        start, rows, generators = facet_generators(atlas, facets)
        ends = generators.points[rows[start[:-1]]]
        seen = np.flatnonzero((ends[:, 0] >= view.lo[0]) & (ends[:, 0] <= view.hi[0]))
        ends = ends[seen]
    return names, {"layer": layer_of_facets(atlas, layer)[facets[seen]], "ends": ends}


def draw_classes(found: Classes, view: View) -> Arrays:
    """The cells cut where outputs tie, so that each part is of one class; and the decision boundary."""
    parts = found.atlas
    seen, start, points, _ = shapes(parts, view)
    boundary = decision_boundary(found)
    if parts.dim == 2:
        piece, ends = segments(boundary.start, boundary.points, boundary.kind, view)
        ends = ends.reshape(-1, 4)
    else:
        inside = (boundary.points[:, 0] >= view.lo[0]) & (boundary.points[:, 0] <= view.hi[0])
        ends, piece = boundary.points[inside], np.flatnonzero(inside)
    return {
        "cell": found.cell[seen],
        "start": start,
        "points": points,
        "class": found.label[seen],
        "boundary": ends,
        "pair": boundary.pair[piece],
    }


def save_arrays(path: Path, arrays: Arrays) -> None:
    """No pickle: only arrays of numbers."""
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_arrays(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
