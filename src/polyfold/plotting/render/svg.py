"""Scenes as SVG: small, without any script, in colours that the page's light or dark style chooses.

Coordinates are rounded to a tenth of a picture's unit, which is less than a pixel on most screens. Shapes have their
texts as tooltips as long as there are few enough of them; what is left out is said below the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10
from pathlib import Path

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import PolyfoldError, how_many
from polyfold.plotting.render.style import CLASS_COLOURS, SCALE
from polyfold.plotting.scene.shapes import Bars, Colouring, Curve, Mesh, Part, Points, Polygons, Scene, Segments

WIDTH, HEIGHT, LOW = 480.0, 330.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 12.0, 10.0, 38.0
_LEGEND_ROW, _LETTER = 17.0, 7.2
_COLOURS, _STEPS = len(CLASS_COLOURS), len(SCALE)
# The colours of classes on dark screens, lighter ones of the same hues.
_DARK = ("#4aa8e0", "#f0b53c", "#2fc79a", "#e09cc4", "#8fd0f5", "#f08a4b", "#dcd04a", "#a79fff")
_TICKS = 6
_MARK = 3.4
# With more shapes than this none has a tooltip, and shapes of one colour are one path.
_TOOLTIPS = 1500
# With more polygons than this those too small to be seen are left out.
_ALL_SIZES = 4000
_LEAST_SIDE = 0.5


def style() -> str:
    """The style sheet that pictures need, once a page. Colours are variables, with other values on dark screens."""
    rules = Path(__file__).with_name("svg.css").read_text(encoding="utf-8")
    for k in range(_COLOURS):
        rules += f"svg.pf .k{k} {{ fill: var(--c{k}); }} svg.pf .l{k} {{ stroke: var(--c{k}); }}\n"
    rules += "svg.pf .kn { fill: var(--none); } svg.pf .ln { stroke: var(--none); }\n"
    for k, colour in enumerate(SCALE):
        rules += f"svg.pf .s{k} {{ fill: {colour}; }} svg.pf .t{k} {{ stroke: {colour}; }}\n"
    light, dark = (
        "".join(f"--c{k}: {colour}; " for k, colour in enumerate(colours)) for colours in (CLASS_COLOURS, _DARK)
    )
    return (
        f":root {{ {light}--none: #c3c6c9; --plot: #ffffff; --grid: #9a9ea3; --mark: #111111; --faint: #85898d; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}--none: #4a5158; --plot: #1b2024; "
        f"--grid: #717a84; --mark: #f5f5f5; --faint: #7d8690; }} }}\n{rules}"
    )


def draw(scene: Scene, *, name: str = "picture", description: str = "", standalone: bool = False) -> str:
    """A flat scene as an <svg> element. `name` must be unique in its page.

    A standalone one has its style sheet in it, so that it may be a file of its own.

    >>> text = draw(Scene((Curve(np.array([[0.0, 0.0], [1.0, 2.0]]), name="f"),), title="A line"))
    >>> text.startswith("<svg"), "<title id=" in text, "http:" in text
    (True, True, False)
    """
    for part in scene.parts:
        if isinstance(part, Mesh) or (isinstance(part, Points | Segments | Curve) and _places(part).shape[1] != 2):
            raise PolyfoldError(f"an SVG picture is flat, and {part.name or 'a part'} of this scene is not")
    return _Drawing(scene, name, description, standalone).text()


@dataclass(frozen=True)
class _Frame:
    """From coordinates to the picture."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float
    top: float
    width: float
    height: float

    def places(self, points: Array) -> Array:
        across = self.left + (points[:, 0] - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        down = self.top + (self.y[1] - points[:, 1]) / (self.y[1] - self.y[0]) * self.height
        # Far outside the frame nothing is seen, and renderers do not like huge numbers.
        found: Array = np.clip(np.stack([across, down], axis=1), -4 * WIDTH, 5 * WIDTH)
        return found


class _Drawing:
    def __init__(self, scene: Scene, name: str, description: str, standalone: bool) -> None:
        self.scene, self.name, self.description, self.standalone = scene, name, description, standalone
        self.notes = list(scene.notes)
        # Labels outside of the frame.
        self.unclipped: list[str] = []
        self.legend = _legend(scene.parts)
        self.bars = next((part for part in scene.parts if isinstance(part, Bars)), None)
        rows = _rows([text for _, text in self.legend.swatches])
        top = _TOP + _LEGEND_ROW * len(rows) + (2 * _LEGEND_ROW if self.legend.scale else 0)
        self.frame = self._frame(top)
        self.rows = rows

    def _frame(self, top: float) -> _Frame:
        width, height = WIDTH - _LEFT - _RIGHT, (HEIGHT if self.bars is None else LOW) - _TOP - _BOTTOM
        x, y = self._limits()
        if self.scene.axes.equal:
            height = min(1.3 * width, max(0.35 * width, width * (y[1] - y[0]) / (x[1] - x[0])))
        return _Frame(x, y, _LEFT, top, width, height)

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        if self.bars is not None:
            return (0.0, float(max(1, len(self.bars.labels)))), (
                0.0,
                1.08 * float(self.bars.heights.max(initial=0.0)) or 1.0,
            )
        if self.scene.axes.limits is not None:
            return self.scene.axes.limits[0], self.scene.axes.limits[1]
        points = np.concatenate([_places(part) for part in self.scene.parts] or [np.zeros((0, 2))])
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return (0.0, 1.0), (0.0, 1.0)
        lo, hi = points.min(axis=0), points.max(axis=0)
        room = np.where(hi > lo, 0.04 * (hi - lo), 1.0)
        (x0, y0), (x1, y1) = (lo - room).tolist(), (hi + room).tolist()
        return (x0, x1), (y0, y1)

    # -- the whole

    def text(self) -> str:
        drawn = "".join(self._part(part) for part in self.scene.parts)
        frame = self.frame
        height = frame.top + frame.height + _BOTTOM
        below = "".join(
            f'<text x="{_n(frame.left)}" y="{_n(height + 12 + 15 * k)}">{escape(line)}</text>'
            for k, line in enumerate(line for note in self.notes for line in _wrapped(note))
        )
        height += 15 * sum(len(_wrapped(note)) for note in self.notes)
        title = escape(self.scene.title or "Picture")
        inside = f'<clipPath id="{self.name}-frame"><rect {self._box()}/></clipPath>'
        namespace = ' xmlns="http://www.w3.org/2000/svg"' if self.standalone else ""
        own = f"<style>{style()}</style>" if self.standalone else ""
        return (
            f'<svg{namespace} class="pf" viewBox="0 0 {_n(WIDTH)} {_n(height)}" role="img" '
            f'aria-labelledby="{self.name}-title {self.name}-text"><title id="{self.name}-title">{title}</title>'
            f'<desc id="{self.name}-text">{escape(self.description or self.scene.title)}</desc>{own}'
            f'<defs>{inside}</defs>{self._key()}<rect class="plot" {self._box()}/>'
            f'<g clip-path="url(#{self.name}-frame)">{drawn}</g>{"".join(self.unclipped)}{self._axes()}{below}</svg>'
        )

    def _box(self) -> str:
        frame = self.frame
        return f'x="{_n(frame.left)}" y="{_n(frame.top)}" width="{_n(frame.width)}" height="{_n(frame.height)}"'

    def _axes(self) -> str:
        frame = self.frame
        bottom, found = frame.top + frame.height, []
        if self.bars is None:
            for value in _ticks(frame.x):
                across = _n(frame.left + (value - frame.x[0]) / (frame.x[1] - frame.x[0]) * frame.width)
                found.append(
                    f'<line class="tick" x1="{across}" x2="{across}" y1="{_n(bottom)}" y2="{_n(bottom + 4)}"/>'
                )
                found.append(f'<text x="{across}" y="{_n(bottom + 16)}" text-anchor="middle">{_number(value)}</text>')
        for value in _ticks(frame.y):
            down = frame.top + (frame.y[1] - value) / (frame.y[1] - frame.y[0]) * frame.height
            found.append(
                f'<line class="tick" x1="{_n(frame.left - 4)}" x2="{_n(frame.left)}" y1="{_n(down)}" y2="{_n(down)}"/>'
            )
            found.append(f'<text x="{_n(frame.left - 7)}" y="{_n(down + 4)}" text-anchor="end">{_number(value)}</text>')
        labels = [*self.scene.axes.labels, "", ""]
        middle = frame.left + frame.width / 2
        found.append(f'<text x="{_n(middle)}" y="{_n(bottom + 32)}" text-anchor="middle">{escape(labels[0])}</text>')
        found.append(
            f'<text transform="translate(11 {_n(frame.top + frame.height / 2)}) rotate(-90)" text-anchor="middle">'
            f"{escape(labels[1])}</text>"
        )
        return "".join(found)

    # -- what colours mean

    def _key(self) -> str:
        found, y = [], _TOP
        for row in self.rows:
            x = self.frame.left
            for number in row:
                swatch, text = self.legend.swatches[number]
                found.append(f'<g transform="translate({_n(x)} {_n(y)})">{swatch}</g>')
                found.append(f'<text x="{_n(x + 16)}" y="{_n(y + 9)}">{escape(text)}</text>')
                x += _entry_width(text)
            y += _LEGEND_ROW
        scale = self.legend.scale
        if scale is not None:
            found.append(f'<text x="{_n(self.frame.left)}" y="{_n(y + 9)}">{escape(scale.label)}</text>')
            y += _LEGEND_ROW
            lo, hi = _ends(scale.values)
            side = 14.0
            low = f"{lo:.4g}"
            x = self.frame.left + len(low) * _LETTER + 6
            found.append(f'<text x="{_n(self.frame.left)}" y="{_n(y + 9)}">{low}</text>')
            found += [
                f'<rect class="s{k}" x="{_n(x + side * k)}" y="{_n(y)}" width="{_n(side)}" height="11"/>'
                for k in range(_STEPS)
            ]
            found.append(f'<text x="{_n(x + side * _STEPS + 6)}" y="{_n(y + 9)}">{hi:.4g}</text>')
        return "".join(found)

    # -- parts

    def _part(self, part: Part) -> str:
        match part:
            case Polygons():
                return self._polygons(part)
            case Segments():
                return self._segments(part)
            case Points():
                return self._points(part)
            case Curve():
                number = [one for one in self.scene.parts if isinstance(one, Curve)].index(part) % _COLOURS
                path = _path(self.frame.places(part.points), False)
                return f'<path class="line {part.role} l{number}" d="{path}">{_tooltip(part.name)}</path>'
            case Bars():
                return self._drawn_bars(part)
            case _:
                raise AssertionError("draw() lets flat parts pass only")

    def _polygons(self, part: Polygons) -> str:
        places = self.frame.places(part.points)
        count = len(part.start) - 1
        kept = list(range(count))
        if count > _ALL_SIZES:
            lo = np.minimum.reduceat(places, part.start[:-1])
            side = (np.maximum.reduceat(places, part.start[:-1]) - lo).max(axis=1)
            kept = np.flatnonzero(side >= _LEAST_SIDE).tolist()
            if len(kept) < count:
                self.notes.append(f"{how_many(count - len(kept), 'piece')} too small to be seen are not drawn.")
        kinds = _kinds(part.colouring, count, "kn")
        paths = {k: _path(places[part.start[k] : part.start[k + 1]], True) for k in kept}
        return f'<g class="{part.role}">{_shapes(paths, kinds, part.hover)}</g>'

    def _segments(self, part: Segments) -> str:
        ends = self.frame.places(part.ends.reshape(-1, 2)).reshape(-1, 2, 2)
        paths = {k: _path(ends[k], False) for k in range(len(ends))}
        kinds = _kinds(part.colouring, len(ends), "")
        # The same colours for lines: k and s are fills.
        kinds = [kind.replace("k", "l").replace("s", "t") for kind in kinds]
        return f'<g class="line {part.role}">{_shapes(paths, kinds, part.hover)}</g>'

    def _points(self, part: Points) -> str:
        places = self.frame.places(part.points)
        kinds = _kinds(part.colouring, len(places), "km")
        largest = 1.0 if part.sizes is None else float(part.sizes.max(initial=0.0)) or 1.0
        radii = np.full(len(places), _MARK) if part.sizes is None else 1.5 + 8.0 * np.sqrt(part.sizes / largest)
        if part.role == "marked":
            radii = radii + 2.5
        shape = np.zeros(len(places))
        if part.colouring is not None and part.colouring.names is not None:
            shape = np.maximum(np.nan_to_num(part.colouring.values), 0.0)
        paths = {k: _marker(int(shape[k]), places[k, 0], places[k, 1], float(radii[k])) for k in range(len(places))}
        return f'<g class="{part.role}">{_shapes(paths, kinds, part.hover)}</g>'

    def _drawn_bars(self, part: Bars) -> str:
        frame, found = self.frame, []
        step = frame.width / max(1, len(part.labels))
        widest = max((len(label) for label in part.labels), default=0)
        every = max(1, ceil((widest + 1) * _LETTER / step))
        for k, (label, height) in enumerate(zip(part.labels, part.heights.tolist(), strict=True)):
            tall = height / frame.y[1] * frame.height
            x, y = frame.left + step * (k + 0.1), frame.top + frame.height - tall
            found.append(
                f'<rect class="bar" x="{_n(x)}" y="{_n(y)}" width="{_n(0.8 * step)}" height="{_n(tall)}">'
                f"{_tooltip(f'{label}: {height:g}')}</rect>"
            )
            if k % every == 0:
                self.unclipped.append(
                    f'<text x="{_n(frame.left + step * (k + 0.5))}" y="{_n(frame.top + frame.height + 16)}" '
                    f'text-anchor="middle">{escape(label)}</text>'
                )
        return "".join(found)


# -- legends


@dataclass(frozen=True, eq=False)
class _Legend:
    swatches: tuple[tuple[str, str], ...]
    scale: Colouring | None


def _legend(parts: Sequence[Part]) -> _Legend:
    swatches: dict[str, str] = {}
    scale = None
    curves = [part for part in parts if isinstance(part, Curve)]
    for part in parts:
        colouring = getattr(part, "colouring", None)
        if isinstance(part, Curve):
            if part.name and len(curves) > 1:
                swatches[part.name] = f'<path class="line curve l{curves.index(part) % _COLOURS}" d="M0 5H12"/>'
        elif colouring is None:
            if part.name and isinstance(part, Segments) and len(part.ends):
                swatches[part.name] = f'<path class="line {part.role}" d="M0 5H12"/>'
            elif part.name and isinstance(part, Points):
                swatches[part.name] = f'<g class="{part.role}"><path class="km" d="{_marker(0, 6, 5, 4)}"/></g>'
        elif colouring.names is None:
            scale = scale or colouring
        elif isinstance(part, Polygons | Segments | Points):
            for number in sorted({int(value) for value in colouring.values if isfinite(value) and value >= 0}):
                text = colouring.names[number]
                if isinstance(part, Points):
                    mark = f'<path class="k{number % _COLOURS}" d="{_marker(number, 6, 5, 4)}"/>'
                    swatches[f"{part.name}: {text}" if part.name else text] = f'<g class="{part.role}">{mark}</g>'
                elif isinstance(part, Segments) and text:
                    swatches[text] = f'<path class="line {part.role} l{number % _COLOURS}" d="M0 5H12"/>'
                elif text and text not in swatches:
                    mark = f'<path class="k{number % _COLOURS}" d="M0 0H12V11H0Z"/>'
                    swatches[text] = f'<g class="{part.role}">{mark}</g>'
    return _Legend(tuple((swatch, text) for text, swatch in swatches.items()), scale)


def _entry_width(text: str) -> float:
    return 30.0 + len(text) * _LETTER


def _rows(entries: Sequence[str]) -> list[list[int]]:
    """Which entries stand in which row of the legend."""
    rows: list[list[int]] = []
    room = 0.0
    for number, text in enumerate(entries):
        if not rows or _entry_width(text) > room:
            rows.append([])
            room = WIDTH - _LEFT
        rows[-1].append(number)
        room -= _entry_width(text)
    return rows


def _wrapped(note: str) -> list[str]:
    lines = [""]
    for word in note.split():
        if (len(lines[-1]) + len(word) + 1) * _LETTER > WIDTH - _LEFT:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


# -- shapes


def _shapes(paths: dict[int, str], kinds: Sequence[str], hover: Sequence[str]) -> str:
    """One path a shape if they are few and have texts, else one path a colour."""
    if hover and len(paths) <= _TOOLTIPS:
        return "".join(f'<path{_class(kinds[k])} d="{path}">{_tooltip(hover[k])}</path>' for k, path in paths.items())
    together: dict[str, list[str]] = {}
    for k, path in paths.items():
        together.setdefault(kinds[k], []).append(path)
    return "".join(f'<path{_class(kind)} d="{"".join(some)}"/>' for kind, some in together.items())


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _tooltip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _kinds(colouring: Colouring | None, count: int, plain: str) -> list[str]:
    """The class of style of every shape."""
    if colouring is None:
        return [plain] * count
    values = colouring.values
    if colouring.names is not None:
        return [f"k{int(value) % _COLOURS}" if isfinite(value) and value >= 0 else "kn" for value in values.tolist()]
    lo, hi = _ends(values)
    width = hi - lo
    return [
        "kn" if not isfinite(value) else f"s{min(_STEPS - 1, int(_STEPS * (value - lo) / width)) if width > 0 else 0}"
        for value in values.tolist()
    ]


def _ends(values: Array) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def _marker(number: int, x: float, y: float, radius: float) -> str:
    """A closed outline around a place; classes differ in shape as well as in colour."""
    outlines = (
        [(1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)],
        [(0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85)],
        [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        [(0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)],
        [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    )
    shape = outlines[number % len(outlines)]
    return _path(np.array([[x + radius * dx, y + radius * dy] for dx, dy in shape]), True)


def _path(places: Array, closed: bool) -> str:
    (x, y), *others = places.tolist()
    return f"M{_n(x)} {_n(y)}" + "".join(f"L{_n(a)} {_n(b)}" for a, b in others) + ("Z" if closed else "")


def _places(part: Part) -> Array:
    match part:
        case Segments(ends):
            return ends.reshape(-1, ends.shape[-1])
        case Bars() | Mesh():
            return np.zeros((0, 2))
        case _:
            return part.points


def _ticks(limits: tuple[float, float]) -> list[float]:
    """Round numbers between the limits."""
    lo, hi = limits
    rough = (hi - lo) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    # An end that misses a round number by rounding alone has its tick.
    first, last = ceil(round(lo / step, 6)), floor(round(hi / step, 6))
    return [round(k * step, 12 - floor(log10(step))) + 0.0 for k in range(first, last + 1)]


def _number(value: float) -> str:
    """A value beside its tick, with a true minus sign."""
    return f"{value:g}".replace("-", "−")


def _n(value: float) -> str:
    """A coordinate in tenths."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
