"""What the page draws, as arrays: the parts of cells in the view with what they can be coloured by, walls, classes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.analyses.pictures.cell_columns import cell_columns
from polyfold.analyses.pictures.intervals import intervals
from polyfold.analyses.pictures.polygons import Polygons, polygons
from polyfold.analyses.pictures.view import View
from polyfold.analyses.pictures.wall_segments import segments_in_view, wall_points, wall_segments
from polyfold.analyses.statistics.classes import Classes
from polyfold.analyses.statistics.decision_boundary import decision_boundary
from polyfold.atlas.atlas import Atlas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]


def view_in(lo: tuple[float, ...], hi: tuple[float, ...]) -> View:
    """The view of a job; a line's is given a second coordinate that nobody looks at."""
    return View(np.array([*lo, 0.0][:2]), np.array([*hi, 1.0][:2]))


def shapes(atlas: Atlas, view: View, cells: Any = None) -> Polygons:
    """The parts of cells in the view: polygons, or on a line intervals, which have two points of one coordinate."""
    if atlas.dim == 2:
        return polygons(atlas, view, cells)
    return intervals(atlas, float(view.lo[0]), float(view.hi[0]), cells)


def draw_cells(atlas: Atlas, view: View, cells: Any = None) -> Arrays:
    """One row for each cell that reaches into the view."""
    seen = shapes(atlas, view, cells)
    columns = cell_columns(atlas, seen.cells)
    found: Arrays = {
        "cell": seen.cells,
        "start": seen.start,
        "points": seen.points,
        "area": seen.areas if atlas.dim == 2 else seen.points[1::2, 0] - seen.points[::2, 0],
        "centre": columns.centres,
        "values": columns.values,
        "slopes": columns.slopes,
        "class": columns.label,
        "layer": columns.layer,
        "facets": columns.facets,
    }
    if atlas.dim == 1:
        A, c = atlas.maps(seen.cells, over="parameters")
        ends = seen.points.reshape(-1, 1, 2)
        found["ends"] = A * ends + c[:, :, None]
    return found


def keys_of(atlas: Atlas, cells: Ids) -> list[str]:
    """Names of cells that stay the same while their numbers change: short digests of their patterns."""
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in atlas.patterns[cells]]


def draw_walls(atlas: Atlas, view: View) -> tuple[tuple[str, ...], Arrays]:
    """The names of layers; the walls between cells (on a line: the points) with the numbers of their layers."""
    if atlas.dim == 2:
        found = wall_segments(atlas, view)
        return found.layers, {"layer": found.layer, "ends": found.ends.reshape(-1, 4)}
    points = wall_points(atlas, float(view.lo[0]), float(view.hi[0]))
    return points.layers, {"layer": points.layer, "ends": points.ends}


def draw_classes(found: Classes, view: View) -> Arrays:
    """The cells cut where outputs tie, so that each part is of one class; and the decision boundary."""
    parts = found.atlas
    seen = shapes(parts, view)
    boundary = decision_boundary(found)
    if parts.dim == 2:
        ends, piece = segments_in_view(boundary.start, boundary.points, boundary.kind, view)
        ends = ends.reshape(-1, 4)
    else:
        inside = (boundary.points[:, 0] >= view.lo[0]) & (boundary.points[:, 0] <= view.hi[0])
        ends, piece = boundary.points[inside], np.flatnonzero(inside)
    return {
        "cell": found.cell[seen.cells],
        "start": seen.start,
        "points": seen.points,
        "class": found.label[seen.cells],
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
