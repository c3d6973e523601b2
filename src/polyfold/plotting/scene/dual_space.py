"""Dual space as a scene: the maps of cells as points, sized by what sits there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold._base.inputs import one_of
from polyfold._base.types import Array
from polyfold._base.words import in_words
from polyfold.errors import PolyfoldError, how_many
from polyfold.maps.dual_space.result import DualSpace
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.shapes import Axes, Colouring, Part, Points, Scene, Segments


def dual_space_scene(
    dual: DualSpace,
    *,
    axes: Sequence[Any] | None = None,
    size: str | None = None,
    edges: bool = False,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Points (w, b): two or three of their coordinates, which `axes` names by numbers or as "w0", "w1", ..., "b".

    `size` is "cells", "data" or None (all alike); without data points are sized by their cells, and with data by them.
    Points that hold data have another colour. With `edges`, points of neighbouring cells are joined:
    the length of an edge is how far the map jumps at the facet.
    """
    dim = dual.atlas.dim
    names = (*(f"w{k}" for k in range(dim)), "b")
    columns = _columns(axes, names)
    places = dual.points[:, columns]
    features = plane.input_names(dual.atlas, feature_names)
    hover = [_said(dual, point, features) for point in range(len(dual))]
    sizes, meaning = _sizes(dual, size)
    held = dual.samples > 0
    parts: list[Part] = []
    if edges:
        parts.append(_edges(dual, places))
    by_data = Colouring(held.astype(np.float64), "", ("without data", "with data")) if held.any() else None
    parts.append(Points(places, by_data, hover, role="curve", sizes=sizes))
    notes = [meaning] if meaning else []
    if len(columns) < len(names):
        left = ", ".join(name for k, name in enumerate(names) if k not in columns)
        notes.append(f"Seen along {left}: points that differ only there lie on one another.")
    words = f"Dual space of output {dual.output}: {how_many(len(dual), 'map')} of {how_many(len(dual.atlas), 'cell')}"
    axes_shown = Axes(tuple(names[k] for k in columns))
    return Scene(tuple(parts), axes_shown, words if title is None else title, tuple(notes))


def _columns(axes: Sequence[Any] | None, names: tuple[str, ...]) -> list[int]:
    """The coordinates asked for; without being asked three of them, or all if there are fewer: the last slopes go."""
    if axes is None:
        return [0, 1, len(names) - 1] if len(names) > 3 else list(range(len(names)))
    if isinstance(axes, str) or len(axes) not in (2, 3):
        raise PolyfoldError(f"axes={axes!r} must be two or three of {', '.join(names)}")
    found = []
    for axis in axes:
        if isinstance(axis, str) and axis not in names:
            raise PolyfoldError(f"there is no axis {axis!r}: there are {', '.join(names)}")
        found.append(names.index(axis) if isinstance(axis, str) else one_of(axis, len(names), "axis", "dual space"))
    if len(set(found)) < len(found):
        raise PolyfoldError(f"axes={axes!r} must differ from each other")
    return found


def _sizes(dual: DualSpace, size: str | None) -> tuple[Array | None, str]:
    if size not in (None, "cells", "data", "same"):
        raise PolyfoldError(f"size must be 'cells', 'data', 'same' or None, got {size!r}")
    if size == "data" and not dual.samples.any():
        raise PolyfoldError("size='data' needs data in dual space: pf.maps.dual_space(atlas, X=X)")
    if size == "same":
        return None, ""
    by_data = size == "data" or (size is None and bool(dual.samples.any()))
    if by_data:
        # A point without data is still there.
        return np.maximum(dual.samples, 0.5).astype(np.float64), "The area of a point grows with the data in its cells."
    if (dual.cells == dual.cells[0]).all():
        return None, f"Each point is the map of {how_many(int(dual.cells[0]), 'cell')}."
    return dual.cells.astype(np.float64), "The area of a point grows with the number of cells that have its map."


def _said(dual: DualSpace, point: int, features: tuple[str, ...]) -> str:
    row = dual.points[point]
    text = f"map {point}: {in_words(row[:-1], float(row[-1]), features)}\n"
    text += f"{how_many(int(dual.cells[point]), 'cell')}, the first is {int(dual.first_cell[point])}"
    return f"{text}\n{how_many(int(dual.samples[point]), 'data point')}" if len(dual.cell_of_sample) else text


def _edges(dual: DualSpace, places: Array) -> Segments:
    """Segments between the points of cells that touch; cells with the same map need none."""
    atlas = dual.atlas
    inner = np.flatnonzero(atlas.neighbour > atlas.facet_owner)
    ends = np.stack([atlas.facet_owner[inner], atlas.neighbour[inner].astype(np.int64)], axis=1)
    pairs = np.sort(dual.point_of_cell[ends], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return Segments(places[pairs], role="edge", name="neighbouring cells")
