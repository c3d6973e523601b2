"""The graph of an output over the plane: every cell lifted to the output's values, in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.analyses.pictures.polygons import polygons
from polyfold.analyses.pictures.spread import middles
from polyfold.analyses.pictures.surface import heights, lifted, triangles
from polyfold.analyses.pictures.view import view_of
from polyfold.analyses.statistics.classes import Classes
from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many
from polyfold.views.scene import plane
from polyfold.views.scene.paint import paint
from polyfold.views.scene.shapes import Axes, Mesh, Part, Points, Scene


def surface_scene(
    atlas: Atlas | Classes,
    *,
    output: int = 0,
    colour: Any = "output",
    view: Any = None,
    data: Any = None,
    edges: bool = True,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The surface z = output: flat pieces, one a cell, coloured by a column; data lie on it."""
    painted = paint(atlas, colour, output, outputs)
    drawn, name = painted.drawn, painted.output_names[painted.output]
    rows = plane.rows_of_data(data, drawn.dim)
    window = view_of(drawn, view, rows)
    shown = polygons(drawn, window)
    points = np.column_stack([shown.points, heights(drawn, shown, painted.output)])
    said = plane.texts(drawn, shown, inputs, painted.output_names, rows if painted.classes is None else None)
    colouring = painted.colouring(shown.cells, middles(shown.start, shown.points))
    corners, piece = triangles(shown.start)
    parts: list[Part] = [Mesh(points, corners, piece, piece, None, edges, colouring, said)]
    if rows is not None:
        parts.append(Points(lifted(drawn, rows, window, painted.output), role="marked", name="data"))
    words = f"{name} over {how_many(len(painted.original), 'cell')}" if title is None else title
    axes = Axes((*plane.input_names(drawn, inputs), name))
    return Scene(tuple(parts), axes, words, tuple(plane.notes(drawn, window, shown, thing=painted.thing)))
