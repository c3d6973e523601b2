"""The scene of one frame of a movie: cells in their colours, the decision boundary, and data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold.errors import how_many
from polyfold.plotting.geometry.film import Film, Frame
from polyfold.plotting.scene.shapes import Axes, Colouring, Part, Points, Polygons, Scene, Segments


@dataclass(frozen=True)
class Legend:
    """What things mean in all frames of a movie: what coordinates and classes are called, what is on the scale and over
    which range; and what a step is called."""

    inputs: tuple[str, ...]
    names: tuple[str, ...]
    label: str
    limits: tuple[float, float]
    step_name: str


def frame_scene(film: Film, frame: Frame, legend: Legend) -> Scene:
    """A frame as shapes. All frames of a movie have the same limits of colours and axes."""
    if film.colour == "class":
        colouring = Colouring(frame.values, legend.label, legend.names)
    else:
        colouring = Colouring(frame.values, legend.label, limits=legend.limits)
    parts: list[Part] = [Polygons(frame.shapes.start, frame.shapes.points, colouring, role="cell")]
    parts.append(Segments(frame.boundary, role="boundary", name="decision boundary"))
    if len(film.points):
        labels = film.point_labels
        given = None if labels is None else Colouring(labels.astype(np.float64), "data", legend.names)
        parts.append(Points(film.points, given, role="data", name="data"))
    (x0, y0), (x1, y1) = film.view.lo.tolist(), film.view.hi.tolist()
    axes = Axes(legend.inputs, ((x0, x1), (y0, y1)), equal=film.view.one_scale)
    return Scene(tuple(parts), axes, caption(frame, legend.step_name))


def caption(frame: Frame, step_name: str) -> str:
    """What is said of a frame: its step, its cells, and how many data it gets right."""
    said = [f"{step_name} {frame.step}", how_many(frame.cells, "cell")]
    if frame.accuracy is not None:
        said.append(f"accuracy {100 * frame.accuracy:.1f} %")
    return " · ".join(said)
