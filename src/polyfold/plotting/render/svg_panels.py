"""Scenes in rows and columns as one SVG file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from polyfold.plotting.render.svg import WIDTH, draw, style
from polyfold.plotting.scene.shapes import Scene

_HEADING, _GAP = 24.0, 16.0


def draw_panels(rows: Sequence[Sequence[Scene]], *, title: str, description: str = "") -> str:
    """A file of its own: every scene under its title. Rows are as high as their highest scene.

    >>> import numpy as np
    >>> from polyfold.plotting.scene.shapes import Curve
    >>> line = Scene((Curve(np.array([[0.0, 0.0], [1.0, 2.0]])),), title="a line")
    >>> draw_panels([[line, line]], title="Two lines").count("<svg")
    3
    """
    drawn, top = [], 0.0
    for i, row in enumerate(rows):
        highest = 0.0
        for j, scene in enumerate(row):
            inner = draw(scene, name=f"panel-{i}-{j}")
            height = _height(inner)
            left = j * (WIDTH + _GAP)
            place = f'x="{left:g}" y="{top + _HEADING:g}" width="{WIDTH:g}" height="{height:g}"'
            drawn.append(
                f'<text x="{left + WIDTH / 2:g}" y="{top + 16:g}" text-anchor="middle">{escape(scene.title)}</text>'
            )
            drawn.append(inner.replace("<svg ", f"<svg {place} ", 1))
            highest = max(highest, height)
        top += _HEADING + highest
    width = max(map(len, rows), default=0) * (WIDTH + _GAP) - _GAP
    # An image in a page of any colour: it brings its paper along.
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pf" viewBox="0 0 {width:g} {top:g}" role="img" '
        f'aria-label="{escape(description or title)}"><title>{escape(title)}</title><style>{style()}</style>'
        f'<rect class="plot" width="{width:g}" height="{top:g}"/>'
    )
    return "\n".join([head, *drawn, "</svg>", ""])


def _height(picture: str) -> float:
    found = re.search(r'viewBox="0 0 \S+ ([0-9.]+)"', picture)
    assert found is not None
    return float(found[1])
