"""The picture of the Iris study as plain SVG: cells with data, the data, and the smallest hypercubes."""

from __future__ import annotations

from html import escape

import numpy as np
import numpy.typing as npt

from polyfold.stats.summarise import Summary

Array = npt.NDArray[np.float64]

_SCALE, _MARGIN = 44.0, 46.0
_GREENS = ("#7fbf7b", "#a6dba0", "#5aae61", "#c7e9c0", "#d9f0d3", "#41ab5d")


def draw(found: Summary, points: Array) -> str:
    """Cells in green, data points as red crosses, hypercubes as red squares."""
    around = found.boxes
    half = around.size[:, None] / 2
    lo, hi = np.floor((around.centre - half).min(axis=0)), np.ceil((around.centre + half).max(axis=0))
    width, height = (hi - lo) * _SCALE + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        ' font-family="sans-serif" font-size="13">',
        f"<title>{len(found)} cells hold the test data</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
    ]

    def place(points: Array) -> Array:
        # The picture's second axis points down.
        return np.column_stack([points[:, 0] - lo[0], hi[1] - points[:, 1]]) * _SCALE + _MARGIN

    def polygon(corners: Array, style: str) -> str:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in place(corners))
        return f'<polygon points="{points}" {style}/>'

    lines += _axes(lo, hi, width, height, found.feature_names)
    for i, corners in enumerate(found.atlas.vertices(found.ids)):
        lines.append(polygon(_ring(corners), f'fill="{_GREENS[i % len(_GREENS)]}" stroke="#1b7837"'))
    for i in range(len(found)):
        left, low = around.centre[i] - half[i]
        right, high = around.centre[i] + half[i]
        square = np.array([[left, low], [right, low], [right, high], [left, high]])
        lines.append(polygon(square, 'fill="none" stroke="#b2182b" stroke-width="1.5"'))
        x, y = place(np.array([[left, high]]))[0]
        lines.append(f'<text x="{x + 4:.1f}" y="{y + 15:.1f}" fill="#b2182b">cell {found.ids[i]}</text>')
    lines.append(f'<path d="{_crosses(place(points))}" stroke="#d6604d" stroke-width="1.2" fill="none"/>')
    return "\n".join([*lines, "</svg>", ""])


def _crosses(points: Array) -> str:
    return "".join(f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6" for x, y in points)


def _ring(vertices: Array) -> Array:
    """The corners of a convex polygon in order around it."""
    away = vertices - vertices.mean(axis=0)
    ordered: Array = vertices[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
    return ordered


def _axes(lo: Array, hi: Array, width: float, height: float, names: tuple[str, ...]) -> list[str]:
    lines = []
    for x in range(int(lo[0]), int(hi[0]) + 1):
        at = (x - lo[0]) * _SCALE + _MARGIN
        lines.append(f'<path d="M{at:.1f} {_MARGIN:.1f}V{height - _MARGIN:.1f}" stroke="#eee"/>')
        lines.append(f'<text x="{at:.1f}" y="{height - _MARGIN + 16:.1f}" text-anchor="middle">{x}</text>')
    for y in range(int(lo[1]), int(hi[1]) + 1):
        at = (hi[1] - y) * _SCALE + _MARGIN
        lines.append(f'<path d="M{_MARGIN:.1f} {at:.1f}H{width - _MARGIN:.1f}" stroke="#eee"/>')
        lines.append(f'<text x="{_MARGIN - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{y}</text>')
    lines.append(f'<text x="{width / 2:.0f}" y="{height - 8:.0f}" text-anchor="middle">{escape(names[0])}</text>')
    lines.append(
        f'<text transform="translate(14 {height / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(names[1])}</text>'
    )
    return lines
