"""polyfold movie: a saved recording as MP4, GIF or HTML player."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyfold.cli.csv_rows import read_labels, read_points
from polyfold.cli.options import AsJson, BoxBounds, BoxFile, ShowProgress, check_file, domain_of, shown
from polyfold.cli.output import document, say, show
from polyfold.errors import PolyfoldError, StorageError, how_many
from polyfold.plotting.movie.movie import ENDINGS, Movie
from polyfold.plotting.movie.movie import movie as make_movie
from polyfold.training.recorder import open as open_recording
from polyfold.training.recording import Recording


def movie(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A file that pf.training.record has written.")],
    out: Annotated[Path, typer.Option(help=f"The file to write; it ends in {', '.join(ENDINGS)}.")],
    box: BoxBounds = None,
    box_file: BoxFile = None,
    data: Annotated[
        Path | None,
        typer.Option(help="A CSV file with a line of numbers for every input, to draw; without a box, around these."),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="A CSV file with the number of its class for every line of the data.")
    ] = None,
    colour: Annotated[str, typer.Option(help="What colours cells: class, output, slope, volume or facets.")] = "class",
    output: Annotated[int, typer.Option(help="Which output, for colours.")] = 0,
    threshold: Annotated[float, typer.Option(help="With one output, class 1 is where it is larger.")] = 0.0,
    frames: Annotated[
        int | None, typer.Option(help="How many snapshots to show, evenly spread (default: all).")
    ] = None,
    fps: Annotated[float, typer.Option(help="Frames per second.")] = 10.0,
    size: Annotated[int, typer.Option(help="The side of an MP4 or GIF in pixels.")] = 640,
    title: Annotated[str, typer.Option(help="The heading of an HTML player.")] = "Cells over training",
    step_name: Annotated[str, typer.Option(help='What a step of the recording is, such as "epoch".')] = "step",
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    check_file(out, ENDINGS)
    kept = _opened(recording)
    inputs = kept.network(0).input_dim
    points = None if data is None else read_points(data, inputs).rows
    given = None if points is None or labels is None else read_labels(labels, len(points))
    if points is None and labels is not None:
        raise PolyfoldError(f"--labels {str(labels)!r} belong to data: give --data, too")
    made = make_movie(
        kept,
        domain_of(box, box_file),
        out=out,
        X=points,
        y=given,
        colour=colour,
        output=output,
        threshold=threshold,
        frames=frames,
        fps=fps,
        size=size,
        title=title,
        step_name=step_name,
        progress=shown(progress),
    )
    show(document(made, {"recording": str(recording)}), as_json, lambda: _print(made))


def _opened(path: Path) -> Recording:
    if path.is_dir():
        raise StorageError(f"{str(path)!r} is a folder: give a file that pf.training.record has written")
    return open_recording(path)


def _print(made: Movie) -> None:
    first, last = int(made.cells[0]), int(made.cells[-1])
    said = f"{how_many(len(made), 'frame')}: {how_many(first, 'cell')} at step {made.steps[0]}, "
    said += f"{last:,} at step {made.steps[-1]}"
    if made.accuracy is not None:
        said += f"; accuracy {100 * made.accuracy[0]:.1f} % and {100 * made.accuracy[-1]:.1f} %"
    say(said, f"written to {made.path}")
