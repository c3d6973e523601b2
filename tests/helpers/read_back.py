"""What a figure shows, read back from the figure itself: polygons with their colours, lines, texts and notes."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Shown:
    """Filled polygons of a figure, one array of corners each, and their colours as #rrggbb."""

    rings: list[np.ndarray]
    colours: list[str]

    @property
    def area(self) -> float:
        return sum(abs(shoelace(ring)) for ring in self.rings)

    def at(self, point: np.ndarray) -> list[str]:
        """The colours of all polygons that hold a point."""
        near = [bool((r.min(axis=0) <= point).all() and (point <= r.max(axis=0)).all()) for r in self.rings]
        found = zip(self.rings, self.colours, near, strict=True)
        return [colour for ring, colour, maybe in found if maybe and holds(ring, point)]


def shown(figure: Any) -> Shown:
    """The polygons of a figure of either renderer."""
    return _of_plotly(figure) if hasattr(figure, "to_plotly_json") else _of_matplotlib(figure)


def _of_plotly(figure: Any) -> Shown:
    rings, colours = [], []
    for trace in figure.data:
        if trace.fill == "toself":
            for ring in pieces(trace):
                assert ring[0].tolist() == ring[-1].tolist(), "a ring is closed"
                rings.append(ring[:-1])
                colours.append(trace.fillcolor)
    return Shown(rings, colours)


def _of_matplotlib(figure: Any) -> Shown:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_hex

    rings, colours = [], []
    for collection in figure.axes[0].collections:
        if isinstance(collection, PolyCollection):
            for path, colour in zip(collection.get_paths(), collection.get_facecolors(), strict=True):
                rings.append(path.vertices[:-1])
                colours.append(to_hex(colour))
    return Shown(rings, colours)


def pieces(trace: Any) -> list[np.ndarray]:
    """The points of a trace, apart at its gaps."""
    points = np.stack([np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)], axis=1)
    gaps = np.flatnonzero(np.isnan(points[:, 0]))
    parts = [part[~np.isnan(part[:, 0])] for part in np.split(points, gaps)]
    return [part for part in parts if len(part)]


def lines(figure: Any, colour: str) -> np.ndarray:
    """The segments (n, 2, 2) that a Plotly figure draws in a colour."""
    drawn = [
        part for t in figure.data if t.mode == "lines" and t.line.color == colour and not t.fill for part in pieces(t)
    ]
    return np.array(drawn).reshape(-1, 2, 2)


def notes(figure: Any) -> str:
    """All that is written into a figure besides titles."""
    if hasattr(figure, "to_plotly_json"):
        return " ".join(a.text.replace("<br>", " ") for a in figure.layout.annotations)
    return " ".join(figure.get_supxlabel().split())


def image(figure: Any) -> np.ndarray:
    """The pixels (rows, columns, 4) of the figure's image, the lowest row first."""
    from PIL import Image

    (found,) = figure.layout.images
    head, data = found.source.split(",", 1)
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as opened:
        return np.asarray(opened.convert("RGBA"))[::-1]


def shoelace(ring: np.ndarray) -> float:
    """The area of a polygon."""
    x, y = (ring - ring[0]).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def holds(ring: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is in a polygon: how often a ray to the right crosses its edges."""
    inside = False
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if (a[1] > point[1]) != (b[1] > point[1]):
            inside ^= bool(point[0] < a[0] + (point[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
    return inside
