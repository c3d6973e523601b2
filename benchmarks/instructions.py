"""Instructions per cell, counted by callgrind; `make callgrind` and `make callgrind-check` call this.

    python benchmarks/instructions.py --write            count, and keep the counts
    python benchmarks/instructions.py --check [--allow 0.03]   count, and fail where they rose by more than this share

A count does not depend on how busy the machine is, so that a small loss shows. It does depend on the compiler and on
the instructions that the core was built for. The process runs a call once and then twice: the difference is one call.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from cases import Case, write_acasxu
from processes import run
from report import Table, paragraph
from settings import can

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "history" / "instructions.json"
PAGE = ROOT / "docs" / "instruction_counts.md"
CASES = (Case((2, 32, 32, 1)), Case((3, 16, 16, 1)), Case((5, 16, 16, 1), 1))
# Larger ones, in which the layers before the last one, the sections or the vertices far out weigh most: only counted.
COUNTED = (
    Case((2, 128, 128, 128, 1), 1),
    Case((3, 64, 64, 1), 1),
    Case((4, 16, 16, 1), 1000),
    Case((5, 16, 16, 1), 1000),
)

Counts = dict[str, dict[str, int]]


def regimes(folder: Path) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Label, file and calls of each network; the real one where it is at hand."""
    for case in CASES:
        yield case.label, case.write(folder), ("unfold", "count")
    for case in COUNTED:
        yield case.label, case.write(folder), ("count",)
    if (acasxu := write_acasxu(folder)) is not None:
        yield "ACAS-Xu 1_1 in the box of property 3", acasxu, ("count",)


def instructions(network: Path, task: str, times: int, folder: Path) -> tuple[int, int]:
    """Instructions of a whole process that makes the call so many times, and the number of cells."""
    out = folder / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
    answer = run("run_instructions", network, task, times, under=command)
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    if answer is None or total is None:
        raise SystemExit("callgrind told no total")
    return int(total.group(1)), int(answer["cells"])


def count(console: Console) -> Counts:
    """Cells and instructions of one call, for each network and call."""
    found: Counts = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, network, tasks in regimes(folder):
            for task in tasks:
                if not can(task):
                    continue
                console.print(f"  {label}: pf.{task} under callgrind", highlight=False)
                (once, cells), (twice, _) = (instructions(network, task, times, folder) for times in (1, 2))
                found[f"pf.{task}, {label}"] = {"cells": cells, "instructions": twice - once}
    return found


def table(found: Counts, kept: Counts) -> Table:
    """Instructions per cell, next to those that were kept."""
    rows = []
    for name, new in found.items():
        old = kept.get(name)
        change = f"{100 * (new['instructions'] / old['instructions'] - 1):+.2f} %" if old else "new"
        per_cell = new["instructions"] / new["cells"]
        rows.append([name, f"{new['cells']:,}", f"{new['instructions']:,}", f"{per_cell:,.0f}", change])
    return Table(["call", "cells", "instructions", "per cell", "against the count before"], rows)


def page(found: Counts, kept: Counts, built_by: str) -> str:
    """The page for docs/."""
    how = (
        "Instructions of one call on one thread, checks included, counted by `valgrind --tool=callgrind`: a process "
        "that makes the call twice against one that makes it once. The counts do not depend on how busy the machine "
        f"is, but on the compiler and on the instruction set that the core was built for; here {built_by}. `make "
        "callgrind-check` fails where a count rose by more than 3 % of the one that is kept in "
        "`benchmarks/history/instructions.json`."
    )
    digests = (
        "The digest that ties an atlas to its certificate weighs more here than in time. Valgrind knows no SHA "
        "instructions, so that SHA-256 takes 28 instructions a byte: a tenth of `pf.unfold`. On a processor that has "
        "them it takes about 3 % of the time, and about 7 % on one that has not."
    )
    head = ["# Instruction counts", "Written by `make callgrind`.", paragraph(how), paragraph(digests)]
    return "\n\n".join([*head, table(found, kept).markdown()]) + "\n"


def tools() -> str:
    """The compiler and valgrind, by their own words."""
    compiler = first_line("c++", "--version")
    flags = "x86-64-v3" if "avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else "the compiler's default"
    return f"{compiler}, {flags}, {first_line('valgrind', '--version')}"


def first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return f"no {command[0]}"
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()[0]


def rises(found: Counts, kept: Counts, allow: float) -> list[str]:
    """What rose by more than the share allowed, and what is no longer counted."""
    worse = []
    for name, old in kept.items():
        if name not in found:
            worse.append(f"{name} was counted before and is not now")
        elif found[name]["instructions"] > (1 + allow) * old["instructions"]:
            worse.append(f"{name}: {old['instructions']:,} instructions before, {found[name]['instructions']:,} now")
    return worse


def main() -> None:
    """Count, then keep or compare."""
    parser = argparse.ArgumentParser(description="Count instructions with callgrind.")
    parser.add_argument("--write", action="store_true", help="keep the counts, write the page")
    parser.add_argument("--check", action="store_true", help="fail where counts rose")
    parser.add_argument("--allow", type=float, default=0.03, help="the share by which a count may rise")
    options = parser.parse_args()
    console = Console(stderr=True)
    if shutil.which("valgrind") is None:
        console.print("[bold red]NOT COUNTED: valgrind is not on this machine. Install it and run this again.[/]")
        return
    record: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept: Counts = record.get("counts", {})
    found = count(console)
    table(found, kept).show(Console(), "instructions")
    if options.write:
        KEPT.write_text(json.dumps({"tools": tools(), "counts": found}, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(found, kept, tools()), encoding="utf-8")
    if options.check:
        if record.get("tools") not in (None, tools()):
            console.print(f"[bold yellow]the kept counts come from other tools: {record['tools']}; here: {tools()}[/]")
        worse = rises(found, kept, options.allow)
        if worse:
            raise SystemExit("\n".join(worse))


if __name__ == "__main__":
    main()
