"""Pictures of dual spaces as SVG: cells and decision boundary beside the points (w, b), and torn facets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.geometry.generators import facet_generators
from polyfold.maps.dual_space.jumps import FacetJumps
from polyfold.maps.dual_space.result import DualSpace
from polyfold.plotting.render.svg_panels import draw_panels
from polyfold.plotting.scene.shapes import Axes, Colouring, Points, Scene, Segments
from polyfold.stats.decision_boundary import decision_boundary

_SQUARE = Axes(("x", "y"), ((-1.1, 1.1), (-1.1, 1.1)), equal=True)
_SIDES = ((0, 1, "w_1", "w_2"), (0, 2, "w_1", "b"))
# Dots nearer to each other than this part of the picture's side look like one.
_SEEN = 1 / 80


def draw_duals(duals: Mapping[str, DualSpace], data: Array) -> str:
    """One row per network: its cells and decision boundary, and its points from two sides."""
    rows = []
    for name, dual in duals.items():
        atlas = dual.atlas
        walls = _ends(dual, np.flatnonzero(atlas.neighbour > atlas.facet_owner))
        parts = (
            Segments(walls, role="earlier", name="walls"),
            Segments(decision_boundary(atlas).points.reshape(-1, 2, 2), role="boundary", name="decision boundary"),
            Points(data, role="marked", name="XOR inputs"),
        )
        chosen = np.unique(dual.point_of_cell[atlas.locate(data)])
        groups = {
            "cells without a grid point": dual.points[dual.samples == 0],
            "cells with one": dual.points[dual.samples > 0],
            "cells of XOR inputs": dual.points[chosen],
        }
        rows.append([Scene(parts, _SQUARE, title=f"{name}: cells, decision boundary"), *_from_two_sides(groups)])
    return draw_panels(rows, title="Cells and dual points of XOR networks")


def draw_transfers(transfers: Sequence[tuple[str, DualSpace, DualSpace, FacetJumps, Array]]) -> str:
    """One row per transfer: jumps at the source's facets, and the points from two sides."""
    rows = []
    for name, source, target, jumps, pieces in transfers:
        torn = Segments(_ends(source, jumps.facet), Colouring(jumps.largest, "jump at the facet"), role="wall")
        groups = {"the target's points": target.points, "transferred ones": pieces}
        title = f"{name}: jumps, the largest is {jumps.max:.3f}"
        rows.append([Scene((torn,), _SQUARE, title=title), *_from_two_sides(groups)])
    return draw_panels(rows, title="Dual points carried from one XOR network to another")


def _from_two_sides(groups: Mapping[str, Array]) -> list[Scene]:
    scenes = []
    for across, up, first, second in _SIDES:
        flat = {name: points[:, [across, up]] for name, points in groups.items()}
        everything = np.concatenate(list(flat.values()))
        apart = _SEEN * np.where(np.ptp(everything, axis=0) > 0, np.ptp(everything, axis=0), 1.0)
        drawn = [_told_apart(points, apart) for points in flat.values()]
        numbers = np.repeat(np.arange(len(drawn), dtype=np.float64), [len(points) for points in drawn])
        dots = Points(np.concatenate(drawn), Colouring(numbers, "", tuple(flat)))
        scenes.append(Scene((dots,), Axes((first, second)), title=f"{first} across, {second} up"))
    return scenes


def _told_apart(points: Array, apart: Array) -> Array:
    """One of each group of points that the eye takes for one."""
    _, first = np.unique(np.floor(points / apart), axis=0, return_index=True)
    return points[np.sort(first)]


def _ends(dual: DualSpace, facet: Ids) -> Array:
    """Facets as segments (n, 2, 2)."""
    _, rows, generators = facet_generators(dual.atlas, facet)
    ends: Array = generators.points[rows].reshape(-1, 2, 2)
    return ends
