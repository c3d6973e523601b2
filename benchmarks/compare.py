"""Compare polyfold with relucent in one run on one machine; `make bench` calls this.

    python benchmarks/compare.py --relucent PYTHON_OF_ITS_ENVIRONMENT [--seconds 150] [--write FILE]

Every measurement is a process of its own, one after another. CPU-seconds are user and system time of all
threads and worker processes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from networks import torch_default, write

HERE = Path(__file__).parent
NETWORKS = ((2, 32, 32, 1), (3, 16, 16, 1))
POLYFOLD_SECONDS = 3.0


@dataclass(frozen=True)
class Row:
    """One network, measured three ways."""

    name: str
    relucent: dict[str, Any]
    single: dict[str, Any]
    threaded: dict[str, Any]

    @property
    def ratio(self) -> float:
        """How many times more cells per CPU-second polyfold finds on one thread."""
        return rate(self.single) / rate(self.relucent)

    def cells(self) -> list[str]:
        """The row as text."""
        found, total = self.relucent["cells"], self.single["cells"]
        return [
            self.name,
            f"{total:,}",
            f"{found:,} of {total:,}" if not self.relucent["complete"] else f"{found:,}",
            f"{rate(self.relucent):,.1f}",
            f"{rate(self.single):,.0f}",
            f"{self.threaded['cells'] / self.threaded['seconds']:,.0f}",
            f"{self.ratio:,.0f} x",
        ]


HEADINGS = [
    "network",
    "cells",
    "relucent found",
    "relucent /CPU-s",
    "polyfold /CPU-s",
    "polyfold /s, threads",
    "ratio",
]


def rate(measured: dict[str, Any]) -> float:
    """Cells per CPU-second."""
    return float(measured["cells"]) / float(measured["cpu_seconds"])


def run(python: str, script: str, *arguments: object) -> dict[str, Any]:
    """A worker's JSON answer; its last line is the answer, whatever else a library printed."""
    command = [python, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def machine() -> str:
    """CPU model, number of cores, Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def document(rows: list[Row], seconds: float) -> str:
    """The page for docs/."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; run it to get the numbers of your machine.",
        "",
        f"Machine: {machine()}.",
        "",
        "Networks: `torch.manual_seed(0)`, float32 `nn.Linear` layers of these widths built in order with",
        "`nn.ReLU` between, then `.double()`; on all of R^d.",
        "",
        "relucent 1.0.0 runs in an environment of its own: breadth-first search with one worker and without",
        "its final verification, stopped where the network has more cells than fit",
        f"{seconds:g} CPU-seconds. polyfold is timed over the whole of `pf.unfold` with its default checks,",
        "repeated for a few seconds. CPU-seconds are user and system time of all threads and processes;",
        "importing and reading the network are not timed.",
        "",
        "`/CPU-s` is cells per CPU-second, for polyfold on one thread; `ratio` compares these two.",
        "`/s, threads` is cells per second of wall time with a thread for each core.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|" + "---:|" * (len(HEADINGS) - 1),
        *("| " + " | ".join(row.cells()) + " |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Compare polyfold with relucent.")
    parser.add_argument("--relucent", required=True, help="Python of the environment with relucent")
    parser.add_argument("--seconds", type=float, default=150.0, help="CPU-seconds for relucent, each network")
    parser.add_argument("--write", type=Path, help="Markdown file to write")
    options = parser.parse_args()

    console = Console()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for widths in NETWORKS:
            name = ",".join(map(str, widths))
            path = Path(folder) / f"{name}.npz"
            write(torch_default(widths), path)
            with console.status(f"{name}: polyfold"):
                single = run(sys.executable, "worker_polyfold.py", path, 1, POLYFOLD_SECONDS)
                threaded = run(sys.executable, "worker_polyfold.py", path, os.cpu_count(), POLYFOLD_SECONDS)
            with console.status(f"{name}: relucent, about {options.seconds:g} s"):
                peer = run(options.relucent, "worker_relucent.py", path, options.seconds)
            if peer["complete"] and peer["cells"] != single["cells"]:
                console.print(f"[red]{name}: relucent counts {peer['cells']:,}, polyfold {single['cells']:,}[/]")
            rows.append(Row(name, peer, single, threaded))

    table = Table(title=f"cells found, {machine()}")
    for k, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if k else "left")
    for row in rows:
        table.add_row(*row.cells())
    console.print(table)
    if options.write:
        options.write.write_text(document(rows, options.seconds), encoding="utf-8")
        console.print(f"written to {options.write}")


if __name__ == "__main__":
    main()
