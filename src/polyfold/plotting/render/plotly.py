"""Scenes as Plotly figures: few traces, whatever the number of shapes.

Filled polygons are one trace a colour: rings with gaps between them. Such a trace can say one text at most, so texts
are on invisible dots of one more trace, spread over the polygons. Many polygons are an image at the back instead; many
lines and points are drawn by WebGL, and then all of them, since Plotly puts those above all others. See
docs/adr/0031-plots.md.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.types import Array, Ids
from polyfold.plotting.geometry.raster import raster
from polyfold.plotting.geometry.spread import spread
from polyfold.plotting.geometry.view import View
from polyfold.plotting.render import style
from polyfold.plotting.render.common import all_notes, height_by_width, is_solid, limits_of
from polyfold.plotting.render.faces import outlines, text_notes, texts_of_corners
from polyfold.plotting.render.png import data_uri
from polyfold.plotting.render.slider import with_slider
from polyfold.plotting.render.style import LOOKS, Shades, shades
from polyfold.plotting.scene.shapes import (
    Bars,
    Curve,
    Drawing,
    Grid,
    Mesh,
    Panels,
    Part,
    Points,
    Polygons,
    Scene,
    Segments,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


# From this many lines, points or texts on, WebGL draws them; SVG is sharper, and everywhere.
WEBGL_FROM = 2_000
# From this many on, polygons are an image with so many points along its longer side.
IMAGE_FROM, IMAGE_SIDE = 5_000, 2_000
# Texts are on a lattice of so many points along either side, besides one for each shape.
_ACROSS = 24
_HEIGHT, _PANEL, _PICTURE, _WIDTH, _NARROWEST = 480, 320, 150, 800, 560
_LINE, _WRAP, _ENTRIES = 16, 92, 5
# A little farther away than Plotly's own, so that no corner is cut off.
_CAMERA = {"eye": {"x": 1.45, "y": -1.65, "z": 1.0}, "center": {"x": 0, "y": 0, "z": -0.12}}


def draw(drawing: Drawing) -> Figure:
    """The figure of a scene, of scenes side by side, or of a grid of images."""
    require("plotly", extra="plot", purpose="a plot")
    return _draw(_as_markup(drawing))


def _as_markup(value: Any) -> Any:
    """The same with every text escaped: Plotly reads all of them as HTML, and names are the users' own."""
    if isinstance(value, str):
        return escape(value, quote=False).replace("\n", "<br>")
    if isinstance(value, list | tuple):
        return type(value)(map(_as_markup, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _as_markup(getattr(value, each.name)) for each in fields(value)})
    return value


def _draw(drawing: Drawing) -> Figure:
    if isinstance(drawing, Grid):
        return _grid(drawing)
    if isinstance(drawing, Panels) and drawing.slider:
        notes = tuple(dict.fromkeys(note for scene in drawing.scenes for note in scene.notes))
        alike = [replace(scene, title=drawing.title, notes=(*drawing.notes, *notes)) for scene in drawing.scenes]
        return with_slider([_draw(scene) for scene in alike], [scene.title for scene in drawing.scenes])
    scenes = drawing.scenes if isinstance(drawing, Panels) else (drawing,)
    from plotly.subplots import make_subplots

    titles = [scene.title for scene in scenes] if isinstance(drawing, Panels) else None
    kinds = [[{"type": "scene" if is_solid(scene) else "xy"} for scene in scenes]]
    figure = make_subplots(
        1, len(scenes), specs=kinds, subplot_titles=titles, horizontal_spacing=0.28 / len(scenes) ** 2
    )
    for column, scene in enumerate(scenes, start=1):
        _fill(figure, scene, column)
    notes = (*all_notes(drawing, scenes), *image_notes(scenes), *text_notes(scenes))
    height = _height(scenes)
    _finish(figure, drawing.title, notes, height, 30 if titles else 8)
    share = height_by_width(scenes[0]) if len(scenes) == 1 else None
    if share:
        # A plane of one scale has a width of its own; else Plotly would put scales and titles far away from it.
        figure.update_layout(width=max(_NARROWEST, round(height / share + 120 + 80 * len(_with_scales(figure, 1)))))
    return figure


def _height(scenes: tuple[Scene, ...]) -> int:
    """Of what is drawn, in pixels: a plane of one scale about fills its place in a window of usual width."""
    most, width = (_HEIGHT, _WIDTH) if len(scenes) == 1 else (_PANEL, _PANEL)
    shares = [share for scene in scenes if (share := height_by_width(scene))]
    return most if len(shares) < len(scenes) else round(min(most, max(shares) * width))


def image_notes(scenes: tuple[Scene, ...]) -> tuple[str, ...]:
    """That polygons became an image, if they did."""
    counts = [len(p.start) - 1 for scene in scenes for p in scene.parts if isinstance(p, Polygons) and is_image(p)]
    what = f"drawn as an image of {IMAGE_SIDE:,} points a side, without outlines: a smaller view shows them as polygons"
    return tuple(f"{count:,} polygons are {what}." for count in counts)


def _fill(figure: Figure, scene: Scene, column: int) -> None:
    """Put a scene's parts into a column of the figure."""
    solid = is_solid(scene)
    pen = _Pen("3d" if solid else "gl" if sum(map(_drawn_one_by_one, scene.parts)) >= WEBGL_FROM else "")
    for part in scene.parts:
        for trace in pen.traces(part):
            figure.add_trace(trace, row=1, col=column)
        if isinstance(part, Polygons) and is_image(part):
            axes = {f"{axis}ref": axis + (str(column) if column > 1 else "") for axis in "xy"}
            figure.add_layout_image(**_image(part, scene), **axes)
    if solid:
        figure.update_scenes(_space(scene), row=1, col=column)
    else:
        x, y = _plane(scene, column)
        figure.update_xaxes(x, row=1, col=column)
        figure.update_yaxes(y, row=1, col=column)
    for bar, trace in enumerate(_with_scales(figure, column)):
        domain = figure.get_subplot(1, column).domain.x if solid else figure.get_subplot(1, column).xaxis.domain
        trace.marker.colorbar.update(x=domain[1] + 0.01 + 0.09 * bar, xanchor="left", thickness=14, len=0.9)


def _with_scales(figure: Figure, column: int) -> list[Any]:
    subplot = figure._grid_ref[0][column - 1][0].trace_kwargs  # which traces belong to the column
    return [
        trace
        for trace in figure.data
        if "marker" in trace and trace.marker.showscale and all(trace[k] == v for k, v in subplot.items())
    ]


def _drawn_one_by_one(part: Part) -> int:
    """How many lines, points and texts of a part the browser has to draw."""
    if isinstance(part, Segments):
        return len(part.ends)
    if isinstance(part, Polygons):
        return len(part.hover) - list(part.hover).count("")
    return 0 if isinstance(part, Bars) else len(part.points)


def is_image(part: Polygons) -> bool:
    """Whether polygons are too many to be drawn as such."""
    return len(part.start) > IMAGE_FROM


def _image(part: Polygons, scene: Scene) -> dict[str, Any]:
    """Polygons as an image over what the scene shows."""
    limits = scene.axes.limits or tuple(zip(part.points.min(axis=0), part.points.max(axis=0), strict=True))
    (x0, x1), (y0, y1) = limits[:2]
    shape = np.array([x1 - x0, y1 - y0]) if scene.axes.equal else np.ones(2)
    columns, rows = np.maximum(1, np.round(IMAGE_SIDE * shape / shape.max())).astype(int).tolist()
    found = shades(part.colouring, len(part.start) - 1, part.role, area=True)
    owner = raster(part.start, part.points, View(np.array([x0, y0]), np.array([x1, y1])), columns, rows)
    index = np.where(owner >= 0, found.group[owner], -1)
    return {
        "source": data_uri(index[::-1], found.colours),
        "x": x0,
        "y": y1,
        "sizex": x1 - x0,
        "sizey": y1 - y0,
        "sizing": "stretch",
        "layer": "below",
    }


class _Pen:
    """Turns parts into traces: in the plane, in the plane by WebGL ("gl") or in space ("3d")."""

    def __init__(self, kind: str) -> None:
        import plotly.graph_objects as go

        self.go = go
        self.solid = kind == "3d"
        self.scatter = {"": go.Scatter, "gl": go.Scattergl, "3d": go.Scatter3d}[kind]

    def traces(self, part: Part) -> Iterator[Any]:
        if isinstance(part, Polygons):
            yield from self._polygons(part)
        elif isinstance(part, Segments):
            yield from self._segments(part)
        elif isinstance(part, Points):
            yield from self._points(part)
        elif isinstance(part, Curve):
            look = LOOKS[part.role]
            colour = look.colour if part.number is None else style.class_colour(part.number)
            yield self._line(part.points, colour, look.width, part.name)
        elif isinstance(part, Mesh):
            yield from self._mesh(part)
        else:
            yield self._bars(part)

    def _polygons(self, part: Polygons) -> Iterator[Any]:
        found = shades(part.colouring, len(part.start) - 1, part.role, area=True)
        look = LOOKS[part.role]
        for number, (colour, name) in enumerate(zip(found.colours, found.names, strict=True)):
            if is_image(part):
                if name:
                    yield self._key(colour, name)
                continue
            x, y = rings(part.start, part.points, np.flatnonzero(found.group == number))
            yield self.go.Scatter(
                x=x,
                y=y,
                mode="lines",
                fill="toself",
                fillcolor=colour,
                # Without outlines, a little of a polygon's own colour closes the seams between neighbours.
                line={"color": style.INK if look.width else colour, "width": look.width or 0.5},
                opacity=look.opacity,
                hoverinfo="skip",
                name=name,
                showlegend=bool(name),
            )
        if found.limits:
            yield self._scale(found)
        if part.hover:
            owner, at = spread(part.start, part.points, _ACROSS)
            said = np.array(part.hover, dtype=object)
            told = np.array([bool(text) for text in part.hover])[owner]
            yield self._texts(at[told], said[owner[told]].tolist())

    def _segments(self, part: Segments) -> Iterator[Any]:
        found = shades(part.colouring, len(part.ends), part.role)
        named = False
        for number, colour in enumerate(found.colours):
            ends = part.ends[found.group == number]
            gap = np.full((len(ends), 1, ends.shape[2]), np.nan)
            points = np.concatenate([ends, gap], axis=1).reshape(-1, ends.shape[2])[:-1]
            name = found.names[number] or ("" if named else part.name)
            named = named or name == part.name
            yield self._line(points, colour, LOOKS[part.role].width, name)
        if found.limits:
            yield self._scale(found)
        if part.hover:
            yield self._texts(part.ends.mean(axis=1), list(part.hover))

    def _points(self, part: Points) -> Iterator[Any]:
        found = shades(part.colouring, len(part.points), part.role)
        look = LOOKS[part.role]
        sizes = np.full(len(part.points), look.size)
        if part.sizes is not None and len(part.sizes):
            sizes = look.size * np.sqrt(1 + 8 * part.sizes / max(float(part.sizes.max()), 1.0))
        said = np.array(part.hover, dtype=object)
        for number, colour in enumerate(found.colours):
            rows = np.flatnonzero(found.group == number)
            name = found.names[number] or (part.name if number == 0 else "")
            yield self.scatter(
                **self._places(part.points[rows]),
                mode="markers",
                marker={
                    "color": colour,
                    "size": look.size * (0.6 if self.solid else 1) if part.sizes is None else sizes[rows],
                    "line": {"color": "white", "width": 0.7},
                },
                text=said[rows].tolist() if len(said) else None,
                hoverinfo="text" if len(said) else "skip",
                name=name,
                showlegend=bool(name),
            )
        if found.limits:
            yield self._scale(found)

    def _mesh(self, part: Mesh) -> Iterator[Any]:
        pieces = int(part.piece.max()) + 1 if len(part.piece) else 0
        found = shades(part.colouring, pieces, part.role, area=True)
        said = texts_of_corners(part)
        yield self.go.Mesh3d(
            **self._places(part.points),
            **dict(zip("ijk", part.triangles.T, strict=True)),
            facecolor=np.array(found.colours, dtype=object)[found.group[part.piece]],
            flatshading=True,
            lighting={"ambient": 0.75, "diffuse": 0.5, "specular": 0.05},
            opacity=LOOKS[part.role].opacity,
            text=said,
            hoverinfo="text" if said else "skip",
            name=part.name,
            showlegend=False,
        )
        if part.outlined:
            yield self._line(outlines(part), style.INK, LOOKS[part.role].width, "")
        for colour, name in zip(found.colours, found.names, strict=True):
            if name:
                yield self._key(colour, name)
        if found.limits:
            yield self._scale(found)

    def _bars(self, part: Bars) -> Any:
        common = {"y": part.heights, "name": part.name, "showlegend": bool(part.name)}
        if part.edges is None:
            return self.go.Bar(x=list(part.labels), **common)
        middle, width = (part.edges[1:] + part.edges[:-1]) / 2, np.diff(part.edges)
        said = [f"{label}: {height:g}" for label, height in zip(part.labels, part.heights, strict=True)]
        return self.go.Bar(x=middle, width=width, hovertext=said, hoverinfo="text", **common)

    # -- the pieces that these are made of

    def _places(self, points: Array) -> dict[str, Any]:
        return {axis: points[:, k] for k, axis in enumerate("xyz"[: points.shape[1]])}

    def _line(self, points: Array, colour: str, width: float, name: str) -> Any:
        return self.scatter(
            **self._places(points),
            mode="lines",
            line={"color": colour, "width": width * (2 if self.solid else 1)},
            hoverinfo="skip",
            name=name,
            showlegend=bool(name),
        )

    def _texts(self, points: Array, texts: Sequence[str]) -> Any:
        """Invisible dots that say what is there."""
        return self.scatter(
            **self._places(points),
            mode="markers",
            marker={"opacity": 0, "size": 6, "color": style.INK},
            text=list(texts),
            hoverinfo="text",
            showlegend=False,
        )

    def _nowhere(self) -> dict[str, list[None]]:
        return {axis: [None] for axis in ("xyz" if self.solid else "xy")}

    def _key(self, colour: str, name: str) -> Any:
        """An entry of the legend and nothing else."""
        return self.scatter(**self._nowhere(), mode="markers", marker={"color": colour, "size": 10}, name=name)

    def _scale(self, found: Shades) -> Any:
        """A colour bar and nothing else."""
        lo, hi = found.limits or (0.0, 1.0)
        return self.scatter(
            **self._nowhere(),
            mode="markers",
            marker={
                "color": [lo],
                "cmin": lo,
                "cmax": hi if hi > lo else lo + 1,
                "colorscale": colour_scale(style.SCALE),
                "showscale": True,
                "colorbar": {"title": {"text": found.label, "side": "right"}},
            },
            hoverinfo="skip",
            showlegend=False,
        )


def rings(start: Ids, points: Array, chosen: Ids) -> tuple[Array, Array]:
    """Polygons as closed rings, with NaN between them.

    >>> x, y = rings(np.array([0, 3]), np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([0]))
    >>> x.tolist()
    [0.0, 1.0, 0.0, 0.0, nan]
    """
    count = np.diff(start)[chosen]
    first = np.concatenate([[0], np.cumsum(count + 2)]).astype(np.int64)
    within = np.arange(first[-1]) - np.repeat(first[:-1], count + 2)
    size = np.repeat(count, count + 2)
    row = np.repeat(start[chosen], count + 2) + within % np.maximum(size, 1)
    found = points[np.minimum(row, len(points) - 1)] if len(points) else np.empty((0, 2))
    found[within == size + 1] = np.nan
    return found[:, 0], found[:, 1]


def colour_scale(colours: Sequence[str]) -> list[list[Any]]:
    """As Plotly wants it."""
    return [[k / (len(colours) - 1), colour] for k, colour in enumerate(colours)]


def _plane(scene: Scene, column: int) -> tuple[dict[str, Any], dict[str, Any]]:
    axes = scene.axes
    common = {"showline": True, "linecolor": style.FAINT, "mirror": True, "ticks": "outside", "zeroline": False}
    x: dict[str, Any] = {**common, "title": {"text": axes.labels[0]}, "showgrid": False}
    # Panels have one scale: it is said once.
    y: dict[str, Any] = {**common, "title": {"text": axes.labels[1] if column == 1 else ""}, "showgrid": False}
    if axes.limits:
        x["range"], y["range"] = list(axes.limits[0]), list(axes.limits[1])
    if axes.equal:
        y |= {"scaleanchor": f"x{column if column > 1 else ''}", "constrain": "domain"}
        x["constrain"] = "domain"
    return x, y


def _space(scene: Scene) -> dict[str, Any]:
    axes = scene.axes
    found: dict[str, Any] = {"aspectmode": "data" if axes.equal else "cube", "camera": _CAMERA, "dragmode": "turntable"}
    for k, name in enumerate("xyz"):
        title = {"text": axes.labels[k] if k < len(axes.labels) else name}
        found[f"{name}axis"] = {"title": title, "showgrid": True, "gridcolor": "#e3e3e3", "nticks": 6}
        if axes.limits:
            found[f"{name}axis"]["range"] = list(axes.limits[k])
    return found


def _grid(grid: Grid) -> Figure:
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    rows, columns = len(grid.rows), max((len(row) for row in grid.rows), default=1)
    pictures = [(i, j, p) for i, row in enumerate(grid.rows) for j, p in enumerate(row) if p is not None]
    titled = {(i, j): p.title for i, j, p in pictures}
    titles = [titled.get((i, j), "") for i in range(rows) for j in range(columns)]
    figure = make_subplots(
        rows, columns, subplot_titles=titles, horizontal_spacing=0.1 / columns, vertical_spacing=0.3 / max(rows, 2)
    )
    for i, j, picture in pictures:
        lo, hi = limits_of(picture)
        figure.add_trace(
            go.Heatmap(
                z=picture.pixels,
                zmin=lo,
                zmax=hi,
                colorscale=colour_scale(style.SIGNED_SCALE if picture.signed else style.GREY_SCALE),
                showscale=False,
                hovertemplate="row %{y}, column %{x}: %{z:.4g}<extra></extra>",
            ),
            row=i + 1,
            col=j + 1,
        )
    figure.update_xaxes(showticklabels=False, ticks="", showline=False, showgrid=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, ticks="", showline=False, showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", constrain="domain")
    for number in range(1, rows * columns + 1):
        anchor = str(number) if number > 1 else ""
        figure.layout[f"yaxis{anchor}"].scaleanchor = f"x{anchor}"
    for i, name in enumerate(grid.row_names):
        figure.update_yaxes(title_text=name, row=i + 1, col=1)
    _finish(figure, grid.title, grid.notes, rows * _PICTURE, 30)
    return figure


def _finish(figure: Figure, title: str, notes: tuple[str, ...], height: int, above: int) -> None:
    """Title, notes below, and what all figures have in common."""
    lines = [line for note in notes for line in textwrap.wrap(note, _WRAP)]
    below, top = 66 + _LINE * len(lines), (76 if title else 40) + above
    entries = sum(bool(trace.showlegend) for trace in figure.data)
    top += _LINE * max(0, (entries - 1) // _ENTRIES)
    # The legend is so many pixels above what is drawn; Plotly wants that as a part of its height.
    lift = above / height
    figure.update_layout(
        template="simple_white",
        title={
            "text": title,
            "x": 0.5,
            "xanchor": "center",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 16},
        }
        if title
        else None,
        height=height + top + below,
        margin={"l": 62, "r": 24, "t": top, "b": below},
        font={"family": "system-ui, sans-serif", "size": 13, "color": style.INK},
        hovermode="closest",
        hoverdistance=30,
        hoverlabel={"align": "left", "font": {"family": "monospace", "size": 12}},
        legend={"itemsizing": "constant", "orientation": "h", "x": 0, "y": 1 + lift, "yanchor": "bottom"},
        dragmode="pan",
        barmode="group",
        colorway=list(style.CLASS_COLOURS),
    )
    if lines:
        figure.add_annotation(
            text="<br>".join(lines),
            xref="paper",
            yref="paper",
            x=0,
            y=0,
            yshift=-52,
            xanchor="left",
            yanchor="top",
            align="left",
            showarrow=False,
            font={"size": 11, "color": style.FAINT},
        )
