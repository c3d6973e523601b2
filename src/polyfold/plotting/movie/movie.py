"""movie: the cells of a network and its decision boundary over training, as MP4, GIF or an HTML player."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from polyfold._base.clock import Report, running, tick
from polyfold._base.extras import require
from polyfold._base.files import atomically
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold._base.words import names_for
from polyfold.atlas.evidence import computed_in_floats
from polyfold.domain.domain import DomainLike
from polyfold.errors import PolyfoldError, StorageError, how_many
from polyfold.plotting.geometry.film import Film, Frame, film_of
from polyfold.plotting.movie.encode import ffmpeg_program, gif, mp4
from polyfold.plotting.movie.player.write import write_player
from polyfold.plotting.render.frames import pixels
from polyfold.plotting.scene.training import Legend, frame_scene
from polyfold.program.lower.lower import lower
from polyfold.training.recording import Recording

ENDINGS = (".mp4", ".gif", ".html")
_SIDES, _FASTEST = (64, 4096), 120


@dataclass(frozen=True, eq=False, repr=False)
class Movie(Rows):
    """A movie that was written to a file.

    Attributes
    ----------
    path : Path
        The file.
    fps : float
        Frames per second.
    snapshots, steps : array of int, shape (frames,)
        Which snapshot each frame shows, and after how many steps it was taken.
    cells : array of int, shape (frames,)
        How many cells there were on the domain.
    accuracy : array of float, shape (frames,), optional
        The share of the data that had the class of its label; None without labels.
    """

    path: Path
    fps: float
    snapshots: Ids
    steps: Ids
    cells: Ids
    accuracy: Array | None

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        lasts = f"{len(self) / self.fps:g} seconds"
        return f"Movie: {how_many(len(self), 'frame')}, {lasts}, written to {str(self.path)!r}"

    def facts(self) -> dict[str, Any]:
        return {
            "movie": str(self.path),
            "frames": len(self),
            "fps": self.fps,
            "snapshots": self.snapshots,
            "steps": self.steps,
            "cells": self.cells,
            "accuracy": self.accuracy,
        }

    def rows(self) -> dict[str, Any]:
        """One row per frame."""
        columns: dict[str, Any] = {"snapshot": self.snapshots, "step": self.steps, "cells": self.cells}
        return columns if self.accuracy is None else columns | {"accuracy": self.accuracy}

    def _repr_html_(self) -> str:
        """The movie itself, for notebooks, which keep it; what was written is read again."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return escape(repr(self))
        kind = self.path.suffix.lower()
        if kind == ".html":
            page = escape(content.decode("utf-8"))
            return f'<iframe srcdoc="{page}" title="movie" style="width: 100%; height: 60rem; border: 0"></iframe>'
        data = b64encode(content).decode("ascii")
        if kind == ".gif":
            return f'<img src="data:image/gif;base64,{data}" alt="{escape(repr(self))}">'
        return f'<video controls loop src="data:video/mp4;base64,{data}"></video>'


@question("training.movie")
def movie(
    recording: Recording,
    domain: DomainLike | Sequence[float] = None,
    *,
    out: str | PathLike[str],
    colour: str = "class",
    output: int = 0,
    threshold: float = 0.0,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    frames: int | Sequence[int] | None = None,
    fps: float = 10.0,
    size: int = 640,
    title: str = "Cells over training",
    step_name: str = "step",
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Movie:
    """Write a movie of training: at every snapshot the cells in a plane, and where the class changes.

    Parameters
    ----------
    recording : Recording
        From `pf.training.record` or `pf.training.open`.
    domain : DomainLike or four numbers, optional
        A bounded domain of dimension 2: `pf.box` for two inputs, `pf.plane` through more of them, or four numbers
        x0, x1, y0, y1. None is the box of X and a margin.
    out : path
        Ends in .mp4, .gif or .html. The file is written whole or not at all.
    colour : str
        "class"; "output", taken in each polygon's middle; "slope", the length of the output's gradient; "volume", the
        area's logarithm; "facets", how many a cell has. Colours mean the same in all frames.
    output : int
        Which one, for "output" and "slope".
    threshold : float
        With one output, class 1 is where it is larger.
    X : ArrayLike, shape (n, d), optional
        Inputs to draw. On a plane through more inputs they are not drawn, and only counted.
    y : ArrayLike, shape (n,), optional
        The numbers of the classes that they should have.
    frames : int or list of int, optional
        How many snapshots to show, evenly spread, or a list of their numbers; None is all.
    fps : float
        Frames per second.
    size : int
        The longer side of an MP4 or GIF in pixels.
    title : str
        Of the player.
    step_name : str
        What a step is, such as "epoch".
    feature_names : sequence of str, optional
        What the plane's two coordinates are called.
    output_names : sequence of str, optional
        What the classes are called.
    max_cells : int, optional
        LimitError if one snapshot has more.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice, and nothing is written.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Movie
        Where it was written, and for each frame how many cells there are.

    Examples
    --------
    >>> import numpy as np, polyfold as pf, tempfile, os
    >>> layers = [(np.array([[1.0, 0.0]]), np.array([0.0])), (np.array([[1.0]]), np.array([-0.5]))]
    >>> recorder = pf.training.record(layers)
    >>> layers[0][0][0, 1] = 1.0
    >>> recorder.step()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shown = pf.training.movie(recorder.recording, pf.box(-1, 1), out=os.path.join(folder, "x.html"))
    >>> shown.steps.tolist(), shown.cells.tolist()
    ([0, 1], [2, 2])
    """
    target = _target(Path(out))
    kind = target.suffix.lower()
    program = ffmpeg_program() if kind == ".mp4" else ""
    if kind != ".html":
        require("matplotlib", extra="plot", purpose=f"a {kind} movie (.html needs none)")
    _check_numbers(fps, size)
    film = film_of(
        recording,
        domain,
        frames=frames,
        colour=colour,
        output=output,
        threshold=threshold,
        X=X,
        y=y,
        max_cells=max_cells,
    )
    letter = "u" if film.domain.is_slice else "x"
    axes, called = names_for(feature_names, 2, letter, "coordinate"), _names(output_names, film.classes)
    legend = Legend(axes, called, _label(film), film.limits(), str(step_name))
    seen: list[tuple[int, float | None]] = []
    with ExitStack() as work:
        temporary = work.enter_context(atomically(target))

        def watched() -> Iterator[Frame]:
            for frame in film:
                tick()
                yield frame
                seen.append((frame.cells, frame.accuracy))
                running().tell(len(seen), len(film), "frames")

        if kind == ".html":
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                write_player(file, film, watched(), legend=legend, title=title, fps=fps, notes=_notes(film))
        else:
            add = work.enter_context(gif(temporary, fps, len(film)) if kind == ".gif" else mp4(temporary, fps, program))
            for frame in watched():
                add(pixels(frame_scene(film, frame, legend), legend.names, size))
    cells, accuracy = zip(*seen, strict=True)
    made = Movie(
        path=target,
        fps=float(fps),
        snapshots=film.snapshots,
        steps=recording.steps[film.snapshots],
        cells=np.array(cells, dtype=np.int64),
        accuracy=None if film.labels is None else np.array(accuracy, dtype=np.float64),
    )
    return answered(made, computed_in_floats(lower(recording.network(int(film.snapshots[0])))))


def _target(path: Path) -> Path:
    """Fail before the work, not after it, where nothing can be written."""
    if path.suffix.lower() not in ENDINGS:
        raise StorageError(f"out={str(path)!r} must end in {', '.join(ENDINGS)}, which says what is written")
    if path.is_dir():
        raise StorageError(f"cannot write to {str(path)!r}: it is a folder")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StorageError(f"cannot write to {str(path)!r}: there is no folder {str(path.parent)!r}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write to {str(path)!r}: permission denied")
    return path


def _check_numbers(fps: Any, size: Any) -> None:
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not (isfinite(fps) and 0 < fps <= _FASTEST):
        raise PolyfoldError(f"fps={fps!r} must be a number of frames per second, above 0 and up to {_FASTEST}")
    least, most = _SIDES
    if isinstance(size, bool) or not isinstance(size, int) or not least <= size <= most:
        raise PolyfoldError(f"size={size!r} must be a whole number of pixels from {least} to {most}")


def _names(names: Any, classes: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"class {k}" for k in range(classes))
    return names_for(names, classes, "", "class name")


def _label(film: Film) -> str:
    which = f"output {film.output}" if film.outputs > 1 else "output"
    labels = {"output": f"{which} in the middle", "slope": f"slope of {which}", "volume": "log10 of the cell's area"}
    return labels.get(film.colour, film.colour)


def _notes(film: Film) -> tuple[str, ...]:
    """What the pictures leave out."""
    if film.data is None:
        return ()
    hidden = how_many(len(film.data) - len(film.points), "data point")
    if film.domain.is_slice:
        return (f"{hidden} count for the accuracy and are not drawn: they need not lie in the plane.",)
    return () if len(film.points) == len(film.data) else (f"{hidden} outside the view are not drawn.",)
