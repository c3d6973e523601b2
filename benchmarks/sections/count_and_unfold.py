"""How many cells per second do counting and unfolding reach, beside version 0.1 in the same run?"""

from __future__ import annotations

import os
from pathlib import Path

from cases import Case, write_acasxu
from report import Section, Table, figure
from settings import Bench, Measured, rate

CASES = (
    Case((2, 32, 32, 1), 1000),
    Case((2, 128, 128, 128, 1), 1),
    Case((3, 32, 32, 1), 1000),
    Case((3, 64, 64, 1), 1),
    Case((4, 16, 16, 1), 1000),
    Case((5, 16, 16, 1), 1000),
    Case((6, 12, 12, 1), 1000),
    Case((8, 10, 10, 1), 1000),
    Case((20, 10, 10, 1), 0.05),
    Case((30, 10, 10, 1), 0.05),
    Case((1, 5000, 1)),
    Case((2, 500, 1)),
    # What a call costs before the first cell.
    Case((2, 4, 1), 1),
    Case((2, 8, 1), 1),
)
QUICK = (Case((2, 32, 32, 1), 1000), Case((3, 32, 32, 1), 1000), Case((2, 8, 1), 1))
TASKS = ("count", "unfold")


def section(bench: Bench) -> Section:
    threads = os.cpu_count() or 1
    versions = [None, bench.before] if bench.before else [None]
    counts = [1] if threads == 1 else [1, threads]
    headings = ["network", "box", "cells"]
    for task in TASKS:
        headings.append(f"`pf.{task}` /CPU-s")
        if bench.before:
            headings += ["0.1 /CPU-s", *(f"ratio, {many} thread{'s' * (many > 1)}" for many in counts)]
    table, notes = Table(headings), []
    for label, on, case in _networks(bench):
        tasks = [(task, many) for task in TASKS for many in counts]
        ours, *before = bench.in_turns(case, tasks, versions, 2 * bench.repeat_seconds / len(tasks))
        found = {measured["cells"] for version in (ours, *before) for measured in version}
        if len(found) > 1:
            notes.append(f"**{label}: not all agree on the number of cells: {sorted(found)}.**")
        row = [label, on, f"{ours[0]['cells']:,}"]
        for first in range(0, len(tasks), len(counts)):
            some = slice(first, first + len(counts))
            row += _of_task(ours[some], before[0][some] if before else None)
        table.rows.append(row)
    how = (
        "Cells per CPU-second on one thread, and how many times as fast as version 0.1 that is, which was built from "
        "this repository's history with the same tools: CPU-seconds on one thread, wall time on more. Both run in "
        "turns, so that a machine which slows down slows down both; figures are medians. What is unfolded is put "
        "together, paired, checked and digested. Networks with few cells show what a call costs by itself."
    )
    if not bench.before:
        how += " Not compared with version 0.1: no Python that runs it was given."
    return Section("Counting and unfolding", how, table, notes)


def _of_task(ours: list[Measured], before: list[Measured] | None) -> list[str]:
    """A call on one thread, and perhaps on more."""
    if before is None:
        return [figure(rate(ours[0]))]
    clocks = ["cpu_seconds", *["seconds"] * (len(ours) - 1)]
    ratios = [old[clock] / new[clock] for clock, old, new in zip(clocks, before, ours, strict=True)]
    return [figure(rate(ours[0])), figure(rate(before[0])), *(f"{ratio:.2f} x" for ratio in ratios)]


def _networks(bench: Bench) -> list[tuple[str, str, Case | Path]]:
    """Names, domains, networks."""
    found: list[tuple[str, str, Case | Path]] = [
        (case.name, case.domain, case) for case in (QUICK if bench.quick else CASES)
    ]
    real = None if bench.quick else write_acasxu(bench.folder)
    return found if real is None else [*found, ("ACAS-Xu 1_1", "property 3", real)]
