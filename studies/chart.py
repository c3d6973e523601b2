"""Line charts: panels side by side with common axes, one colour per series."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from polyfold._base.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#b2182b", "#ef8a62", "#2166ac", "#67a9cf", "#5aae61", "#762a83")


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

    def put_on(
        self,
        scale: Callable[..., Any],
        limits: Callable[..., Any],
        ticks: Callable[..., Any],
        label: Callable[..., Any] | None,
    ) -> None:
        """Set one of the axes of a panel by matplotlib's methods for it."""
        scale("log" if self.log else "linear")
        limits(self.low, self.high)
        ticks(self.ticks, self.names or [f"{tick:g}" for tick in self.ticks])
        if label is not None:
            label(self.label)


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
    """The picture as SVG text, by matplotlib; the same text every time. The legend names each series once."""
    matplotlib = require("matplotlib", extra="plot", purpose="a figure of a study")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * len(panels) + 0.8, 4.4), layout="constrained")
    for number, (axes, panel) in enumerate(
        zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True)
    ):
        _panel(axes, panel, number)
        x.put_on(axes.set_xscale, axes.set_xlim, axes.set_xticks, axes.set_xlabel)
        y.put_on(axes.set_yscale, axes.set_ylim, axes.set_yticks, axes.set_ylabel if number == 0 else None)
        axes.minorticks_off()
        axes.grid(axis="y", color="#dddddd")
    entries = {str(line.get_label()): line for axes in figure.axes for line in axes.get_lines() if line.get_gid()}
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "polyfold", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    return text.getvalue()


def _panel(axes: Axes, panel: Panel, number: int) -> None:
    axes.set_title(panel.title, fontsize=10)
    for value, colour in panel.marks:
        axes.axvline(value, color=COLOURS[colour], linestyle="--", linewidth=1.2)
    for k, one in enumerate(panel.series):
        style = {"linestyle": "--"} if one.dashed else {"marker": "o", "markersize": 3.5}
        (line,) = axes.plot(*zip(*one.points, strict=True), color=COLOURS[one.colour], linewidth=1.2, **style)
        line.set_label(one.name)
        # What a series is drawn by can be found in the file by its name.
        line.set_gid(f"{'compared' if one.dashed else 'series'}-{number}-{k}")
