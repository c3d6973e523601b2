"""A plot as plain SVG: series of means with error bars over named places, on a logarithmic scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 460, 70, 16, 96, 50
COLOURS = ("#b2182b", "#ef8a62", "#2166ac", "#67a9cf")


@dataclass(frozen=True)
class Series:
    """A mean and a standard deviation for each place; None where there is none."""

    name: str
    points: list[tuple[float, float] | None]


def draw(title: str, places: list[str], places_are: str, values_are: str, series: list[Series]) -> str:
    """The picture as SVG text. Bars reach one standard deviation up and down."""
    if len(series) > len(COLOURS):
        raise ValueError(f"there are colours for {len(COLOURS)} series; these are {len(series)}")
    known = [point for each in series for point in each.points if point]
    low = math.floor(math.log10(min(mean for mean, _ in known)))
    high = math.ceil(math.log10(max(mean + deviation for mean, deviation in known)))
    step = (WIDTH - LEFT - RIGHT) / len(places)
    bottom = HEIGHT - BOTTOM

    def height(value: float) -> float:
        # A bar that would reach zero or beyond ends at the axis.
        share = (math.log10(value) - low) / (high - low) if value > 0 else 0.0
        return bottom - max(share, 0.0) * (bottom - TOP)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        y = height(10.0**power)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for k, place in enumerate(places):
        x = LEFT + (k + 0.5) * step
        lines.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{escape(place)}</text>')
    middle = (TOP + bottom) / 2
    lines.append(
        f'<text transform="translate(16 {middle:g}) rotate(-90)" text-anchor="middle">{escape(values_are)}</text>'
    )
    lines.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{escape(places_are)}</text>')
    for index, (each, colour) in enumerate(zip(series, COLOURS, strict=False)):
        y = 20 + 18 * index
        lines.append(f'<circle cx="{LEFT + 6}" cy="{y}" r="4" fill="{colour}"/>')
        lines.append(f'<text x="{LEFT + 16}" y="{y + 4}">{escape(each.name)}</text>')
        # Series stand a little apart, so that their bars do not hide one another.
        aside = (index - (len(series) - 1) / 2) * min(6.0, step / (len(series) + 1))
        lines.append(f'<g stroke="{colour}" fill="{colour}">')
        for k, point in enumerate(each.points):
            if point is None:
                continue
            x, (mean, deviation) = LEFT + (k + 0.5) * step + aside, point
            upper, lower = height(mean + deviation), height(mean - deviation)
            lines.append(
                f'<path d="M{x:.1f} {upper:.1f}V{lower:.1f}M{x - 3:.1f} {upper:.1f}h6M{x - 3:.1f} {lower:.1f}h6"/>'
            )
            lines.append(f'<circle cx="{x:.1f}" cy="{height(mean):.1f}" r="3"/>')
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])
