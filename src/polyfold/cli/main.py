"""The command line: polyfold info, polyfold unfold, polyfold resume, polyfold count, polyfold equivalent,
polyfold explain, polyfold movie, polyfold reduce, polyfold report, polyfold serve, polyfold truncate.

Exit codes: 0 done, 1 a check failed (a fault of ours), 2 bad input (one line on standard error), 3 a limit was reached
and the result is incomplete, 70 something else went wrong (a fault of ours). Of polyfold equivalent: 0 equal,
1 different, 2 bad input, 3 unknown, 70 a fault of ours.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from polyfold._base.files import atomically
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import regions
from polyfold.atlas.storage import open as open_atlas
from polyfold.cli.explain import explain
from polyfold.cli.facts import (
    atlas_facts,
    atlas_panel,
    count_facts,
    count_panel,
    equivalence_panel,
    network_facts,
    network_panel,
)
from polyfold.cli.movie import movie
from polyfold.cli.options import (
    BAD_INPUT,
    CHECK_FAILED,
    OUR_FAULT,
    AsJson,
    BoxBounds,
    BoxFile,
    Certify,
    MaxSeconds,
    Model,
    Threads,
    Until,
    app,
    domain_of,
    network_named,
    notes_on_standard_error,
    print_json,
    say_incomplete,
)
from polyfold.cli.planning import planning_facts, planning_panel
from polyfold.cli.reduce import reduce
from polyfold.cli.report import report
from polyfold.cli.serve import serve
from polyfold.cli.truncate import truncate
from polyfold.cli.usage import UsageError, said_of
from polyfold.compare.equivalence.decide import equivalent as compare_networks
from polyfold.engine.count import count as count_network
from polyfold.engine.proof.certify import certify as certify_atlas
from polyfold.engine.resume import resume as resume_atlas
from polyfold.engine.unfold import unfold as unfold_network
from polyfold.errors import LimitError, PolyfoldError, StorageError
from polyfold.program.lower.lower import lower
from polyfold.size.bounds import bounds as network_bounds
from polyfold.size.estimate import estimate as estimate_cost

VERDICTS = {"equal": 0, "different": 1, "unknown": 3}

_ATLAS = "atlas.parquet"

# Somebody who set a limit does not want to wait for the regions of what was found.
_REGIONS_AT_ONCE = 50_000


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"polyfold {version('polyfold')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Unfold a ReLU network into its linear pieces, exactly."""


@app.command()
def info(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    seconds: Annotated[float, typer.Option(help="How long to try what unfolding would take; 0: not at all.")] = 2.0,
    threads: Threads = None,
    until: Until = None,
    as_json: AsJson = False,
) -> None:
    """Say what a network is, how many cells it can have, and what finding them would take."""
    domain = domain_of(box, box_file)
    network = network_named(model, until)
    program = lower(network)
    limits = network_bounds(network, domain)
    cost, too_large = None, None
    if seconds:
        if not seconds > 0:
            raise LimitError(f"--seconds {seconds:g} leaves no time: give a positive number, or 0 for no estimate")
        try:
            cost = estimate_cost(program, domain, seconds=seconds, threads=threads)
        except LimitError as error:
            too_large = str(error)
    if as_json:
        planning = planning_facts(limits, cost, too_large)
        print_json({**network_facts(network, program), **planning})
    else:
        Console().print(network_panel(network, program))
        Console().print(planning_panel(limits, cost, too_large))


@app.command()
def count(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    faces: Annotated[bool, typer.Option("--faces", help="Count the faces of all dimensions, too.")] = False,
    until: Until = None,
    as_json: AsJson = False,
) -> None:
    """Count the cells of a network, without keeping them."""
    network = network_named(model, until)
    found = count_network(
        network,
        domain_of(box, box_file),
        progress=sys.stderr.isatty(),
        max_seconds=max_seconds,
        threads=threads,
    )
    if as_json:
        print_json({"model": model, "notes": list(network.notes), **count_facts(found, faces)})
    else:
        Console().print(count_panel(found, faces))
    if not found.complete:
        say_incomplete(found.stopped_by, found.cells)


@app.command()
def unfold(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    max_cells: Annotated[int | None, typer.Option(help="Stop after so many cells.")] = None,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    certify: Certify = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the atlas (atlas.parquet) and its summary.")] = None,
    until: Until = None,
    as_json: AsJson = False,
) -> None:
    """Find every cell of a network, on all of its input space or in a box."""
    domain = domain_of(box, box_file)
    network = network_named(model, until)
    if out is not None:
        _check_writable(out)
    atlas = unfold_network(
        network,
        domain,
        progress=sys.stderr.isatty(),
        max_cells=max_cells,
        max_seconds=max_seconds,
        threads=threads,
    )
    _report(
        atlas, {"model": model, "notes": list(network.notes)}, out, certify=certify, threads=threads, as_json=as_json
    )


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that an incomplete unfold has written.")],
    max_cells: Annotated[int | None, typer.Option(help="Stop after so many more cells.")] = None,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    certify: Certify = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the result; the same unless given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Go on with an unfold that a limit or Ctrl-C has stopped."""
    if folder.is_file():
        raise StorageError(f"{str(folder)!r} is a file: give the folder that polyfold unfold --out has written")
    out = folder if out is None else out
    _check_writable(out)
    before = open_atlas(folder / _ATLAS)
    atlas = resume_atlas(
        before, progress=sys.stderr.isatty(), max_cells=max_cells, max_seconds=max_seconds, threads=threads
    )
    _report(atlas, _model_named_in(folder), out, certify=certify, threads=threads, as_json=as_json)


def _model_named_in(folder: Path) -> dict[str, Any]:
    """How the model was called when the atlas was made, as far as its summary is there to say so."""
    try:
        return {"model": json.loads((folder / "summary.json").read_text(encoding="utf-8"))["model"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {"model": None}


def _report(
    atlas: Atlas,
    model: dict[str, Any],
    out: Path | None,
    *,
    certify: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Certify, write and print what was found; exit codes say what is wrong with it."""
    if certify and atlas.complete:
        atlas = atlas.with_certificate(certify_atlas(atlas, progress=sys.stderr.isatty(), threads=threads))
    merged = regions(atlas) if atlas.complete or len(atlas) <= _REGIONS_AT_ONCE else None
    facts = {**model, **atlas_facts(atlas, merged)}
    written = None if out is None else _write(atlas, facts, out)
    if written is not None:
        facts["atlas"] = str(written)
    if as_json:
        print_json(facts)
    else:
        console = Console()
        console.print(atlas_panel(atlas, merged))
        if written:
            console.print(
                f"atlas written to [bold]{written}[/]; read it with polyfold.open({str(written)!r})",
                soft_wrap=True,
            )
    if atlas.certificate.failed_checks:
        names = ", ".join(item.name for item in atlas.certificate.failed_checks)
        Console(stderr=True).print(f"[bold red]a check failed:[/] {names}; please report this", soft_wrap=True)
        raise typer.Exit(CHECK_FAILED)
    if not atlas.complete:
        say_incomplete(atlas.certificate.stopped_by, len(atlas), out)


@app.command()
def equivalent(
    a: Annotated[str, typer.Argument(help="A network: an .onnx or .pt2 file, or the name of a bundled one.")],
    b: Annotated[str, typer.Argument(help="Another one with as many inputs and outputs.")],
    box: BoxBounds = None,
    box_file: BoxFile = None,
    tolerance: Annotated[float, typer.Option(help="How much each output may differ.")] = 0.0,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds; no limit unless given.")
    ] = None,
    max_cells: Annotated[int | None, typer.Option(help="List at most so many cells of both together.")] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Decide whether two networks are the same function, on all of their input space or in a box."""
    found = compare_networks(
        network_named(a),
        network_named(b),
        domain_of(box, box_file),
        tolerance=tolerance,
        max_seconds=max_seconds,
        max_cells=max_cells,
        progress=sys.stderr.isatty(),
        threads=threads,
    )
    if as_json:
        print_json({"a": a, "b": b, **found.to_json()})
    else:
        Console().print(equivalence_panel(found))
    raise typer.Exit(VERDICTS[found.word])


app.command()(explain)
app.command()(movie)
app.command()(reduce)
app.command()(report)
app.command()(serve)
app.command()(truncate)


def main() -> None:
    """Entry point: turns our errors into one line and exit code 2, and our faults into one line and 70."""
    try:
        with notes_on_standard_error():
            # Typer would show usage errors in a box of several lines.
            sys.exit(app(prog_name="polyfold", standalone_mode=False) or 0)
    except UsageError as error:
        said = said_of(error, sys.argv[1:])
        if said is not None:
            Console(stderr=True).print(f"[bold red]error:[/] {escape(said)}", soft_wrap=True, highlight=False)
        sys.exit(BAD_INPUT)
    except PolyfoldError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {_plain(error)}", soft_wrap=True, highlight=False)
        sys.exit(BAD_INPUT)
    except Exception as error:
        # Whoever asks whether networks are equal must not take a fault of ours for "different".
        said = f"{type(error).__name__}: {_plain(error)}"
        Console(stderr=True).print(
            f"[bold red]a fault of polyfold's, please report it:[/] {said}", soft_wrap=True, highlight=False
        )
        sys.exit(OUR_FAULT)


def _plain(error: Exception) -> str:
    return escape(" ".join(str(error).split()))


def _check_writable(folder: Path) -> None:
    """Fail before the work, not after it, where nothing can be written. Makes no folder yet."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise StorageError(f"cannot write to {str(folder)!r}: {str(there)!r} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write to {str(folder)!r}: permission denied")


def _write(atlas: Atlas, facts: dict[str, Any], folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write to {str(folder)!r}: {error.strerror}") from None
    path = folder / _ATLAS
    with atomically(folder / "summary.json") as summary:
        summary.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        atlas.save(path)
    return path


if __name__ == "__main__":
    main()
