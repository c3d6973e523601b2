"""Cells in space: polyhedra that can be pulled apart and cut open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.analyses.pictures.columns import column
from polyfold.analyses.pictures.polyhedra import half_space, polyhedra
from polyfold.analyses.pictures.view import view_of
from polyfold.analyses.statistics.classes import Classes, classes
from polyfold.analyses.words import names_for
from polyfold.atlas.atlas import Atlas
from polyfold.errors import PolyfoldError, how_many
from polyfold.views.scene import plane
from polyfold.views.scene.cells import class_names
from polyfold.views.scene.shapes import Axes, Colouring, Mesh, Part, Scene, Segments


def solids_scene(
    atlas: Atlas,
    *,
    colour: Any = "output",
    output: int = 0,
    explode: float = 0.0,
    cut: Any = None,
    cells: Any = None,
    view: Any = None,
    data: Any = None,
    labels: Any = None,
    edges: bool = True,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The cells of a three-dimensional domain, coloured by a column.

    `explode` moves cells away from the middle, by this multiple of their distance from it. `cut` opens the picture: of
    (axis, value) is kept what has at most this coordinate, of (a, b) with three numbers a what has a . u <= b; the cut
    shows the cells that lie in the plane. `view` is (x0, x1, y0, y1, z0, z1).
    """
    apart = _factor(explode)
    names = names_for(outputs, atlas.outputs, "y", "output")
    rows = plane.rows_of_data(data, atlas.dim)
    window = view_of(atlas, view, rows, dim=3)
    found: Classes | None = classes(atlas) if isinstance(colour, str) and colour == "class" else None
    drawn = atlas if found is None else found.atlas
    asked = cells if found is None or cells is None else np.flatnonzero(np.isin(found.cell, atlas.ids(cells)))
    shown = polyhedra(drawn, window, asked, cut=None if cut is None else half_space(cut))
    if found is None:
        by = column(atlas, colour, shown.cells, shown.centres, output, str(output))
        colouring = Colouring(by.values, by.label, by.names)
    else:
        colouring = Colouring(found.label[shown.cells].astype(np.float64), "class", class_names(atlas, outputs))
    said = plane.texts(drawn, shown, inputs, names, rows if found is None else None)
    moved = shown.exploded(apart)
    parts: list[Part] = [Mesh(moved.points, *moved.triangles, colouring, said)]
    if edges:
        parts.append(Segments(moved.edges[0], role="edge"))
    notes = plane.notes(drawn, window, shown)
    if apart:
        notes.append("Cells are pulled apart: where they are drawn is not where they lie.")
        if rows is not None:
            raise PolyfoldError("data cannot be shown among cells that are pulled apart: leave out explode or data")
    parts += plane.data_points(rows, labels, class_names(atlas, outputs))
    words = f"{how_many(len(atlas), 'cell')}, coloured by {colouring.label}" if title is None else title
    return Scene(tuple(parts), Axes(plane.input_names(atlas, inputs), equal=True), words, tuple(notes))


def _factor(explode: Any) -> float:
    try:
        factor = float(explode)
    except (TypeError, ValueError):
        factor = np.nan
    if not 0 <= factor < np.inf:
        raise PolyfoldError(f"explode={explode!r} must be a number from 0 on: 0 leaves cells where they are")
    return factor
