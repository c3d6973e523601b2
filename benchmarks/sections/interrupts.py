"""How soon does Ctrl-C give the prompt back?"""

from __future__ import annotations

from cases import Case
from processes import run
from report import Section, Table, figure
from settings import Bench, can

# Far more cells than can be found in the time.
CASES = (Case((3, 512, 512, 1), 1), Case((5, 64, 64, 1), 1))
SECONDS = (0.5, 2.0, 8.0)
QUICK_SECONDS = (0.5,)


def section(bench: Bench) -> Section:
    table = Table(
        [
            "network",
            "call",
            "interrupted after, s",
            "cells by then",
            "seconds until it returns",
            "seconds to put the cells together",
        ]
    )
    for case in CASES:
        for task in ("count", "unfold"):
            for seconds in (QUICK_SECONDS if bench.quick else SECONDS) if can(task) else ():
                bench.say(f"{case.label}: pf.{task}, interrupted after {seconds:g} s")
                measured = run("run_interrupt", case.write(bench.folder), task, seconds)
                assert measured is not None
                table.rows.append(
                    [
                        case.label,
                        f"`pf.{task}`",
                        f"{seconds:g}",
                        f"{measured['cells']:,}",
                        figure(measured["latency"]),
                        figure(measured["together"]) if task == "unfold" else "",
                    ]
                )
    how = (
        "All threads. The engine looks up every 40 milliseconds. What `pf.unfold` then returns is put together, and "
        "its facets are paired, when somebody first asks for a cell."
    )
    return Section("Interrupts", how, table)
