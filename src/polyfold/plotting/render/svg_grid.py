"""Grids of images as SVG: every image is a small PNG within the text, so that nothing is loaded."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from html import escape

import numpy as np
import numpy.typing as npt

from polyfold.plotting.render.style import GREY_SCALE, SIGNED_SCALE, scale_colours
from polyfold.plotting.render.svg import WIDTH
from polyfold.plotting.scene.shapes import Grid, Picture

_GAP, _TITLE = 8.0, 16.0
_LARGEST = 110.0


def draw_grid(grid: Grid, *, name: str = "picture", description: str = "") -> str:
    """A grid as an <svg> element, its rows below each other under the rows' names. `name` must be unique in its page.

    >>> text = draw_grid(Grid(((Picture(np.eye(2)), None),), ("slopes",)))
    >>> text.count("<image"), "data:image/png;base64," in text
    (1, True)
    """
    columns = max((len(row) for row in grid.rows), default=1)
    side = min(_LARGEST, (WIDTH - (columns - 1) * _GAP) / columns)
    drawn, y = [], 0.0
    for number, row in enumerate(grid.rows):
        if number < len(grid.row_names):
            drawn.append(f'<text x="0" y="{y + 12:.1f}">{escape(grid.row_names[number])}</text>')
            y += _TITLE
        titled = any(picture is not None and picture.title for picture in row)
        height = 0.0
        for k, picture in enumerate(row):
            if picture is None:
                continue
            x, tall = k * (side + _GAP), side * picture.pixels.shape[0] / picture.pixels.shape[1]
            height = max(height, tall)
            drawn.append(
                f'<image x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{tall:.1f}" preserveAspectRatio="none" '
                f'href="data:image/png;base64,{b64encode(png(_colours(picture))).decode()}"/>'
            )
            if picture.title:
                drawn.append(
                    f'<text x="{x + side / 2:.1f}" y="{y + tall + 13:.1f}" text-anchor="middle">'
                    f"{escape(picture.title)}</text>"
                )
        y += height + _GAP + (_TITLE if titled else 0.0)
    for note in grid.notes:
        drawn.append(f'<text x="0" y="{y + 8:.1f}">{escape(note)}</text>')
        y += _TITLE
    return (
        f'<svg class="pf" viewBox="0 0 {WIDTH:g} {max(y, 1.0):.1f}" role="img" '
        f'aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{escape(grid.title or "Pictures")}</title>'
        f'<desc id="{name}-text">{escape(description or grid.title)}</desc>{"".join(drawn)}</svg>'
    )


def _colours(picture: Picture) -> npt.NDArray[np.uint8]:
    """(rows, columns, 3): blue below zero and red above it, or white to black."""
    values = picture.pixels
    low, high = float(values.min()), float(values.max())
    if picture.signed:
        high = max(abs(low), abs(high))
        low = -high
    share = (values - low) / (high - low) if high > low else np.full(values.shape, 0.5 if picture.signed else 0.0)
    found = scale_colours(share, SIGNED_SCALE if picture.signed else GREY_SCALE)
    channels = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in found]
    return np.array(channels, dtype=np.uint8).reshape(*values.shape, 3)


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """An image (rows, columns, 3) as a PNG file.

    >>> png(np.zeros((1, 1, 3), dtype=np.uint8))[1:4]
    b'PNG'
    """
    rows, columns, _ = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
