"""How much memory does a cell take, in the result and on the way to it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cases import Case, write_acasxu
from processes import run
from report import Section, Table, figure
from settings import Bench, can

CASES = (Case((2, 128, 128, 128, 1), 1), Case((3, 128, 128, 1), 1), Case((5, 24, 24, 1), 1), Case((8, 12, 12, 1), 1))
QUICK = (Case((2, 128, 128, 128, 1), 1), Case((3, 64, 64, 1), 1))
# Times as wide as the box of property 3: more than five million cells.
WIDER = 3.1


def section(bench: Bench) -> Section:
    table = Table(
        ["network", "call", "threads", "cells", "level", "result, B per cell", "peak beyond it, B per cell", "peak, MB"]
    )
    for label, path in _networks(bench):
        for task, threads in (("unfold", 1), ("unfold", 2), ("count", 1)):
            if not can(task):
                continue
            bench.say(f"{label}: memory of pf.{task}, {threads} thread{'s' * (threads > 1)}")
            measured = run("run_memory", path, task, threads)
            assert measured is not None
            cells = measured["cells"]
            table.rows.append(
                [
                    label,
                    f"`pf.{task}`",
                    str(threads),
                    f"{cells:,}",
                    measured["level"],
                    figure(measured["result"] / cells),
                    figure((measured["peak"] - measured["result"]) / cells),
                    figure(measured["peak"] / 1e6),
                ]
            )
    how = (
        "The peak of the resident memory during one call, beyond what was resident before it, in a process of its "
        "own. `result` is the size of the atlas's arrays: patterns, witnesses, facets, neighbours. The ACAS-Xu box is "
        f"{WIDER:g} times as wide as that of property 3. All runs are complete; `level` is what their certificates say."
    )
    return Section("Memory", how, table)


def _networks(bench: Bench) -> Iterator[tuple[str, Path]]:
    for case in QUICK if bench.quick else CASES:
        yield case.label, case.write(bench.folder)
    wide = None if bench.quick else write_acasxu(bench.folder, WIDER)
    if wide is not None:
        yield "ACAS-Xu 1_1, a wider box", wide
