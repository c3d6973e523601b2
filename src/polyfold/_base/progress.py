"""Progress of long work: a line on standard error, a function of the user's, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int], None]


@contextmanager
def reporter(progress: bool | Progress, what: str = "cells", total: int | None = None) -> Iterator[Progress]:
    """What to call with the number of cells, or of something else, so far; with a total there is a bar."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda cells: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    if total is not None:
        columns.insert(1, BarColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"no {what} yet", total=total)

        def report(cells: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0
            speed = f", {cells / elapsed:,.0f} a second" if elapsed else ""
            of_all = "" if total is None else f" of {total:,}"
            bar.update(task, completed=cells, description=f"{cells:,}{of_all} {what}{speed}")

        yield report
