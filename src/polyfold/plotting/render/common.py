"""What all renderers ask of a scene: its dimension, its shape, its notes, the ends of its colours."""

from __future__ import annotations

import numpy as np

from polyfold.plotting.render.style import colour_notes
from polyfold.plotting.scene.shapes import Bars, Panels, Part, Picture, Scene, Segments


def height_by_width(scene: Scene) -> float | None:
    """How a plane of one scale is shaped; None if that is free."""
    if not (scene.axes.equal and scene.axes.limits) or is_solid(scene):
        return None
    (x0, x1), (y0, y1) = scene.axes.limits[:2]
    return (y1 - y0) / (x1 - x0)


def all_notes(drawing: Scene | Panels, scenes: tuple[Scene, ...]) -> tuple[str, ...]:
    """What is to be said below a figure, each thing once."""
    said = [*drawing.notes]
    for scene in scenes:
        said += [*scene.notes, *colour_notes(scene)]
    return tuple(dict.fromkeys(said))


def is_solid(scene: Scene) -> bool:
    """Whether any part of a scene has three coordinates."""
    return any(_dimension(part) == 3 for part in scene.parts)


def _dimension(part: Part) -> int:
    if isinstance(part, Bars):
        return 2
    return int(part.ends.shape[-1] if isinstance(part, Segments) else part.points.shape[-1])


def limits_of(picture: Picture) -> tuple[float, float]:
    """The values at both ends of a picture's colours; zero is in the middle of signed ones."""
    finite = picture.pixels[np.isfinite(picture.pixels)]
    if picture.signed:
        most = float(np.abs(finite).max(initial=0.0)) or 1.0
        return -most, most
    return float(finite.min(initial=0.0)), float(finite.max(initial=0.0)) or 1.0
