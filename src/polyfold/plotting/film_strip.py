"""The film strip of a truncation: one picture with a frame for the inputs and one for each hidden layer."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyfold._base.extras import require
from polyfold._base.files import atomically
from polyfold._base.types import ArrayLike
from polyfold.errors import StorageError
from polyfold.layers.film_frames import Film, Frame, film
from polyfold.layers.interpret import Interpretation
from polyfold.layers.result import Truncation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
)
_KEPT, _COLLAPSED, _NO_CLASS = "#ffe680", "#808080", "#ffffff"
_SIDE = 3.2
_LEGEND = 12
ENDINGS = (".png", ".svg", ".pdf")


def film_strip(
    truncation: Truncation, X: ArrayLike, y: ArrayLike | None = None, *, out: str | PathLike[str] | None = None
) -> Figure:
    """Draw data after each truncation, in colours by their labels, or by what the network says if there are none.

    Every frame has the same projection and the same scale. With two inputs, a frame also shows what acts next: walls as
    lines, what the next layer keeps (yellow) and collapses (grey), its base point as a cross, and in the last frame
    where which output is the largest, in the colour of the class that it stands for. With more inputs it shows the
    first two principal components of all states.

    Parameters
    ----------
    truncation : Truncation
        From `pf.layers.truncation`.
    X : ArrayLike, shape (n, d)
        Inputs.
    y : ArrayLike, shape (n,), optional
        Labels, numbers or words.
    out : path, optional
        A .png, .svg or .pdf file to write.

    Returns
    -------
    matplotlib.figure.Figure
        The frames in a row.
    """
    seen = truncation.interpret(X, y)
    return draw(film(truncation, seen), seen, out)


def film_figure(truncation: Truncation, *, X: Any, y: Any = None) -> Figure:
    """The film strip of data, for `pf.plot`."""
    return film_strip(truncation, X, y)


def draw(strip: Film, seen: Interpretation, path: str | PathLike[str] | None = None) -> Figure:
    """The figure of a film; it is written too if a path is given."""
    if path is not None:
        check_picture(Path(path))
    matplotlib = require("matplotlib", extra="plot", purpose="a film strip")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_SIDE * len(strip.frames), _SIDE + 0.5), layout="constrained")
    axes = figure.subplots(1, len(strip.frames), sharex=True, sharey=True, squeeze=False)[0]
    for frame, place in zip(strip.frames, axes, strict=True):
        _draw_frame(frame, place, seen, strip)
    if len(seen.classes) <= _LEGEND:
        axes[0].legend(loc="best", fontsize=7, framealpha=0.7)
    figure.supxlabel(_caption(strip), fontsize=8)
    if path is not None:
        # No date and no random names in the file: the same data gives the same bytes.
        with atomically(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "polyfold"}):
            kind = Path(path).suffix.lower()[1:]
            figure.savefig(temporary, format=kind, dpi=110, metadata=_NO_DATE[kind])
    return figure


_NO_DATE: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def _caption(strip: Film) -> str:
    if len(strip.basis) > 2:
        return f"principal components of all states: {strip.share:.0%} of their variance; x: the next base point"
    if len(strip.basis) == 1:
        return "x: the next base point"
    return "the next layer keeps yellow and collapses grey to its base point, x; last: classes of the largest output"


def check_picture(path: Path) -> None:
    """Fail before the work, not after it, where the ending says no format."""
    if path.suffix.lower() not in ENDINGS:
        raise StorageError(f"{str(path)!r} must end in {', '.join(ENDINGS)}, which says what is written")


def _draw_frame(frame: Frame, axes: Axes, seen: Interpretation, strip: Film) -> None:
    for k, corners in zip(strip.class_of_output, frame.winners, strict=False):
        _fill(axes, corners, _NO_CLASS if k < 0 else _COLOURS[k % len(_COLOURS)], 0.12)
    _fill(axes, frame.kept, _KEPT, 0.35)
    _fill(axes, frame.collapsed, _COLLAPSED, 0.25)
    for start, end in frame.walls:
        axes.plot([start[0], end[0]], [start[1], end[1]], color="#888888", linewidth=0.8, zorder=1)
    for k, name in enumerate(seen.classes):
        points = frame.points[seen.labels == k]
        axes.scatter(points[:, 0], points[:, 1], s=9, color=_COLOURS[k % len(_COLOURS)], label=str(name), zorder=3)
    axes.set_xlim(strip.extent[0], strip.extent[1])
    axes.set_ylim(strip.extent[2], strip.extent[3])
    if frame.base is not None:
        axes.plot(*frame.base, marker="x", color="black", markersize=7, zorder=4, scalex=False, scaley=False)
    axes.set_title(frame.title, fontsize=9)
    axes.tick_params(labelsize=7)


def _fill(axes: Axes, corners: npt.NDArray[np.float64], colour: str, opacity: float) -> None:
    if len(corners) > 2:
        axes.fill(corners[:, 0], corners[:, 1], color=colour, alpha=opacity, linewidth=0, zorder=0)
