"""What is asked of an atlas, beside the unfolding that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cases import Case, write_acasxu
from processes import run
from report import Section, Table, figure
from settings import Bench

# About a million cells each, in three and in five dimensions.
CASES = (Case((3, 128, 128, 1), 1.5), Case((5, 24, 24, 1), 2.2))
QUICK = (Case((4, 24, 24, 1), 1),)
# Seconds for each question; one that takes longer has none in the table.
LIMIT, QUICK_LIMIT = 300.0, 20.0
THREADS = 2


def section(bench: Bench) -> Section:
    table = Table(["question", *(f"{label}: {what}" for label, _ in _networks(bench) for what in ("s", "ratio"))])
    columns: list[dict[str, Any]] = []
    notes = []
    for label, path in _networks(bench):
        bench.say(f"{label}: all questions around the walk")
        measured = run("run_around", path, THREADS, QUICK_LIMIT if bench.quick else LIMIT)
        assert measured is not None
        columns.append(measured)
        whole = figure(measured["unfold"]["seconds"])
        notes.append(f"{label}: {measured['cells']:,} cells, unfolded in {whole} s")
    for question in columns[0]["questions"] if columns else ():
        cells = [cell for measured in columns for cell in _told(measured, question)]
        table.rows.append([question, *cells])
    how = (
        f"Seconds of wall time with {THREADS} threads, and their ratio to the unfolding of the same atlas with its "
        "default checks. Every question gets an atlas that remembers nothing from the others; what it imports counts. "
        "A million points are located, evenly spread over the box. A dash stands for a question that took longer than "
        f"{QUICK_LIMIT if bench.quick else LIMIT:g} s, or is refused for this network."
    )
    return Section("Around the walk", how, table, notes)


def _told(measured: dict[str, Any], question: str) -> tuple[str, str]:
    took = measured["questions"][question]
    if not isinstance(took, dict):
        return "-", "-"
    return figure(took["seconds"]), f"{took['seconds'] / measured['unfold']['seconds']:.2f} x"


def _networks(bench: Bench) -> Iterator[tuple[str, Path]]:
    for case in QUICK if bench.quick else CASES:
        yield case.label, case.write(bench.folder)
    real = None if bench.quick else write_acasxu(bench.folder)
    if real is not None:
        yield "ACAS-Xu 1_1, property 3", real
