"""Measure everything on this machine, one thing after another, and write docs/benchmarks.md; `make bench` calls this.

    python benchmarks/bench.py [--relucent PYTHON] [--before PYTHON] [--verifiers PYTHON]
                               [--quick] [--only SECTION ...] [--write FILE]

relucent, version 0.1 and the verifiers are run by Pythons of environments of their own, and left out where none is
given.

`--quick` takes small limits and small networks, to try it in two or three minutes: its figures are rough, and the page
says so. `--only` runs some sections; with `--write` it puts them in the places of those of the same name, and a line
under each says that it comes from a run of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from processes import WorkerError
from report import Section, machine, paragraph
from sections import (
    acasxu,
    arithmetic_limit,
    around,
    attributions,
    baselines,
    cliffs,
    count_and_unfold,
    diameter,
    explore,
    figure3,
    growth,
    hulls,
    interrupts,
    local_maps,
    memory,
    pictures,
    relucent,
    shapley,
    slices,
    threads,
    verifiers,
)
from settings import Bench, quietness

SECTIONS = {
    "relucent": relucent,
    "baselines": baselines,
    "verifiers": verifiers,
    "hulls": hulls,
    "count": count_and_unfold,
    "acasxu": acasxu,
    "threads": threads,
    "interrupts": interrupts,
    "memory": memory,
    "around": around,
    "growth": growth,
    "cliffs": cliffs,
    "limit": arithmetic_limit,
    "slices": slices,
    "explore": explore,
    "pictures": pictures,
    "figure3": figure3,
    "diameter": diameter,
    "shapley": shapley,
    "attributions": attributions,
    "local_maps": local_maps,
}


def page(sections: list[Section], quick: bool, quiet: str = "") -> str:
    """The page for docs/."""
    head = [
        "# Benchmarks",
        "Written by `make bench`; run it to get the numbers of your machine.",
        f"Machine: {machine()}. One run, one process after another. {quiet}",
        "**A quick run, to try it: small limits, small networks, rough figures.**" if quick else "",
        "Networks are named by their widths: `torch.manual_seed(0)`, float32 `nn.Linear` layers built in order with "
        "`nn.ReLU` between, then `.double()`. CPU-seconds are user and system time of all threads and processes. "
        "polyfold is timed over the whole of a call with its default checks; importing, reading and lowering the "
        "network are not timed. Calls are repeated for a few seconds; figures are medians. How many instructions a "
        "cell takes is on [a page of its own](instruction_counts.md): it does not depend on how busy the machine is.",
    ]
    parts = [*(paragraph(part) for part in head if part), *(section.markdown() for section in sections)]
    return "\n\n".join(parts) + "\n"


def page_with(text: str, sections: list[Section], quiet: str) -> str:
    """A page that was written before, with these sections in their places; one that it has not yet comes last."""
    head, *before = text.rstrip("\n").split("\n\n## ")
    parts = {part.split("\n", 1)[0]: part for part in before}
    for section in sections:
        told = paragraph(f"*Measured again in a run of its own. {quiet}".rstrip() + "*")
        parts[section.title] = section.markdown().removeprefix("## ") + "\n\n" + told
    return "\n\n## ".join([head, *parts.values()]) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Measure polyfold and its peers.")
    parser.add_argument("--relucent", help="Python of the environment with relucent; left out: not compared")
    parser.add_argument("--before", help="Python that runs version 0.1; left out: not compared")
    parser.add_argument("--verifiers", help="Python of the environment with the verifiers; left out: not compared")
    parser.add_argument("--relucent-seconds", type=float, help="CPU-seconds for relucent, each network")
    parser.add_argument("--baseline-seconds", type=float, help="CPU-seconds for a baseline, each network")
    parser.add_argument("--quick", action="store_true", help="small limits: two or three minutes in all")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="run these sections only")
    parser.add_argument("--write", type=Path, help="Markdown file to write")
    options = parser.parse_args()

    # Tables need their width where the output is a file.
    console = Console() if sys.stdout.isatty() else Console(width=180)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench.make(Path(folder), options)
        sections: list[Section] = []
        failed: list[str] = []
        for name in options.only or SECTIONS:
            with bench.watched(name):
                try:
                    section = SECTIONS[name].section(bench)
                except WorkerError as error:
                    # The other sections are still worth having; the exit code tells.
                    section = Section(f"{name}: failed", f"**{error}**", None)
                    failed.append(str(error))
            sections.append(section)
            if section.table:
                section.table.show(console, section.title)
            for note in section.notes:
                console.print(f"- {note}", highlight=False, markup=False)
    console.print(quietness(bench.shares), highlight=False, markup=False)
    console.print(f"{machine()}; {time.perf_counter() - started:,.0f} s in all")
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        quiet = quietness(bench.shares)
        again = options.only and options.write.exists()
        text = options.write.read_text(encoding="utf-8") if again else ""
        whole = page_with(text, sections, quiet) if again else page(sections, options.quick, quiet)
        options.write.write_text(whole, encoding="utf-8")
        console.print(f"written to {options.write}")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
