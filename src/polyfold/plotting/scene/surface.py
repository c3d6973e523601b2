"""The graph of an output over the plane: every cell lifted to the output's values, in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.spread import middles
from polyfold.plotting.geometry.surface import heights, lifted, triangles
from polyfold.plotting.geometry.view import view_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.paint import paint
from polyfold.plotting.scene.shapes import Axes, Mesh, Part, Points, Scene
from polyfold.stats.classes import Classes


def surface_scene(
    atlas: Atlas | Classes,
    *,
    output: int = 0,
    colour: Any = "output",
    view: Any = None,
    X: Any = None,
    edges: bool = True,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The surface z = output: flat pieces, one per cell, coloured by a column; data lie on it."""
    painted = paint(atlas, colour, output, output_names)
    drawn, name = painted.drawn, painted.output_names[painted.output]
    features = plane.input_names(drawn, feature_names, X)
    rows = plane.rows_of_data(X, features)
    window = view_of(drawn, view, rows)
    shown = polygons(drawn, window)
    points = np.column_stack([shown.points, heights(drawn, shown, painted.output)])
    said = plane.texts(drawn, shown, features, painted.output_names, rows if painted.classes is None else None)
    colouring = painted.colouring(shown.cells, middles(shown.start, shown.points))
    corners, piece = triangles(shown.start)
    outlined, left_out = plane.outlined(edges, len(shown))
    parts: list[Part] = [Mesh(points, corners, piece, piece, None, outlined, colouring, said)]
    if rows is not None:
        parts.append(Points(lifted(drawn, rows, window, painted.output), role="marked", name="data"))
    words = f"{name} over {how_many(len(painted.original), 'cell')}" if title is None else title
    axes = Axes((*features, name))
    notes = plane.notes(drawn, window, shown, thing=painted.thing)
    return Scene(tuple(parts), axes, words, (*notes, *left_out))
