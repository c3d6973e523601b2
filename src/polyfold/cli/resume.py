"""polyfold resume: go on with what `polyfold unfold --out` has written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from polyfold.atlas.storage import open as open_atlas
from polyfold.cli.options import AsJson, Certify, MaxSeconds, ShowProgress, Threads, check_folder, shown
from polyfold.cli.unfold import ATLAS, SUMMARY, finish
from polyfold.engine.resume import resume as resume_atlas
from polyfold.errors import StorageError


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that an incomplete unfold has written.")],
    max_cells: Annotated[int | None, typer.Option(help="Stop after so many more cells (default: no limit).")] = None,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    certify: Certify = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the result (default: the same).")] = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    if folder.is_file():
        raise StorageError(f"{str(folder)!r} is a file: give the folder that polyfold unfold --out has written")
    out = folder if out is None else out
    check_folder(out)
    before = open_atlas(folder / ATLAS)
    atlas = resume_atlas(
        before, progress=shown(progress), max_cells=max_cells, max_seconds=max_seconds, threads=threads
    )
    finish(
        atlas,
        _given_to_unfold(folder),
        out,
        certify=certify,
        threads=threads,
        progress=shown(progress),
        as_json=as_json,
    )


def _given_to_unfold(folder: Path) -> dict[str, Any]:
    """The model of which the atlas was made, as far as its summary is there to say so."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        return {"model": str(summary["model"]), "notes": list(summary["notes"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"model": None, "notes": []}
