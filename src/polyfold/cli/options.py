"""What all commands share: the program they belong to, their options, and how they read models and boxes."""

from __future__ import annotations

import csv
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from polyfold.datasets.named import BUNDLED
from polyfold.domain.domain import Box
from polyfold.errors import DomainError, StorageError, how_many
from polyfold.network.graph import Network
from polyfold.network.load import load

CHECK_FAILED, BAD_INPUT, LIMIT_REACHED, OUR_FAULT = 1, 2, 3, 70

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Unfold a ReLU network into its linear pieces, exactly."
)
Model = Annotated[
    str, typer.Argument(help=f"An .onnx or .pt2 file, or the name of a bundled network ({', '.join(BUNDLED)}).")
]
BoxBounds = Annotated[
    tuple[str, str] | None, typer.Option("--box", metavar="LO HI", help="Bounds that hold for every input.")
]
BoxFile = Annotated[Path | None, typer.Option(help="A CSV file with a row lo,hi for every input.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Threads = Annotated[int | None, typer.Option(help="Threads to use; one a processor unless given.")]
Certify = Annotated[bool, typer.Option("--certify", help="Prove that every cell is right and none missing.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="NODE", help="Read only the part of the model in front of this node, say one that is refused."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def network_named(model: str, until: str | None = None) -> Network:
    """A bundled network by its name, or one from a file, or the part of it in front of a node."""
    if model in BUNDLED and not Path(model).exists():
        return load(BUNDLED[model](), until=until)
    return load(model, until=until)


@contextmanager
def notes_on_standard_error() -> Iterator[None]:
    """Within it, what polyfold logs while it reads models is shown, a line each."""
    log, handler = logging.getLogger("polyfold"), _Notes(logging.INFO)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        message = escape(record.getMessage())
        Console(stderr=True).print(f"[bold yellow]note:[/] {message}", soft_wrap=True, highlight=False)


def domain_of(box: tuple[str, str] | None, box_file: Path | None) -> Box | None:
    """The box that --box or --box-file asks for."""
    if box is not None and box_file is not None:
        raise DomainError("--box and --box-file exclude each other: give one of them")
    if box is not None:
        try:
            return Box(*map(_bound, box))
        except ValueError:
            raise DomainError(f"--box {' '.join(box)} must be two numbers LO HI") from None
    return None if box_file is None else _read_box(box_file)


def _read_box(path: Path) -> Box:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DomainError(f"the box file {str(path)!r} cannot be read: {error}") from None
    try:
        bounds = np.array([[_bound(lo), _bound(hi)] for lo, hi in rows])
    except ValueError:
        raise DomainError(
            f"the box file {str(path)!r} must hold one row 'lo,hi' of two numbers for every input"
        ) from None
    if not len(bounds):
        raise DomainError(f"the box file {str(path)!r} is empty: it needs one row 'lo,hi' for every input")
    return Box(bounds[:, 0], bounds[:, 1])


def _bound(text: str) -> float:
    """A bound as it is written; only what says so is infinite, and not what floats are too small for."""
    bound = float(text)
    if isinf(bound) and "inf" not in text.lower():
        raise DomainError(f"the bound {text} is larger than floats can be: write inf for a side that is open")
    return bound


def check_file(path: Path, endings: Sequence[str]) -> None:
    """Fail before the work, not after it, where a file cannot be written."""
    if path.suffix.lower() not in endings:
        raise StorageError(f"--out {str(path)!r} must end in {' or '.join(endings)}, which says what is written")
    if path.is_dir():
        raise StorageError(f"cannot write to {str(path)!r}: it is a folder")
    if not path.absolute().parent.is_dir():
        raise StorageError(f"cannot write to {str(path)!r}: there is no folder {str(path.parent)!r}")
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write to {str(path)!r}: permission denied")


def print_json(facts: dict[str, Any]) -> None:
    """One object on standard output."""
    # Most readers of JSON refuse NaN and Infinity.
    print(json.dumps(facts, allow_nan=False))


def say_incomplete(stopped_by: str | None, cells: int, out: Path | None = None) -> None:
    """Say on standard error that a limit was reached, and end with its exit code."""
    message = f"stopped by {stopped_by} after {how_many(cells, 'cell')}; there are more"
    if out is not None:
        message += f": polyfold resume {out} goes on"
    Console(stderr=True).print(f"[bold yellow]incomplete:[/] {message}", soft_wrap=True, highlight=False)
    raise typer.Exit(LIMIT_REACHED)
