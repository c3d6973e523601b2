"""How much memory does a cell take, in the result and on the way to it?"""

from __future__ import annotations

from cases import Case
from processes import run
from report import Section, Table, figure
from settings import Bench, can

CASES = (Case((2, 128, 128, 128, 1), 1), Case((3, 128, 128, 1), 1), Case((5, 24, 24, 1), 1), Case((8, 12, 12, 1), 1))
QUICK = (Case((2, 128, 128, 128, 1), 1), Case((3, 64, 64, 1), 1))


def section(bench: Bench) -> Section:
    table = Table(["network", "call", "threads", "cells", "result, B a cell", "peak beyond it, B a cell", "peak, MB"])
    for case in QUICK if bench.quick else CASES:
        for task, threads in (("unfold", 1), ("unfold", 2), ("count", 1)):
            if not can(task):
                continue
            bench.say(f"{case.label}: memory of pf.{task}, {threads} thread{'s' * (threads > 1)}")
            measured = run("run_memory", case.write(bench.folder), task, threads)
            assert measured is not None
            cells = measured["cells"]
            table.rows.append(
                [
                    case.label,
                    f"`pf.{task}`",
                    str(threads),
                    f"{cells:,}",
                    figure(measured["result"] / cells),
                    figure((measured["peak"] - measured["result"]) / cells),
                    figure(measured["peak"] / 1e6),
                ]
            )
    how = (
        "The peak of the resident memory during one call, beyond what was resident before it, in a process of its "
        "own. `result` is the size of the atlas's arrays: patterns, witnesses, facets, neighbours."
    )
    return Section("Memory", how, table)
