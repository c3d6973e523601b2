"""Scenes as matplotlib figures, for print. No pyplot: figures are made and written without any global state."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.extras import require
from polyfold.plotting.render import style
from polyfold.plotting.render.common import all_notes, height_by_width, is_solid, limits_of
from polyfold.plotting.render.faces import face_corners, in_sight
from polyfold.plotting.render.style import LOOKS, PLAIN_FROM, Shades, shades
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _PANEL, _PICTURE, _AROUND = 6.4, 5.2, 3.6, 1.1, 1.1
_WRAP = 95
# So many entries beside each other in a figure of usual width; in all, more are no help.
_ENTRIES, _LEGEND = 4, 16


def draw(drawing: Drawing) -> Figure:
    """The figure of a scene, of scenes side by side, or of a grid of images."""
    matplotlib = require("matplotlib", extra="plot", purpose="a plot")
    # Names are the users' own: a dollar sign in one begins no formula.
    with matplotlib.rc_context({"text.parse_math": False}):
        return _draw(drawing)


def _draw(drawing: Drawing) -> Figure:
    from matplotlib.figure import Figure

    if isinstance(drawing, Grid):
        return _grid(drawing)
    scenes = drawing.scenes if isinstance(drawing, Panels) else (drawing,)
    figure = Figure(figsize=_size(scenes), layout="constrained")
    engine: Any = figure.get_layout_engine()
    if any(map(is_solid, scenes)):
        # Axes in space do not reckon with their own names.
        engine.set(h_pad=0.12)
    for number, scene in enumerate(scenes, start=1):
        solid = is_solid(scene)
        # In space, parts are drawn in their order too: data on a surface would vanish in it.
        space = {"projection": "3d", "computed_zorder": False} if solid else {}
        axes = figure.add_subplot(1, len(scenes), number, **space)
        _scene(axes, scene, solid)
        if number > 1 and not solid:
            axes.set_ylabel("")
        if isinstance(drawing, Panels):
            axes.set_title(scene.title, fontsize=10)
    beside = isinstance(drawing, Panels)
    _legend(figure, "outside right upper" if beside else "outside upper center", beside)
    if not beside:
        figure.axes[0].set_title(drawing.title, fontsize=11)
    _finish(figure, drawing.title if beside else "", (*all_notes(drawing, scenes), *_plain_notes(scenes)))
    return figure


def _plain_notes(scenes: tuple[Scene, ...]) -> tuple[str, ...]:
    counts = [len(p.start) - 1 for scene in scenes for p in scene.parts if isinstance(p, Polygons) and p.role == "cell"]
    text = "Outlines are left out, since there are {:,} polygons."
    return tuple(text.format(count) for count in counts if count >= PLAIN_FROM)


def _legend(figure: Figure, place: str, one_column: bool) -> None:
    """One for the whole figure, outside, where it hides nothing."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        entries |= {name: handle for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if 0 < len(entries) <= _LEGEND:
        columns = 1 if one_column else min(len(entries), max(1, round(_ENTRIES * figure.get_figwidth() / _WIDTH)))
        figure.legend(entries.values(), entries.keys(), loc=place, fontsize=8, ncols=columns, frameon=False)


def _size(scenes: tuple[Scene, ...]) -> tuple[float, float]:
    width, height = (_WIDTH, _HEIGHT) if len(scenes) == 1 else (_PANEL, _PANEL + 0.6)
    shares = [share for scene in scenes if (share := height_by_width(scene))]
    if len(shares) == len(scenes):
        height = min(height, max(shares) * width + _AROUND)
    return width * len(scenes), height


def _scene(axes: Any, scene: Scene, solid: bool) -> None:
    _bars(axes, [part for part in scene.parts if isinstance(part, Bars)])
    for layer, part in enumerate(scene.parts):
        _part(axes, part, solid, layer + 1)
    labels = (axes.set_xlabel, axes.set_ylabel, *((axes.set_zlabel,) if solid else ()))
    for set_label, text in zip(labels, scene.axes.labels, strict=False):
        set_label(text)
    if solid:
        _fewer_numbers(axes)
    shown = scene.axes.limits or (_extent(scene) if solid else None)
    if shown:
        limits = (axes.set_xlim, axes.set_ylim, *((axes.set_zlim,) if solid else ()))
        for set_limits, ends in zip(limits, shown, strict=True):
            set_limits(*ends)
    else:
        axes.autoscale_view()
    if scene.axes.equal:
        axes.set_aspect("equal")


def _fewer_numbers(axes: Any) -> None:
    """Axes in space are short: few numbers, and names beside them and not on them."""
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MaxNLocator(5))
        axis.labelpad = 8
    axes.tick_params(labelsize=8)


def _extent(scene: Scene) -> tuple[tuple[float, float], ...]:
    """The ends of all coordinates in a scene in space: axes there do not find them in all kinds of parts."""
    arrays = [
        part.ends if isinstance(part, Segments) else part.points for part in scene.parts if not isinstance(part, Bars)
    ]
    points = np.concatenate([array.reshape(-1, 3) for array in arrays])
    lo, hi = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    return tuple((a, b) if a < b else (a - 0.5, b + 0.5) for a, b in zip(lo.tolist(), hi.tolist(), strict=True))


def _part(axes: Any, part: Part, solid: bool, layer: int) -> None:
    if isinstance(part, Polygons):
        _polygons(axes, part, layer)
    elif isinstance(part, Segments):
        _segments(axes, part, solid, layer)
    elif isinstance(part, Points):
        _points(axes, part, layer)
    elif isinstance(part, Curve):
        look = LOOKS[part.role]
        colour = look.colour if part.number is None else style.class_colour(part.number)
        axes.plot(*part.points.T, color=colour, linewidth=look.width, label=part.name or None, zorder=layer)
    elif isinstance(part, Mesh):
        _mesh(axes, part, layer)


def _polygons(axes: Any, part: Polygons, layer: int) -> None:
    from matplotlib.collections import PolyCollection

    count = len(part.start) - 1
    found, look = shades(part.colouring, count, part.role, area=True), LOOKS[part.role]
    edge = 0.0 if count >= PLAIN_FROM else look.width
    axes.add_collection(
        PolyCollection(
            np.split(part.points, part.start[1:-1]) if count else [],
            facecolors=_colours(found),
            edgecolors=style.INK if edge else "face",
            linewidths=edge or 0.3,
            alpha=look.opacity,
            zorder=layer,
        )
    )
    _explain(axes, found)


def _segments(axes: Any, part: Segments, solid: bool, layer: int) -> None:
    found, look = shades(part.colouring, len(part.ends), part.role), LOOKS[part.role]
    settings: dict[str, Any] = {"colors": _colours(found), "linewidths": look.width}
    if solid:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        axes.add_collection(Line3DCollection(part.ends, zorder=layer, **settings), autolim=False)
    else:
        from matplotlib.collections import LineCollection

        axes.add_collection(LineCollection(list(part.ends), zorder=layer, capstyle="round", **settings))
    _explain(axes, found)
    if part.name:
        axes.plot([], [], color=found.colours[0], linewidth=look.width, label=part.name)


def _points(axes: Any, part: Points, layer: int) -> None:
    found, look = shades(part.colouring, len(part.points), part.role), LOOKS[part.role]
    area = np.full(len(part.points), (0.75 * look.size) ** 2)
    if part.sizes is not None and len(part.sizes):
        area = area * (1 + 8 * part.sizes / max(float(part.sizes.max()), 1.0))
    for number, colour in enumerate(found.colours):
        rows = found.group == number
        name = found.names[number] or (part.name if number == 0 else "")
        settings: dict[str, Any] = {
            "color": colour,
            "edgecolors": "white",
            "linewidths": 0.5,
            "label": name or None,
            "zorder": layer,
        }
        if part.points.shape[1] == 3:
            settings["depthshade"] = False
        axes.scatter(*part.points[rows].T, s=area[rows], **settings)
    _explain(axes, found, names=False)


def _mesh(axes: Any, part: Mesh, layer: int) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    pieces = int(part.piece.max()) + 1 if len(part.piece) else 0
    found, look = shades(part.colouring, pieces, part.role, area=True), LOOKS[part.role]
    start, rows, piece = face_corners(in_sight(part))
    colours = np.array(_colours(found), dtype=object)[piece].tolist()
    faces = np.split(part.points[rows], start[1:-1]) if len(piece) else []
    edge = look.width if part.outlined else 0.0
    settings = {"edgecolors": style.INK if edge else colours, "linewidths": edge or 0.2, "alpha": look.opacity}
    # Limits are set by _scene: matplotlib's own would count the unused ends of shorter faces, which hold anything.
    axes.add_collection(Poly3DCollection(faces, facecolors=colours, zorder=layer, **settings), autolim=False)
    _explain(axes, found)


def _bars(axes: Axes, parts: list[Bars]) -> None:
    """Bars of several parts stand beside each other, over the labels of all of them."""
    for number, part in enumerate(parts):
        if part.edges is not None:
            settings: dict[str, Any] = {"align": "edge", "color": style.class_colour(number), "edgecolor": "white"}
            axes.bar(part.edges[:-1], part.heights, np.diff(part.edges), label=part.name or None, **settings)
    parts = [part for part in parts if part.edges is None]
    labels = list(dict.fromkeys(label for part in parts for label in part.labels))
    width = 0.8 / max(len(parts), 1)
    for number, part in enumerate(parts):
        at = np.array([labels.index(label) for label in part.labels]) + (number - (len(parts) - 1) / 2) * width
        axes.bar(at, part.heights, width=width, color=style.class_colour(number), label=part.name or None)
    if labels:
        axes.set_xticks(range(len(labels)), labels)


def _colours(found: Shades) -> list[str]:
    return [found.colours[k] for k in found.group.tolist()]


def _explain(axes: Any, found: Shades, names: bool = True) -> None:
    """Entries of the legend for names, or a colour bar."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    for colour, name in zip(found.colours, found.names, strict=True):
        if names and name:
            if axes.name == "3d":  # which takes no flat shapes
                axes.plot([], [], "s", color=colour, markersize=8, label=name)
            else:
                axes.fill([], [], color=colour, label=name)
    if found.limits:
        lo, hi = found.limits
        scale = ScalarMappable(
            Normalize(lo, hi if hi > lo else lo + 1), LinearSegmentedColormap.from_list("polyfold", style.SCALE)
        )
        # As high as the axes themselves, whatever their shape; those in space have no edge to stand at.
        place = (
            {"ax": axes, "shrink": 0.7, "pad": 0.12}
            if axes.name == "3d"
            else {"cax": axes.inset_axes((1.03, 0, 0.035, 1))}
        )
        axes.figure.colorbar(scale, label=found.label, **place)


def _grid(grid: Grid) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    rows, columns = len(grid.rows), max((len(row) for row in grid.rows), default=1)
    figure = Figure(figsize=(_PICTURE * columns + 0.8, (_PICTURE + 0.25) * rows + 0.7), layout="constrained")
    places = figure.subplots(max(rows, 1), columns, squeeze=False)
    for place in places.ravel():
        place.set_xticks([])
        place.set_yticks([])
        place.set_frame_on(False)
    for i, row in enumerate(grid.rows):
        for j, picture in enumerate(row):
            if picture is not None:
                lo, hi = limits_of(picture)
                scale = style.SIGNED_SCALE if picture.signed else style.GREY_SCALE
                colours = LinearSegmentedColormap.from_list("polyfold", scale)
                places[i, j].imshow(picture.pixels, cmap=colours, vmin=lo, vmax=hi, interpolation="nearest")
                places[i, j].set_title(picture.title, fontsize=8)
    for i, name in enumerate(grid.row_names):
        places[i, 0].set_ylabel(name, fontsize=9)
    _finish(figure, grid.title, grid.notes)
    return figure


def _finish(figure: Figure, title: str, notes: tuple[str, ...]) -> None:
    if title:
        figure.suptitle(title, fontsize=11)
    lines = [line for note in notes for line in textwrap.wrap(note, round(_WRAP * figure.get_figwidth() / _WIDTH))]
    if lines:
        figure.supxlabel("\n".join(lines), fontsize=7.5, color=style.FAINT)
