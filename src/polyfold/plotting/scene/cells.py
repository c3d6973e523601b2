"""Cells, regions, classes, boundaries and boxes in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold._base.inputs import one_output
from polyfold._base.words import names_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.engine.regions import regions
from polyfold.errors import PolyfoldError, how_many
from polyfold.plotting.geometry.columns import Column, column
from polyfold.plotting.geometry.map_colours import map_colours
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.segments import segments
from polyfold.plotting.geometry.spread import middles
from polyfold.plotting.geometry.view import View, view_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.shapes import Colouring, Part, Polygons, Scene, Segments
from polyfold.stats.boxes.boxes import Boxes
from polyfold.stats.classes import Classes, classes
from polyfold.stats.decision_boundary import DecisionBoundary, decision_boundary


def cells_scene(
    atlas: Atlas,
    *,
    colour: Any = "output",
    output: int = 0,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    boundary: bool | DecisionBoundary = False,
    boxes: Boxes | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The cells of a two-dimensional domain in a view, coloured by a column, with data, boundary and boxes on top."""
    if isinstance(colour, str) and colour == "class":
        found = boundary.classes if isinstance(boundary, DecisionBoundary) else classes(atlas)
        return classes_scene(
            found, view=view, X=X, y=y, boxes=boxes, feature_names=feature_names, output_names=output_names, title=title
        )
    if isinstance(colour, str) and colour == "region":
        return regions_scene(
            regions(atlas),
            view=view,
            X=X,
            y=y,
            boxes=boxes,
            feature_names=feature_names,
            output_names=output_names,
            title=title,
        )
    return _filled(_Given(atlas, view, X, y, boundary, boxes, feature_names, output_names, title), colour, output)


class _Given:
    """What all scenes of cells are asked for, looked at once."""

    def __init__(
        self,
        atlas: Atlas,
        view: Any,
        X: Any,
        y: Any,
        boundary: bool | DecisionBoundary,
        boxes: Boxes | None,
        feature_names: Sequence[str] | None,
        output_names: Sequence[str] | None,
        title: str | None,
    ) -> None:
        self.atlas, self.boundary, self.boxes, self.title = atlas, boundary, boxes, title
        self.feature_names = plane.input_names(atlas, feature_names, X)
        self.data = plane.rows_of_data(X, self.feature_names)
        self.view: View = view_of(atlas, view, self.data)
        self.outputs = names_for(output_names, atlas.outputs, "y", "output")
        self.points = plane.data_points(self.data, y, class_names(atlas, output_names))

    def on_top(self) -> tuple[Part, ...]:
        """What is drawn over the cells: boundary, boxes, data."""
        found: list[Part] = []
        if self.boundary is not False:
            drawn = self.boundary if isinstance(self.boundary, DecisionBoundary) else decision_boundary(self.atlas)
            found.append(boundary_segments(drawn, self.view))
        if self.boxes is not None:
            found.append(box_segments(self.boxes, self.view))
        return (*found, *self.points)

    def scene(self, parts: tuple[Part, ...], title: str, notes: Sequence[str]) -> Scene:
        axes = plane.axes_of(self.atlas, self.view, self.feature_names)
        return Scene(parts, axes, title if self.title is None else self.title, tuple(notes))


def _filled(given: _Given, colour: Any, output: int) -> Scene:
    atlas = given.atlas
    found = polygons(atlas, given.view)
    name = given.outputs[one_output(output, atlas.outputs)]
    by = column(atlas, colour, found.cells, middles(found.start, found.points), output, name)
    said = plane.texts(atlas, found, given.feature_names, given.outputs, given.data)
    cells = Polygons(found.start, found.points, _colouring(by), said)
    title = f"{how_many(len(atlas), 'cell')}, coloured by {by.label}"
    return given.scene((cells, *given.on_top()), title, plane.notes(atlas, given.view, found))


def _colouring(by: Column) -> Colouring:
    return Colouring(by.values, by.label, by.names)


def regions_scene(
    found: Regions,
    *,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    boundary: bool | DecisionBoundary = False,
    boxes: Boxes | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Regions, neighbours in different colours; walls within a region in grey."""
    atlas = found.atlas
    given = _Given(atlas, view, X, y, boundary, boxes, feature_names, output_names, title)
    shown = polygons(atlas, given.view)
    number = map_colours(found)[found.label[shown.cells]].astype(np.float64)
    unnamed = ("",) * (int(number.max(initial=0)) + 1)
    said = plane.texts(atlas, shown, given.feature_names, given.outputs, given.data)
    said = [f"region {found.label[c]}, {t}" if t else "" for c, t in zip(shown.cells, said, strict=True)]
    facets, left_out = plane.shown_walls(atlas)
    inside = found.label[atlas.facet_owner[facets]] == found.label[atlas.neighbour[facets]]
    parts: tuple[Part, ...] = (
        Polygons(shown.start, shown.points, Colouring(number, "region", unnamed), said, role="patch"),
        plane.walls(atlas, facets[inside & (atlas.neighbour[facets] >= 0)], given.view, "earlier"),
        plane.walls(atlas, facets[~inside | (atlas.neighbour[facets] < 0)], given.view, "edge"),
    )
    words = f"{how_many(len(found), 'region')} of {how_many(len(atlas), 'cell')}"
    return given.scene((*parts, *given.on_top()), words, [*plane.notes(atlas, given.view, shown), *left_out])


def classes_scene(
    found: Classes,
    *,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    boxes: Boxes | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Where which class wins, the decision boundary between, and the walls of cells."""
    atlas, parts = found.original, found.atlas
    given = _Given(atlas, view, X, y, decision_boundary(found), boxes, feature_names, output_names, title)
    names = class_names(atlas, output_names)
    shown = polygons(parts, given.view)
    winner = found.label[shown.cells]
    facets, left_out = plane.shown_walls(atlas)
    said = plane.texts(parts, shown, given.feature_names, given.outputs, None)
    texts = [
        f"class {names[k]}\npart {t[5:]}".replace("\npattern", f" of cell {c}\npattern", 1) if t else ""
        for k, c, t in zip(winner.tolist(), found.cell[shown.cells].tolist(), said, strict=True)
    ]
    drawn: tuple[Part, ...] = (
        Polygons(shown.start, shown.points, Colouring(winner.astype(np.float64), "class", names), texts, role="patch"),
        plane.walls(atlas, facets, given.view, "edge"),
    )
    words = "The largest output" if atlas.outputs > 1 else f"Where the output exceeds {found.threshold:g}"
    return given.scene((*drawn, *given.on_top()), words, [*plane.notes(parts, given.view, shown), *left_out])


def boundary_scene(
    found: DecisionBoundary,
    *,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """The decision boundary alone, over the walls of cells in grey."""
    atlas = found.classes.original
    given = _Given(atlas, view, X, y, found, None, feature_names, output_names, title)
    facets, left_out = plane.shown_walls(atlas)
    walls = plane.walls(atlas, facets, given.view, "earlier")
    return given.scene((walls, *given.on_top()), "Decision boundary", [*_beyond(found), *left_out])


def boxes_scene(
    found: Boxes,
    *,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Boxes around cells or regions, over all cells; those that they belong to are filled."""
    atlas = found.atlas
    given = _Given(atlas, view, X, y, False, found, feature_names, None, title)
    label = np.arange(len(atlas)) if found.regions is None else found.regions.label
    shown = polygons(atlas, given.view)
    chosen = np.isin(label[shown.cells], found.ids).astype(np.float64)
    said = plane.texts(atlas, shown, given.feature_names, given.outputs, given.data)
    cells = Polygons(shown.start, shown.points, Colouring(chosen - 1, "", ("",)), said)
    thing = "cell" if found.regions is None else "region"
    words = f"Boxes around {how_many(len(found), thing)}"
    return given.scene((cells, *given.on_top()), words, plane.notes(atlas, given.view, shown))


def class_names(atlas: Atlas, output_names: Sequence[str] | None) -> tuple[str, ...]:
    """Of the classes: the outputs' names, or numbers; one output has two classes."""
    if atlas.outputs == 1:
        return ("0", "1")
    if output_names is None:
        return tuple(map(str, range(atlas.outputs)))
    return names_for(output_names, atlas.outputs, "y", "output")


def boundary_segments(found: DecisionBoundary, view: View) -> Segments:
    """The pieces of a decision boundary within the view."""
    if found.classes.atlas.dim != 2:
        raise PolyfoldError(f"a boundary in the plane needs a domain of dimension 2, not {found.classes.atlas.dim}")
    _, ends = segments(found.start, found.points, found.kind, view)
    return Segments(ends, role="boundary", name="decision boundary")


def box_segments(found: Boxes, view: View) -> Segments:
    """The sides of boxes as far as they are in the view."""
    lo, hi = np.maximum(found.lo, view.lo), np.minimum(found.hi, view.hi)
    corner = np.stack([lo, np.stack([hi[:, 0], lo[:, 1]], 1), hi, np.stack([lo[:, 0], hi[:, 1]], 1)], axis=1)
    ends = np.stack([corner, np.roll(corner, -1, axis=1)], axis=2)
    # A side that the view cuts off is not drawn: the box goes on there.
    low, high = found.lo >= view.lo, found.hi <= view.hi
    there = np.stack([low[:, 1], high[:, 0], high[:, 1], low[:, 0]], axis=1) & np.all(lo < hi, axis=1, keepdims=True)
    return Segments(ends[there], role="box", name="boxes")


def _beyond(found: DecisionBoundary) -> list[str]:
    if found.bounded.all():
        return []
    endless = int((~found.bounded).sum())
    go = "goes" if endless == 1 else "go"
    return [f"{how_many(endless, 'piece')} of the boundary {go} on without end beyond the view."]
