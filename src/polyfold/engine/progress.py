"""Progress of long work: a line on standard error, a function of the user's, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int], None]


@contextmanager
def reporter(progress: bool | Progress, what: str = "cells") -> Iterator[Progress]:
    """What to call with the number of cells, or of something else, so far."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda cells: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"no {what} yet", total=None)

        def report(cells: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0
            speed = f", {cells / elapsed:,.0f} a second" if elapsed else ""
            bar.update(task, description=f"{cells:,} {what}{speed}")

        yield report
