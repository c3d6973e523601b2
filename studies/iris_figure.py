"""The picture of the Iris study as SVG: cells with data, the data, and the smallest hypercubes."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.view import View
from polyfold.plotting.render import svg
from polyfold.plotting.scene.shapes import Axes, Colouring, Points, Polygons, Scene, Segments
from polyfold.stats.summarise import Summary


def draw(found: Summary, points: Array) -> str:
    """Cells that hold data in colours, hypercubes around them, and the data."""
    around = found.boxes
    half = around.size[:, None] / 2
    view = View(np.floor((around.centre - half).min(axis=0)), np.ceil((around.centre + half).max(axis=0)))
    shown = polygons(found.atlas, view)
    kept = np.flatnonzero(np.isin(shown.cells, found.ids))
    corners = [shown.points[shown.start[k] : shown.start[k + 1]] for k in kept]
    names = tuple(f"cell {cell}" for cell in found.ids)
    place = {int(cell): number for number, cell in enumerate(found.ids)}
    numbers = [place[int(cell)] for cell in shown.cells[kept]]
    scene = Scene(
        (
            Polygons(
                np.cumsum([0, *map(len, corners)]),
                np.concatenate(corners),
                Colouring(np.array(numbers, dtype=np.float64), "cell", names),
                [names[number] for number in numbers],
            ),
            Segments(_sides(around.centre - half, around.centre + half), role="box", name="smallest hypercubes"),
            Points(points, name="test flowers", hover=["test flower"] * len(points)),
        ),
        Axes(found.feature_names, tuple(zip(view.lo.tolist(), view.hi.tolist(), strict=True)), equal=True),
        title=f"{len(found)} cells hold the test data",
    )
    return svg.draw(scene, name="iris", standalone=True) + "\n"


def _sides(lo: Array, hi: Array) -> Array:
    """The sides of boxes as segments (4 n, 2, 2)."""
    corner = np.stack([lo, np.stack([hi[:, 0], lo[:, 1]], 1), hi, np.stack([lo[:, 0], hi[:, 1]], 1)], axis=1)
    sides: Array = np.stack([corner, np.roll(corner, -1, axis=1)], axis=2).reshape(-1, 2, 2)
    return sides
