"""What scenes in the plane have in common: the view, axes, data on top, texts to point at, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import features_of, labels_of, rows_of
from polyfold._base.types import Array, Ids
from polyfold._base.words import in_words
from polyfold.atlas.atlas import Atlas
from polyfold.errors import ShapeError, how_many
from polyfold.plotting.geometry.polygons import Polygons as CellPolygons
from polyfold.plotting.geometry.polyhedra import Polyhedra
from polyfold.plotting.geometry.segments import facet_segments, inner_facets
from polyfold.plotting.geometry.view import View
from polyfold.plotting.scene.shapes import Axes, Colouring, Points, Role, Segments

# So many cells have texts; of more, the largest ones.
MOST_TEXTS = 4_000
# More walls than these are left out where they are not what the picture is about.
MOST_WALLS = 20_000
_MOST_SIGNS, _MOST_OUTPUTS = 64, 4
# Sides that differ by more than this factor are not drawn to one scale.
_LONGEST = 3.0


def axes_of(atlas: Atlas, view: View, feature_names: Sequence[str] | None) -> Axes:
    """The view, with one scale for both axes unless that would make it a strip."""
    sides = view.hi - view.lo
    equal = bool(sides.max() <= _LONGEST * sides.min())
    limits = tuple((float(lo), float(hi)) for lo, hi in zip(view.lo, view.hi, strict=True))
    return Axes(input_names(atlas, feature_names), limits, equal)


def input_names(atlas: Atlas, feature_names: Sequence[str] | None, X: Any = None) -> tuple[str, ...]:
    """Of the domain's parameters: those given, a data frame's columns, or x0, x1, on a slice u0, u1."""
    return features_of(feature_names, X, atlas.dim, "u" if atlas.domain.is_slice else "x")


def rows_of_data(X: Any, names: Sequence[str]) -> Array | None:
    """Points of the domain's parameters, which have these names, if there are any."""
    return None if X is None else rows_of(X, len(names), names=names)


def data_points(data: Array | None, y: Any, class_names: Sequence[str]) -> tuple[Points, ...]:
    """Data as points, in the colours of their labels. Labels that are names or numbers of classes get their colours."""
    if data is None:
        if y is not None:
            raise ShapeError("y belongs to X: give both")
        return ()
    if y is None:
        return (Points(data, name="data"),)
    given = labels_of(y, len(data))
    words = [str(label) for label in given.tolist()]
    if np.issubdtype(given.dtype, np.integer) and given.size and given.min() >= 0 and given.max() < len(class_names):
        names, numbers = tuple(class_names), given.astype(np.float64)
    else:
        names = tuple(class_names) if set(words) <= set(class_names) else tuple(sorted(set(words)))
        place = {name: number for number, name in enumerate(names)}
        numbers = np.array([place[word] for word in words], dtype=np.float64)
    shown = tuple(f"data: {name}" for name in names)
    return (Points(data, Colouring(numbers, "label", shown), [f"label {word}" for word in words]),)


def texts(
    atlas: Atlas,
    found: CellPolygons | Polyhedra,
    feature_names: Sequence[str] | None,
    output_names: Sequence[str],
    data: Array | None,
) -> list[str]:
    """For each polygon or polyhedron what is known of its cell: number, pattern, map, facets and data. If there are
    many, small ones have no text."""
    said = [""] * len(found)
    size = found.areas if isinstance(found, CellPolygons) else found.volumes
    largest = np.argsort(-size, kind="stable")[:MOST_TEXTS]
    cells = found.cells[largest]
    A, c = atlas.maps(cells, over="parameters")
    names = input_names(atlas, feature_names)
    facets = np.diff(atlas.facet_start)[cells]
    held = None if data is None else np.bincount(located(atlas, data) + 1, minlength=len(atlas) + 1)[1:]
    for row, (place, cell) in enumerate(zip(largest.tolist(), cells.tolist(), strict=True)):
        pattern = atlas[cell].pattern
        lines = [
            f"cell {cell}",
            f"pattern {pattern if len(pattern) <= _MOST_SIGNS else pattern[:_MOST_SIGNS] + ' ...'}",
        ]
        for k, output in enumerate(output_names[:_MOST_OUTPUTS]):
            lines.append(f"{output} = {in_words(A[row, k], float(c[row, k]), names)}")
        if len(output_names) > _MOST_OUTPUTS:
            lines.append(f"and {how_many(len(output_names) - _MOST_OUTPUTS, 'more output')}")
        support = how_many(int(facets[row]), "facet")
        support += "" if atlas.bounded[cell] else ", unbounded"
        lines.append(support if held is None else f"{support}; {how_many(int(held[cell]), 'data point')}")
        said[place] = "\n".join(lines)
    return said


def located(atlas: Atlas, data: Array) -> Ids:
    """The cell of each point, -1 outside."""
    return atlas.locate(data, outside="ignore")


def shown_walls(atlas: Atlas) -> tuple[Ids, list[str]]:
    """The facets between cells, and nothing to say; or none, and a note that there are too many."""
    facets = inner_facets(atlas)
    if len(facets) <= MOST_WALLS:
        return facets, []
    return facets[:0], [f"The {len(facets):,} walls between cells are left out."]


def outlined(asked: bool, faces: int) -> tuple[bool, tuple[str, ...]]:
    """Whether so many faces in space get outlines, and what to say if they do not."""
    if not asked or faces <= MOST_WALLS:
        return asked, ()
    return False, (f"The outlines of {faces:,} faces are left out.",)


def walls(atlas: Atlas, facets: Ids, view: View, role: Role) -> Segments:
    """Facets as lines."""
    return Segments(facet_segments(atlas, facets, view)[1], role=role)


def notes(
    atlas: Atlas,
    view: View,
    found: CellPolygons | Polyhedra,
    *,
    asked: int | None = None,
    where: str = "outside the view",
    thing: str = "cell",
) -> list[str]:
    """What the picture does not show of the cells (or other things) asked for, all unless said, and `where` that is."""
    said = []
    beyond = _beyond(atlas, view, found)
    if beyond.any():
        endless = int((~atlas.bounded[found.cells]).sum())
        go = "goes" if beyond.sum() == 1 else "go"
        text = f"{int(beyond.sum()):,} of {how_many(len(found), thing)} shown {go} on beyond the view"
        said.append(f"{text}, {endless:,} of them without end." if endless else f"{text}.")
    count = len(atlas) if asked is None else asked
    hidden = count - len(found)
    if hidden:
        said.append(f"{how_many(hidden, thing)} of {count:,} {'lies' if hidden == 1 else 'lie'} {where}.")
    if not atlas.complete:
        said.append("The atlas is incomplete: nothing is known of what is white.")
    if len(found) > MOST_TEXTS:
        said.append(f"Only the {MOST_TEXTS:,} largest of {len(found):,} cells say what they are when pointed at.")
    return said


def _beyond(atlas: Atlas, view: View, found: CellPolygons | Polyhedra) -> npt.NDArray[np.bool_]:
    """Which of the cells shown go on beyond the view."""
    if isinstance(found, CellPolygons) and len(found.cut) == len(found):
        return found.cut
    lo, hi = atlas.bounding_boxes(found.cells)
    return np.asarray(((lo < view.lo) | (hi > view.hi)).any(axis=1))
