"""The graph of an output over the plane: every cell lifted to the output's values, in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.analyses.pictures.columns import column
from polyfold.analyses.pictures.polygons import polygons
from polyfold.analyses.pictures.spread import middles
from polyfold.analyses.pictures.surface import heights, triangles
from polyfold.analyses.pictures.view import view_of
from polyfold.analyses.statistics.classes import Classes, classes
from polyfold.analyses.words import names_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.numbers import one_of
from polyfold.errors import how_many
from polyfold.views.scene import plane
from polyfold.views.scene.cells import class_names
from polyfold.views.scene.shapes import Axes, Colouring, Mesh, Part, Points, Scene, Segments


def surface_scene(
    atlas: Atlas,
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
    output = one_of(output, atlas.outputs, "output", "the network")
    names = names_for(outputs, atlas.outputs, "y", "output")
    rows = plane.rows_of_data(data, atlas.dim)
    window = view_of(atlas, view, rows)
    found: Classes | None = classes(atlas) if isinstance(colour, str) and colour == "class" else None
    drawn = atlas if found is None else found.atlas
    shown = polygons(drawn, window)
    if found is None:
        by = column(atlas, colour, shown.cells, middles(shown.start, shown.points), output, names[output])
        colouring = Colouring(by.values, by.label, by.names)
    else:
        colouring = Colouring(found.label[shown.cells].astype(np.float64), "class", class_names(atlas, outputs))
    points = np.column_stack([shown.points, heights(drawn, shown, output)])
    corners, piece = triangles(shown.start)
    said = plane.texts(drawn, shown, inputs, names, rows if found is None else None)
    parts: list[Part] = [Mesh(points, corners, piece, colouring, said)]
    if edges:
        following = np.arange(1, len(points) + 1)
        following[shown.start[1:] - 1] = shown.start[:-1]
        parts.append(Segments(np.stack([points, points[following]], axis=1), role="edge"))
    if rows is not None:
        inside = rows[((rows >= window.lo) & (rows <= window.hi)).all(axis=1)]
        cell = plane.located(atlas, inside)
        inside, cell = inside[cell >= 0], cell[cell >= 0]
        A, c = atlas.maps(cell, over="parameters")
        height = np.einsum("nd,nd->n", A[:, output], inside) + c[:, output]
        parts.append(Points(np.column_stack([inside, height]), role="data", name="data"))
    axes = Axes((*plane.input_names(atlas, inputs), names[output]))
    words = f"{names[output]} over {how_many(len(atlas), 'cell')}" if title is None else title
    return Scene(tuple(parts), axes, words, tuple(plane.notes(drawn, window, shown)))
