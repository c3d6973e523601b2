"""Frames of a movie as pixels: matplotlib's figure of a scene, with everything in the same place in every frame.

A figure for print finds room for its own legend and labels; from frame to frame these would jump about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold.plotting.render.matplotlib import draw
from polyfold.plotting.render.style import class_colour
from polyfold.plotting.scene.shapes import Scene

Pixels = npt.NDArray[np.uint8]

# Room around the picture, and the size that it is meant for, in pixels: for the title, labels and the legend below.
_LEFT, _RIGHT, _TOP, _BOTTOM, _SCALE_ROOM, _MEANT_FOR = 66, 22, 36, 80, 84, 640
_DPI = 100
# More entries are no help in a legend.
_LEGEND = 10


@dataclass(frozen=True)
class Layout:
    """Where things are in pixels: the picture's size, and in it, from the top left, what the axes enclose."""

    width: int
    height: int
    left: float
    top: float
    right: float
    bottom: float
    unit: float


def layout(scene: Scene, size: int) -> Layout:
    """Of a scene with limits, in a picture whose longer side is `size` at most; both sides are even."""
    assert scene.axes.limits is not None
    (x0, x1), (y0, y1) = scene.axes.limits
    unit = size / _MEANT_FOR
    height_by_width = (y1 - y0) / (x1 - x0) if scene.axes.equal else 1.0
    right_room = _RIGHT + (_SCALE_ROOM if _on_a_scale(scene) else 0)
    across, up = (size - unit * room for room in (_LEFT + right_room, _TOP + _BOTTOM))
    wide = min(across, up / height_by_width)
    high = wide * height_by_width
    sides = wide + unit * (_LEFT + right_room), high + unit * (_TOP + _BOTTOM)
    width, height = (2 * int(side / 2) for side in sides)
    left, top = unit * _LEFT, unit * _TOP
    return Layout(width, height, left, top, left + wide, top + high, unit)


def pixels(scene: Scene, names: tuple[str, ...], size: int) -> Pixels:
    """The picture (height, width, 3) of a scene, with a legend of the classes' names."""
    require("matplotlib", extra="plot", purpose="a movie")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D

    figure, place = draw(scene), layout(scene, size)
    width, height = place.width, place.height
    figure.set_layout_engine("none")
    figure.set_dpi(_DPI * place.unit)
    # Sides are cut down to whole pixels, so that half a pixel more gives the right ones.
    figure.set_size_inches((width + 0.5) / figure.dpi, (height + 0.5) / figure.dpi)
    axes = figure.axes[0]
    for legend in figure.legends:
        legend.remove()
    # Some frames would have notes, and others none: docs/movies.md has them.
    figure.supxlabel("")
    axes.set_aspect("auto")
    axes.locator_params(nbins=5)
    axes.tick_params(labelsize=9)
    size_of_axes = ((place.right - place.left) / width, (place.bottom - place.top) / height)
    axes.set_position((place.left / width, 1 - place.bottom / height, *size_of_axes))
    if len(names) <= _LEGEND:
        dots = [Line2D([], [], marker="o", linestyle="", color=class_colour(k)) for k in range(len(names))]
        figure.legend(dots, names, loc="lower center", ncols=min(len(names), 5), fontsize=9, frameon=False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found: Pixels = np.array(canvas.buffer_rgba())[:height, :width, :3]
    return found


def _on_a_scale(scene: Scene) -> bool:
    colourings = (getattr(part, "colouring", None) for part in scene.parts)
    return any(colouring is not None and colouring.names is None for colouring in colourings)
