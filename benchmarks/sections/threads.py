"""What does a second thread bring?"""

from __future__ import annotations

import os

from cases import Case
from report import Section, Table, figure
from settings import Bench, can

CASES = (Case((3, 128, 128, 1), 1.5), Case((5, 24, 24, 1), 2.2))
QUICK = (Case((3, 64, 64, 1), 1),)


def section(bench: Bench) -> Section:
    table = Table(["network", "call", "cells", "one thread, s", "two threads, s", "ratio", "CPU-seconds, two / one"])
    for case in QUICK if bench.quick else CASES:
        for task in ("unfold", "count"):
            if not can(task):
                continue
            one, two = (bench.polyfold(case, task, threads) for threads in (1, 2))
            table.rows.append(
                [
                    case.label,
                    f"`pf.{task}`",
                    f"{one['cells']:,}",
                    figure(one["seconds"]),
                    figure(two["seconds"]),
                    f"{one['seconds'] / two['seconds']:.2f} x",
                    f"{two['cpu_seconds'] / one['cpu_seconds']:.2f}",
                ]
            )
    how = (
        "Wall time with two threads against one. The second figure says what part of the loss is more work rather "
        "than waiting: 1 would be the same work shared out."
    )
    cores = os.cpu_count() or 1
    notes = [] if cores > 1 else ["**This machine has one core: the ratio says nothing.**"]
    return Section("Threads", how, table, notes)
