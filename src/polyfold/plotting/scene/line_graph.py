"""The graph of a network over one input, or along a line: pieces, breakpoints, and which class wins where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold._base.inputs import some_outputs
from polyfold._base.types import Array
from polyfold._base.words import in_words, names_for
from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many
from polyfold.plotting.geometry.intervals import Intervals, intervals
from polyfold.plotting.geometry.surface import lifted
from polyfold.plotting.geometry.view import View, view_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.shapes import Axes, Colouring, Part, Points, Polygons, Scene, Segments
from polyfold.stats.classes import Classes, classes

# The strip of classes below the graph, in parts of the graph's height: how far below, and how high.
_GAP, _STRIP, _ROOM = 0.06, 0.05, 0.06


def line_graph_scene(
    atlas: Atlas,
    *,
    view: Any = None,
    output: int | Sequence[int] | None = None,
    strip: bool | None = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Outputs over a domain of one dimension, with a point where two pieces meet.

    `view` is (x0, x1), `output` one or several numbers of outputs; all are shown unless it is given. With several
    outputs a strip below says which one is the largest, unless `strip` is False; with one output it says, if asked for,
    where it is positive. Data points lie on the graphs.
    """
    names = names_for(output_names, atlas.outputs, "y", "output")
    (variable,) = plane.input_names(atlas, feature_names, X)
    rows = plane.rows_of_data(X, [variable])
    window = view_of(atlas, view, rows, dim=1)
    chosen = some_outputs(range(atlas.outputs) if output is None else output, atlas.outputs)
    found = intervals(atlas, window)
    A, c = atlas.maps(found.cells, over="parameters")
    ends = np.stack([np.stack([found.ends, A[:, j] * found.ends + c[:, j : j + 1]], axis=2) for j in chosen])
    shown = [names[j] for j in chosen]
    hover = [
        f"cell {cell}\n{names[j]} = {in_words(A[row, j], float(c[row, j]), [variable])}"
        for j in chosen
        for row, cell in enumerate(found.cells.tolist())
    ]
    number = np.repeat(np.arange(len(shown)), len(found)).astype(np.float64)
    colouring = Colouring(number, "output", tuple(shown)) if len(shown) > 1 else None
    low, high = _extent(ends)
    parts: list[Part] = [Segments(ends.reshape(-1, 2, 2), colouring, hover, role="curve")]
    parts += _breakpoints(atlas, found, ends, variable)
    notes = _notes(atlas, found, window)
    if rows is not None:
        places = np.concatenate([lifted(atlas, rows, window, j) for j in chosen])
        parts.append(Points(places, role="marked", name="data"))
    if strip or (strip is None and atlas.outputs > 1):
        parts.append(_class_strip(classes(atlas), window, low - _GAP * (high - low), _STRIP * (high - low), names))
        low = low - (_GAP + _STRIP) * (high - low)
    room = _ROOM * (high - low)
    label = shown[0] if len(shown) == 1 else "outputs"
    limits = (*window.limits, (low - room, high + room))
    words = f"{label} over {how_many(len(atlas), 'piece')}" if title is None else title
    return Scene(tuple(parts), Axes((variable, label), limits), words, tuple(notes))


def _extent(ends: Array) -> tuple[float, float]:
    values = ends[..., 1]
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def _breakpoints(atlas: Atlas, found: Intervals, ends: Array, variable: str) -> list[Part]:
    """Points where pieces meet, which say which neurons switch there."""
    if not len(found.breakpoints):
        return []
    texts = {}
    for facet in np.flatnonzero(atlas.neighbour > atlas.facet_owner).tolist():
        pair = frozenset((int(atlas.facet_owner[facet]), int(atlas.neighbour[facet])))
        gates = [wall for wall in atlas.walls(facet) if wall < atlas.gates]
        texts[pair] = ", ".join(str(atlas.program.origins[gate]) for gate in gates)
    cells = found.cells.tolist()
    rows = [k for k in range(len(cells) - 1) if frozenset(cells[k : k + 2]) in texts]
    said = [f"{variable} = {float(found.ends[k, 1]):.6g}\n{texts[frozenset(cells[k : k + 2])]} is zero" for k in rows]
    return [Points(ends[:, rows, 1].reshape(-1, 2), hover=said * len(ends), role="data", name="breakpoints")]


def _class_strip(found: Classes, window: View, top: float, height: float, names: Sequence[str]) -> Polygons:
    parts = intervals(found.atlas, window)
    (left, right), low = parts.ends.T, np.full(len(parts), top - height)
    corners = np.stack(
        [np.stack([x, y], axis=1) for x, y in ((left, low), (right, low), (right, low + height), (left, low + height))],
        axis=1,
    )
    label = found.label[parts.cells]
    said: tuple[str, ...]
    if found.original.outputs == 1:
        said = (f"{names[0]} <= {found.threshold:g}", f"{names[0]} > {found.threshold:g}")
    else:
        said = tuple(f"{name} wins" for name in names)
    hover = [f"{said[k]}\nfrom {a:.6g} to {b:.6g}" for k, (a, b) in zip(label.tolist(), parts.ends, strict=True)]
    start = np.arange(0, 4 * len(parts) + 1, 4)
    return Polygons(start, corners.reshape(-1, 2), Colouring(label.astype(np.float64), "class", said), hover)


def _notes(atlas: Atlas, found: Intervals, window: View) -> list[str]:
    notes = []
    if len(found) < len(atlas):
        notes.append(f"{how_many(len(atlas) - len(found), 'piece')} outside the view.")
    if not atlas.bounded[found.cells].all():
        notes.append("The outer pieces go on beyond the view.")
    if not atlas.complete:
        notes.append("The atlas is incomplete: gaps are pieces that it does not have.")
    return notes
