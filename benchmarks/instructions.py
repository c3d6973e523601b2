"""Instructions per cell, counted by callgrind; `make callgrind` and `make callgrind-check` call this.

    python benchmarks/instructions.py --write            count, and keep the counts
    python benchmarks/instructions.py --check [--allow 0.03]   count, and fail where they rose by more than this share
                                                         or above an aim that they had reached
    ... --before PYTHON                                  count version 0.1, too, by this Python, where it is not kept
    ... --only ACAS 2,500                                some regimes, by words of their names

A count does not depend on how busy the machine is, so that a small loss shows. It does depend on the compiler and on
the instructions that the core was built for.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from polyfold._core import instructions as built_for
from processes import WORKERS, run
from regimes import REGIMES, Regime
from report import Table, paragraph

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "history" / "instructions.json"
PAGE = ROOT / "docs" / "instruction_counts.md"

Counts = dict[str, dict[str, int]]


def name_of(regime: Regime, call: str) -> str:
    """What a count is called in tables and in the file of counts."""
    return f"pf.{call}, {regime.label}"


AIMS = {name_of(regime, call): aim for regime in REGIMES for call, aim in regime.aims.items()}


class Callgrind:
    """Counts instructions of calls, in files of a folder."""

    def __init__(self, folder: Path, console: Console) -> None:
        self.folder, self.console = folder, console
        self.counter = folder / "count_here.so"
        source = WORKERS / "count_here.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(self.counter), str(source)], check=True)

    def instructions(self, regime: Regime, call: str, networks: list[Path], python: str) -> dict[str, int]:
        """Cells and instructions of the call on all these networks."""
        self.console.print(f"  {regime.label}: pf.{call} under callgrind", highlight=False)
        out = self.folder / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        answer = run("run_instructions", self.counter, call, *networks, python=python, under=command)
        total = re.search(r"^totals: (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
        if answer is None or total is None:
            raise SystemExit("callgrind told no total")
        return {"cells": int(answer["cells"]), "instructions": int(total.group(1))}

    def count(self, regimes: list[Regime], python: str = sys.executable, known: Counts | None = None) -> Counts:
        """All calls of the regimes whose networks are at hand; those that are known already are not counted again."""
        found: Counts = {}
        for regime in regimes:
            networks = regime.write(self.folder)
            for call in regime.aims if networks else ():
                name = name_of(regime, call)
                found[name] = (known or {}).get(name) or self.instructions(regime, call, networks, python)
        return found


def per_cell(counted: dict[str, int]) -> float:
    return counted["instructions"] / counted["cells"]


def share(name: str, found: Counts, before: Counts) -> float | None:
    """The instructions per cell as a share of 0.1's; None where 0.1 was not counted."""
    return per_cell(found[name]) / per_cell(before[name]) if name in before and name in found else None


def table(found: Counts, kept: Counts, before: Counts) -> Table:
    """Instructions per cell, next to those of 0.1 and to those that were kept."""
    rows = []
    for name, new in found.items():
        old, of_before = kept.get(name), share(name, found, before)
        change = f"{100 * (new['instructions'] / old['instructions'] - 1):+.2f} %" if old else "new"
        rows.append(
            [
                name,
                f"{new['cells']:,}",
                f"{per_cell(new):,.0f}",
                f"{per_cell(before[name]):,.0f}" if name in before else "-",
                f"{100 * of_before:.0f} %" if of_before else "-",
                f"{100 * AIMS[name]:.0f} %",
                change,
            ]
        )
    headings = ["call", "cells", "per cell", "0.1 per cell", "share", "aim", "against the count before"]
    return Table(headings, rows)


def page(found: Counts, kept: Counts, before: Counts, built_by: str) -> str:
    """The page for docs/."""
    how = (
        "Instructions of one call on one thread, checks included, counted by `valgrind --tool=callgrind`; importing, "
        "reading and lowering the network are not counted. The counts do not depend on how busy the machine is, but "
        f"on the compiler and on the instruction set that the core was built for; here {built_by}. `0.1` is the first "
        "edition, built from this repository's history with the same tools; `share` is what is left of its "
        "instructions per cell, and `aim` what is aimed at. `make callgrind-check` fails where a count rose by more "
        "than 3 % of the one that is kept in `benchmarks/history/instructions.json`, and where an aim that was reached "
        "is missed."
    )
    digests = (
        "The digest that ties an atlas to its certificate is worked out when somebody reads it, and is not in these "
        "counts. That of version 0.1 is, and weighs more here than in time: valgrind knows no SHA instructions, and "
        "SHA-256 takes 28 instructions a byte. On a processor that has them it took about 3 % of the time of "
        "`pf.unfold`, and about 7 % on one that has not."
    )
    head = ["# Instruction counts", "Written by `make callgrind`.", paragraph(how), paragraph(digests)]
    return "\n\n".join([*head, table(found, kept, before).markdown()]) + "\n"


def tools() -> str:
    """The compiler and valgrind, by their own words."""
    return f"{first_line('c++', '--version')}, {built_for}, {first_line('valgrind', '--version')}"


def first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return f"no {command[0]}"
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()[0]


def worse(found: Counts, kept: Counts, before: Counts, allow: float) -> list[str]:
    """What rose by more than the share allowed, aims missed that the kept counts reached, other cells than 0.1's."""
    said = []
    for name, new in found.items():
        old, now, then = kept.get(name), share(name, found, before), share(name, kept, before)
        if old and new["instructions"] > (1 + allow) * old["instructions"]:
            said.append(f"{name}: {old['instructions']:,} instructions before, {new['instructions']:,} now")
        if name in before and before[name]["cells"] != new["cells"]:
            said.append(f"{name}: {new['cells']:,} cells, 0.1 found {before[name]['cells']:,}")
        if now and then and then <= AIMS[name] < now:
            said.append(
                f"{name}: {100 * now:.1f} % of 0.1's instructions per cell, {100 * AIMS[name]:.1f} % are aimed at"
            )
    return said


def main() -> None:
    """Count, then keep or compare."""
    parser = argparse.ArgumentParser(description="Count instructions with callgrind.")
    parser.add_argument("--write", action="store_true", help="keep the counts, write the page")
    parser.add_argument("--check", action="store_true", help="fail where counts rose or aims are missed")
    parser.add_argument("--allow", type=float, default=0.03, help="the share by which a count may rise")
    parser.add_argument("--before", help="Python that finds version 0.1; left out: what is kept of it")
    parser.add_argument("--only", nargs="+", default=[""], help="regimes with one of these words in their names")
    options = parser.parse_args()
    console = Console(stderr=True)
    if shutil.which("valgrind") is None:
        console.print("[bold red]NOT COUNTED: valgrind is not on this machine. Install it and run this again.[/]")
        return
    regimes = [regime for regime in REGIMES if any(word in regime.label for word in options.only)]
    record: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    same_tools = record.get("tools") == tools()
    kept: Counts = record.get("counts", {})
    before: Counts = record.get("0.1", {})
    with tempfile.TemporaryDirectory() as folder:
        callgrind = Callgrind(Path(folder), console)
        if options.before:
            console.print("version 0.1")
            before = before | callgrind.count(regimes, options.before, before if same_tools else None)
        console.print("this version")
        found = callgrind.count(regimes)
    for name in kept.keys() & AIMS.keys() - found.keys():
        console.print(f"[yellow]not counted now: {name}[/]", highlight=False)
    table(found, kept, before).show(Console(), "instructions")
    if options.write:
        # What was not counted now keeps the count that it has.
        counts = {name: counted for name in AIMS if (counted := found.get(name) or kept.get(name))}
        KEPT.write_text(
            json.dumps({"tools": tools(), "counts": counts, "0.1": before}, indent=1) + "\n", encoding="utf-8"
        )
        PAGE.write_text(page(counts, kept, before, tools()), encoding="utf-8")
    if options.check:
        if not same_tools:
            console.print(
                f"[bold yellow]the kept counts come from other tools: {record.get('tools')}; here: {tools()}[/]"
            )
        if said := worse(found, kept, before, options.allow):
            raise SystemExit("\n".join(said))


if __name__ == "__main__":
    main()
