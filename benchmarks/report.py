"""What a section of the page is, and how it is written down."""

from __future__ import annotations

import os
import platform
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid


@dataclass(frozen=True)
class Table:
    """Headings and rows of text; the first column names a row, the others hold figures."""

    headings: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [self.headings, ["---", *["---:"] * (len(self.headings) - 1)], *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def show(self, console: Console, title: str) -> None:
        grid = Grid(title=title)
        for k, heading in enumerate(self.headings):
            grid.add_column(heading, justify="right" if k else "left")
        for row in self.rows:
            grid.add_row(*row)
        console.print(grid)


@dataclass(frozen=True)
class Section:
    """One question: its title, how it was measured, the table, a picture of it, and what follows from it."""

    title: str
    how: str
    table: Table | None
    notes: list[str] = field(default_factory=list)
    picture: str | None = None  # its address as seen from the page

    def markdown(self) -> str:
        notes = "\n".join(f"- {note}" for note in self.notes)
        table = self.table.markdown() if self.table else ""
        picture = f"![{self.title}]({self.picture})" if self.picture else ""
        parts = [f"## {self.title}", paragraph(self.how), table, picture, notes]
        return "\n\n".join(part for part in parts if part)


def paragraph(text: str) -> str:
    """Lines of a length that reads well."""
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)


def machine() -> str:
    """CPU model, number of cores, Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def figure(value: float) -> str:
    """Three digits that matter, with thousands apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
