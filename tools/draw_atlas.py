"""Draw the cells of the bundled Iris network as a plain SVG: docs/images/iris.svg.

    python tools/draw_atlas.py [--out FILE]

Each polygon is a cell; its colour is the species whose score is largest at the mean of the cell's corners,
its shade differs from cell to cell so that walls show.
"""

from __future__ import annotations

import argparse
import colorsys
from pathlib import Path

import numpy as np

import polyfold as pf
from polyfold.datasets import read

TARGET = Path(__file__).parents[1] / "docs" / "images" / "iris.svg"
LENGTH, WIDTH = 8.0, 3.0
SCALE, MARGIN = 90.0, 46.0
HUES = (0.58, 0.08, 0.38)


def ring(vertices: np.ndarray) -> np.ndarray:
    """The corners of a convex polygon in order around it."""
    away = vertices - vertices.mean(axis=0)
    return vertices[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]


def place(points: np.ndarray) -> np.ndarray:
    """From centimetres to the picture, whose second axis points down."""
    return np.column_stack([MARGIN + SCALE * points[:, 0], MARGIN / 2 + SCALE * (WIDTH - points[:, 1])])


def shade(hue: float, index: int) -> str:
    """A colour of one hue; neighbours in the atlas differ in lightness."""
    light = 0.62 + 0.24 * ((index * 0.6180339887) % 1.0)
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, light, 0.6))


def draw() -> str:
    """The picture as SVG text."""
    network = read("iris")
    atlas = pf.unfold(list(network.layers), pf.box([0.0, 0.0], [LENGTH, WIDTH]))
    ids = np.arange(len(atlas))
    corners = [ring(np.asarray(vertices)) for vertices in atlas.vertices(ids)]
    middles = np.array([polygon.mean(axis=0) for polygon in corners])
    A, c = atlas.maps(ids)
    winners = (np.einsum("kij,kj->ki", A, middles) + c).argmax(axis=1)

    right, bottom = place(np.array([[LENGTH, 0.0]]))[0]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 20:g} {bottom + 46:g}"'
        ' font-family="sans-serif" font-size="14">',
        f"<title>{len(atlas)} cells of a 5-7-4 network on Iris</title>",
        '<g stroke="#333" stroke-width="1" stroke-linejoin="round">',
    ]
    for index, polygon in enumerate(corners):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in place(polygon))
        lines.append(f'<polygon points="{points}" fill="{shade(HUES[winners[index]], index)}"/>')
    lines.append("</g>")
    for k, name in enumerate(network.outputs):
        x = MARGIN + 12 + 130 * k
        lines.append(f'<rect x="{x:g}" y="{bottom + 26:g}" width="12" height="12" fill="{shade(HUES[k], 1)}"/>')
        lines.append(f'<text x="{x + 18:g}" y="{bottom + 37:g}">{name}</text>')
    lines.append(f'<text x="{right:g}" y="{bottom + 18:g}" text-anchor="end">{network.inputs[0]}</text>')
    lines.append(f'<text transform="translate(28 {bottom:g}) rotate(-90)">{network.inputs[1]}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="Draw the bundled Iris network's cells.")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(draw(), encoding="utf-8")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
