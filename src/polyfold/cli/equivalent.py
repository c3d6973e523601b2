"""polyfold equivalent: whether two networks are the same function."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from polyfold._base.words import in_digits
from polyfold.cli.exits import Exit
from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
    MaxSeconds,
    ShowProgress,
    Threads,
    domain_of,
    network_named,
    shown,
)
from polyfold.cli.output import add_checks, document, facts_grid, show, standard_output
from polyfold.compare.equivalence.decide import equivalent as compare_networks
from polyfold.compare.equivalence.result import Equivalence

_EXITS = {"equal": Exit.DONE, "different": Exit.NO, "unknown": Exit.LIMIT}
_STYLES = {"equal": "bold green", "different": "bold red", "unknown": "bold yellow"}
# Of long lists of numbers, so many are shown.
_NUMBERS_SHOWN = 10


def equivalent(
    a: Annotated[str, typer.Argument(help="A network: an .onnx or .pt2 file, or the name of a bundled one.")],
    b: Annotated[str, typer.Argument(help="Another one with as many inputs and outputs.")],
    box: BoxBounds = None,
    box_file: BoxFile = None,
    tolerance: Annotated[float, typer.Option(help="How much each output may differ.")] = 0.0,
    max_seconds: MaxSeconds = None,
    max_cells: Annotated[int | None, typer.Option(help="List at most so many cells of both together.")] = None,
    threads: Threads = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    found = compare_networks(
        network_named(a),
        network_named(b),
        domain_of(box, box_file),
        tolerance=tolerance,
        max_seconds=max_seconds,
        max_cells=max_cells,
        progress=shown(progress),
        threads=threads,
    )
    show(document(found, {"a": a, "b": b}), as_json, lambda: standard_output().print(equivalence_panel(found)))
    raise typer.Exit(_EXITS[_word(found)])


def equivalence_panel(found: Equivalence) -> Table:
    """The comparison for a terminal."""
    word = _word(found)
    within = f" within {in_digits(found.tolerance)}" if found.tolerance else ""
    shown_x = None
    if found.x is not None:
        shown_x = ", ".join(f"{value:.9g}" for value in found.x[:_NUMBERS_SHOWN])
        shown_x += ", ..." if len(found.x) > _NUMBERS_SHOWN else ""
    by_output = "; ".join(str(one) for one in found.by_output[:_NUMBERS_SHOWN]) if len(found.by_output) > 1 else None
    grid = facts_grid(
        {
            "verdict": Text(word.upper() + within, _STYLES[word]),
            "first model's head": found.heads[0],
            "second model's head": found.heads[1],
            "largest difference": str(found.worst) + ("" if found.compared == "outputs" else f", of {found.compared}"),
            "at the input": shown_x,
            "output by output": by_output,
            "how": found.method,
        }
    )
    add_checks(grid, found.certificate.checks if found.certificate is not None else ())
    if found.stopped_by is not None:
        grid.add_row("stopped by", found.stopped_by)
    grid.add_row("seconds", f"{found.seconds:.3g}")
    return grid


def _word(found: Equivalence) -> str:
    """The verdict in the words of the question."""
    return str(getattr(found, "word", found.verdict))
