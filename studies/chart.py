"""Line charts as plain SVG: panels side by side with common axes, one colour a series, the same text every time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#b2182b", "#ef8a62", "#2166ac", "#67a9cf", "#5aae61", "#762a83")
_PANEL, _HEIGHT, _LEFT, _TOP, _BOTTOM, _GAP, _LEGEND = 300, 360, 58, 34, 54, 22, 18


@dataclass(frozen=True)
class Series:
    """Points (x, y) of one name. Dashed ones have no dots: they are what others are compared with."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """A chart of its own, with vertical lines at `marks`, each in the colour of that number."""

    title: str
    series: Sequence[Series]
    marks: Sequence[tuple[float, int]] = ()


@dataclass(frozen=True)
class Axis:
    """What is drawn along it, from where to where; a logarithmic one needs positive numbers. Ticks may have names."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False
    names: Sequence[str] = ()

    def named_ticks(self) -> list[tuple[float, str]]:
        """Ticks with what is written at them."""
        return list(zip(self.ticks, self.names or [f"{tick:g}" for tick in self.ticks], strict=True))

    def share(self, value: float) -> float:
        """How far along the axis a value lies: 0 to 1."""
        low, high, here = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return (here - low) / (high - low)


def powers(label: str, values: Sequence[float], base: int = 10) -> Axis:
    """A logarithmic axis that holds the values, with ticks at the powers of a number."""
    low = math.floor(math.log(min(values), base))
    high = max(low + 1, math.ceil(math.log(max(values), base)))
    ticks = [float(base) ** k for k in range(low, high + 1)]
    return Axis(label, ticks[0], ticks[-1], ticks, True)


def steps(label: str, values: Sequence[float], step: float) -> Axis:
    """A linear axis that holds the values, with ticks at the multiples of a number."""
    low, high = math.floor(min(values) / step), math.ceil(max(values) / step)
    high = max(high, low + 1)
    return Axis(label, low * step, high * step, [k * step for k in range(low, high + 1)])


def places(label: str, names: Sequence[str]) -> Axis:
    """An axis of named places 0, 1, 2, ..., one after the other."""
    ticks = [float(k) for k in range(len(names))]
    return Axis(label, 0.0, max(1.0, ticks[-1]), ticks, names=names)


def draw(title: str, panels: Sequence[Panel], x: Axis, y: Axis) -> str:
    """The picture as SVG text. The legend names each series once, under the panels."""
    names = {(one.name, one.colour, one.dashed): None for panel in panels for one in panel.series}
    width = _LEFT + len(panels) * (_PANEL + _GAP)
    height = _HEIGHT + _LEGEND * len(names) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        ' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    bottom = _HEIGHT - _BOTTOM
    middle = (_TOP + bottom) / 2
    lines.append(
        f'<text transform="translate(14 {middle:g}) rotate(-90)" text-anchor="middle">{escape(y.label)}</text>'
    )
    for number, panel in enumerate(panels):
        lines += _panel(panel, _LEFT + number * (_PANEL + _GAP), x, y)
    for row, (name, colour, dashed) in enumerate(names):
        at = _HEIGHT + _LEGEND * row
        lines.append(f'<path d="M{_LEFT} {at}h24" {_stroke(colour, dashed)}/>')
        lines.append(f'<text x="{_LEFT + 32}" y="{at + 4}">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel, left: float, x: Axis, y: Axis) -> list[str]:
    bottom = _HEIGHT - _BOTTOM

    def across(value: float) -> float:
        return left + x.share(value) * _PANEL

    def up(value: float) -> float:
        return bottom - y.share(value) * (bottom - _TOP)

    lines = [f'<text x="{left + _PANEL / 2:g}" y="{_TOP - 12}" text-anchor="middle">{escape(panel.title)}</text>']
    for tick, name in y.named_ticks():
        lines.append(f'<path d="M{left:g} {up(tick):.1f}h{_PANEL}" stroke="#ddd"/>')
        if left == _LEFT:  # the others have the same
            lines.append(
                f'<text x="{left - 5:g}" y="{up(tick) + 4:.1f}" text-anchor="end" font-size="10">{name}</text>'
            )
    for tick, name in x.named_ticks():
        at = across(tick)
        lines.append(f'<path d="M{at:.1f} {bottom}v4" stroke="#888"/>')
        lines.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="10">{escape(name)}</text>')
    lines.append(f'<text x="{left + _PANEL / 2:g}" y="{bottom + 34}" text-anchor="middle">{escape(x.label)}</text>')
    for value, colour in panel.marks:
        lines.append(f'<path d="M{across(value):.1f} {_TOP}V{bottom}" {_stroke(colour, True)}/>')
    for one in panel.series:
        way = [(across(a), up(b)) for a, b in one.points]
        drawn = "L".join(f"{a:.1f} {b:.1f}" for a, b in way)
        lines.append(f'<path d="M{drawn}" fill="none" {_stroke(one.colour, one.dashed)}/>')
        if not one.dashed:
            fill = COLOURS[one.colour]
            lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{fill}"/>' for a, b in way]
    return lines


def _stroke(colour: int, dashed: bool) -> str:
    return f'stroke="{COLOURS[colour]}" stroke-width="1.5"' + (' stroke-dasharray="5 4"' if dashed else "")
