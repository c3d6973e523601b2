"""Pictures of dual spaces as plain SVG: cells and decision boundary beside the points (w, b), and torn facets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from polyfold.atlas.geometry.facet_generators import facet_generators
from polyfold.maps.dual_space.jumps import FacetJumps
from polyfold.maps.dual_space.result import DualSpace
from polyfold.stats.decision_boundary import decision_boundary

Array = npt.NDArray[np.float64]

_SIDE, _GAP, _TOP, _LEFT = 260.0, 46.0, 44.0, 44.0
_GREY, _BLUE, _RED, _ORANGE, _BLACK = "#c8c8c8", "#2166ac", "#d6281f", "#ef8a62", "#111"


class _Frame:
    """A square of the picture that shows x from lo[0] to hi[0] and y from lo[1] to hi[1]."""

    def __init__(self, column: int, row: int, lo: Array, hi: Array) -> None:
        self._corner = np.array([_LEFT + column * (_SIDE + _GAP), _TOP + row * (_SIDE + _TOP)])
        self._lo, self._hi = lo, np.where(hi > lo, hi, lo + 1.0)

    def place(self, points: Array) -> Array:
        share = (points - self._lo) / (self._hi - self._lo)
        # The picture's second axis points down.
        placed: Array = self._corner + np.column_stack([share[:, 0], 1.0 - share[:, 1]]) * _SIDE
        return placed

    def border(self, title: str) -> list[str]:
        x, y = self._corner
        lines = [
            f'<rect x="{x:g}" y="{y:g}" width="{_SIDE:g}" height="{_SIDE:g}" fill="none" stroke="#999"/>',
            f'<text x="{x + _SIDE / 2:g}" y="{y - 8:g}" text-anchor="middle">{escape(title)}</text>',
        ]
        for share, number in ((0.0, self._lo), (1.0, self._hi)):
            across = f'x="{x + share * _SIDE:g}" y="{y + _SIDE + 12:g}" text-anchor="middle"'
            up = f'x="{x - 4:g}" y="{y + (1 - share) * _SIDE + 4:g}" text-anchor="end"'
            lines += [
                f'<text {across} font-size="9">{number[0]:.3g}</text>',
                f'<text {up} font-size="9">{number[1]:.3g}</text>',
            ]
        return lines

    def dots(self, points: Array, colour: str, size: float) -> str:
        # Dots that the eye cannot tell apart are drawn once.
        drawn = dict.fromkeys(f"M{x:.1f} {y:.1f}h0" for x, y in self.place(points).tolist())
        return f'<path d="{"".join(drawn)}" stroke="{colour}" stroke-width="{size:g}" stroke-linecap="round"/>'

    def segments(self, ends: Array, colour: str, width: float) -> str:
        placed = self.place(ends.reshape(-1, 2)).reshape(-1, 4)
        drawn = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in placed.tolist())
        return f'<path d="{drawn}" stroke="{colour}" stroke-width="{width:g}" fill="none"/>'


def draw_duals(duals: Mapping[str, DualSpace], data: Array) -> str:
    """A row a network: its cells and decision boundary, and its points from two sides.

    Blue are the maps of cells that hold samples, grey those of the others, red those of the data's cells.
    """
    lines: list[str] = []
    for row, (name, dual) in enumerate(duals.items()):
        plane = _Frame(0, row, -np.ones(2), np.ones(2))
        lines += plane.border(f"{name}: cells, decision boundary")
        lines.append(plane.segments(_walls(dual), _GREY, 0.6))
        boundary = decision_boundary(dual.atlas)
        lines.append(plane.segments(boundary.points.reshape(-1, 2, 2), _BLACK, 1.8))
        lines.append(plane.dots(data, _RED, 7))
        chosen = np.unique(dual.point_of_cell[dual.atlas.locate(data)])
        for column, (axes, title) in enumerate((([0, 1], "w_1 across, w_2 up"), ([0, 2], "w_1 across, b up")), 1):
            points = dual.points[:, axes]
            frame = _Frame(column, row, points.min(axis=0), points.max(axis=0))
            lines += frame.border(title)
            lines.append(frame.dots(points[dual.samples == 0], _GREY, 3))
            lines.append(frame.dots(points[dual.samples > 0], _BLUE, 3))
            lines.append(frame.dots(points[chosen], _RED, 7))
    return _picture("Cells and dual points of XOR networks", lines, len(duals))


def draw_transfers(transfers: Sequence[tuple[str, DualSpace, DualSpace, FacetJumps, Array]]) -> str:
    """A row a transfer: jumps at the source's facets, the thicker the larger, and the points from two sides.

    Blue are the target's points, orange the transferred ones.
    """
    lines: list[str] = []
    for row, (name, source, target, jumps, pieces) in enumerate(transfers):
        plane = _Frame(0, row, -np.ones(2), np.ones(2))
        lines += plane.border(f"{name}: jumps, the largest is {jumps.max:.3f}")
        ends = _ends(source, jumps.facet)
        # Ten widths, so that there are ten paths and not thousands.
        thickness = np.ceil(10 * jumps.largest / jumps.max)
        for width in range(1, 11):
            lines.append(plane.segments(ends[thickness == width], _BLACK if width > 1 else _GREY, 0.3 * width))
        for column, (axes, title) in enumerate((([0, 1], "w_1 across, w_2 up"), ([0, 2], "w_1 across, b up")), 1):
            both = np.concatenate([target.points[:, axes], pieces[:, axes]])
            frame = _Frame(column, row, both.min(axis=0), both.max(axis=0))
            lines += frame.border(title)
            lines.append(frame.dots(target.points[:, axes], _BLUE, 3))
            lines.append(frame.dots(pieces[:, axes], _ORANGE, 3))
    return _picture("Dual points carried from one XOR network to another", lines, len(transfers))


def _walls(dual: DualSpace) -> Array:
    """All inner facets as segments (n, 2, 2)."""
    atlas = dual.atlas
    return _ends(dual, np.flatnonzero(atlas.neighbour > atlas.facet_owner))


def _ends(dual: DualSpace, facet: npt.NDArray[np.int64]) -> Array:
    _, rows, generators = facet_generators(dual.atlas, facet)
    ends: Array = generators.points[rows].reshape(-1, 2, 2)
    return ends


def _picture(title: str, lines: list[str], rows: int) -> str:
    width, height = _LEFT + 3 * (_SIDE + _GAP), _TOP + rows * (_SIDE + _TOP)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif"',
        ' font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    return "\n".join([*head, *lines, "</svg>", ""])
