"""What commands print: one JSON object (docs/json.md) or lines and tables for people, and what they say of failures."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from polyfold.cli.exits import Exit
from polyfold.errors import how_many

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from polyfold.atlas.certificate import Certificate, Check

# What the JSON of every result has beside the answer itself.
COMMON = ("complete", "stopped_by", "seconds", "evidence", "asked")

_STYLES = {"note": "bold yellow", "incomplete": "bold yellow", "interrupted": "bold yellow"}


# -- JSON


def document(found: Any, given: Mapping[str, Any], facts: dict[str, Any] | None = None) -> dict[str, Any]:
    """What `--json` prints of a result: its form, what was given, and what was found.

    `facts` take the place of what the result itself tells; what all results have in common stays, but for what was
    asked: `polyfold check` compares what results themselves tell.
    """
    from polyfold._base.result import SCHEMA

    to_json = getattr(found, "to_json", None)
    told = to_json() if callable(to_json) else {}
    if facts is not None:
        kept = {name: told[name] for name in COMMON if name in told}
        told = kept | facts | ({"asked": None} if "asked" in kept else {})
    return {"schema": SCHEMA, "kind": type(found).__name__, **given, **told}


def show(facts: Mapping[str, Any], as_json: bool, for_people: Callable[[], object]) -> None:
    """One JSON object on standard output, or the same for people."""
    if as_json:
        # Most readers of JSON refuse NaN and Infinity.
        print(json.dumps(facts, allow_nan=False))
    else:
        for_people()


def write_json(facts: Mapping[str, Any], path: Path) -> None:
    """The same object in a file."""
    path.write_text(json.dumps(facts, indent=1, allow_nan=False) + "\n", encoding="utf-8")


# -- for people


def standard_output() -> Console:
    """Where tables go."""
    from rich.console import Console

    return Console()


def say(*lines: str) -> None:
    """Lines on standard output. What is in them is printed as it is."""
    for line in lines:
        standard_output().print(line, soft_wrap=True, highlight=False, markup=False)


def complain(word: str, line: str) -> None:
    """A line on standard error, behind a word that says what it is."""
    from rich.console import Console
    from rich.text import Text

    style = _STYLES.get(word, "bold red")
    Console(stderr=True).print(Text.assemble((f"{word}:", style), " ", line), soft_wrap=True, highlight=False)


def facts_grid(facts: Mapping[str, Any]) -> Table:
    """Facts one below the other, without those that are not known."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, value in facts.items():
        if value is not None:
            grid.add_row(name.replace("_", " "), _for_people(value))
    return grid


def add_checks(grid: Table, checks: Iterable[Check]) -> None:
    """A line for every check."""
    from rich.text import Text

    for item in checks:
        grid.add_row(Text("ok", "green") if item.passed else Text("FAILED", "bold red"), f"{item.name}: {item.detail}")


def _for_people(value: Any) -> RenderableType:
    from rich.text import Text

    return value if isinstance(value, Text) else Text(_in_words(value))


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)


# -- how it ends


def end_if_incomplete(stopped_by: str | None, cells: int, out: Path | None = None, *, none_found: bool = False) -> None:
    """Say on standard error which limit was reached, if any, and end with its exit code."""
    if stopped_by is None:
        return
    message = f"stopped by {stopped_by} after {how_many(cells, 'cell')}; there are more"
    if none_found:
        message = f"stopped by {stopped_by} before a cell was found; there is at least 1"
    if out is not None:
        message += f": polyfold resume {out} goes on"
    complain("incomplete", message)
    raise typer.Exit(Exit.LIMIT)


def end_if_a_check_failed(certificate: Certificate) -> None:
    """Say on standard error which checks failed, if any, and end with their exit code."""
    if certificate.failed_checks:
        complain("a check failed", f"{', '.join(item.name for item in certificate.failed_checks)}; please report this")
        raise typer.Exit(Exit.NO)


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
        complain("note", record.getMessage())
