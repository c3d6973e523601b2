"""What commands share: options by the names of the API, and how they read models, boxes and where to write."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from polyfold.cli.csv_rows import bound, read_box
from polyfold.datasets.named import BUNDLED
from polyfold.domain.domain import Box
from polyfold.errors import DomainError, StorageError
from polyfold.network.graph import Network
from polyfold.network.load import load

Model = Annotated[
    str, typer.Argument(help=f"An .onnx or .pt2 file, or the name of a bundled network ({', '.join(BUNDLED)}).")
]
BoxBounds = Annotated[
    tuple[str, str] | None, typer.Option("--box", metavar="LO HI", help="Bounds that hold for every input.")
]
BoxFile = Annotated[Path | None, typer.Option(help="A CSV file with a row lo,hi for every input.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop after so many seconds (default: no limit).")]
MaxCells = Annotated[int | None, typer.Option(help="Stop after so many cells (default: no limit).")]
Threads = Annotated[int | None, typer.Option(help="The number of threads (default: one per CPU).")]
ShowProgress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Show on standard error how far the work is (default: if that is a terminal).",
        show_default=False,
    ),
]
Cells = Annotated[
    str,
    typer.Option(
        metavar="gates|function", help="What cuts: every gate, or a max-pool as one switch (on lines and planes)."
    ),
]
Certify = Annotated[bool, typer.Option("--certify", help="Prove that every cell is right and none missing.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="NODE", help="Read only the part of the model in front of this node, say one that is refused."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output (docs/json.md).")]


def network_named(model: str, until: str | None = None) -> Network:
    """A bundled network by its name, or one from a file, or the part of it in front of a node."""
    if is_bundled(model):
        return load(BUNDLED[model](), until=until)
    return load(model, until=until)


def is_bundled(model: str) -> bool:
    """Whether a name is that of a network that comes with polyfold; files come first."""
    return model in BUNDLED and not Path(model).exists()


def shown(progress: bool | None) -> bool:
    """Whether to show progress: as asked for, or if somebody looks."""
    return sys.stderr.isatty() if progress is None else progress


def domain_of(box: tuple[str, str] | None, box_file: Path | None) -> Box | None:
    """The box that --box or --box-file asks for."""
    if box is not None and box_file is not None:
        raise DomainError("--box and --box-file exclude each other: give one of them")
    if box is not None:
        try:
            return Box(*map(bound, box))
        except ValueError:
            raise DomainError(f"--box {' '.join(box)} must be two numbers LO HI") from None
    return None if box_file is None else read_box(box_file)


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


def check_folder(folder: Path) -> None:
    """Fail before the work, not after it, where nothing can be written. Makes no folder yet."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise StorageError(f"cannot write to {str(folder)!r}: {str(there)!r} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write to {str(folder)!r}: permission denied")


def make_folder(folder: Path) -> None:
    """The folder, and those that it lies in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write to {str(folder)!r}: {error.strerror}") from None
