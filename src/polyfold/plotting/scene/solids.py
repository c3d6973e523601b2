"""Cells in space: polyhedra that can be pulled apart and cut open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.errors import PolyfoldError, how_many
from polyfold.plotting.geometry.polyhedra import half_space, polyhedra
from polyfold.plotting.geometry.view import view_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.paint import paint
from polyfold.plotting.scene.shapes import Axes, Mesh, Part, Scene
from polyfold.stats.classes import Classes


def solids_scene(
    atlas: Atlas | Classes | Regions,
    *,
    colour: Any = "output",
    output: int = 0,
    explode: float = 0.0,
    cut: Any = None,
    cells: Any = None,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    edges: bool = True,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The cells of a three-dimensional domain, coloured by a column.

    `explode` moves cells away from the middle, by this multiple of their distance from it. `cut` opens the picture: of
    (axis, value) is kept what has at most this coordinate, of (a, b) with three numbers a what has a . u <= b; the cut
    shows the cells that lie in the plane. `view` is (x0, x1, y0, y1, z0, z1).
    """
    apart = _factor(explode)
    painted = paint(atlas, colour, output, output_names)
    drawn, original = painted.drawn, painted.original
    features = plane.input_names(drawn, feature_names, X)
    rows = plane.rows_of_data(X, features)
    if apart and rows is not None:
        raise PolyfoldError("points cannot be shown among cells that are pulled apart: leave out explode or X")
    window = view_of(drawn, view, rows, dim=3)
    asked = drawn.ids(painted.parts_of(cells))
    shown = polyhedra(drawn, window, asked, cut=None if cut is None else half_space(cut))
    colouring = painted.colouring(shown.cells, shown.centres)
    said = plane.texts(drawn, shown, features, painted.output_names, rows if painted.classes is None else None)
    moved = shown.exploded(apart)
    corners, face = moved.triangles
    outlined, left_out = plane.outlined(edges, len(moved.owner))
    covered = None if apart else shown.covered(drawn)[face]
    parts: list[Part] = [Mesh(moved.points, corners, moved.owner[face], face, covered, outlined, colouring, said)]
    where = "outside the view" if cut is None else "outside the view or behind the cut"
    notes = plane.notes(drawn, window, shown, asked=len(asked), where=where, thing=painted.thing)
    if apart:
        notes.append("Cells are pulled apart: where they are drawn is not where they lie.")
    parts += plane.data_points(rows, y, painted.class_names)
    words = f"{how_many(len(original), 'cell')}, coloured by {colouring.label}" if title is None else title
    return Scene(tuple(parts), Axes(features, equal=True), words, (*notes, *left_out))


def _factor(explode: Any) -> float:
    try:
        factor = float(explode)
    except (TypeError, ValueError):
        factor = np.nan
    if not 0 <= factor < np.inf:
        raise PolyfoldError(f"explode={explode!r} must be a number from 0 on: 0 leaves cells where they are")
    return factor
