"""How do cells and time grow with width, depth and dimension?"""

from __future__ import annotations

from cases import boxes
from report import Section, Table, figure
from settings import Bench, can, slope

SERIES = {
    "width": boxes(1, *((3, w, w, 1) for w in (8, 16, 32, 64, 128))),
    "depth": boxes(1, *((2, *[32] * k, 1) for k in (1, 2, 3, 4, 6, 8))),
    "dimension": boxes(1, *((d, 12, 12, 1) for d in (2, 3, 4, 5, 6, 7, 8))),
}


def section(bench: Bench) -> Section:
    tasks = [task for task in ("unfold", "count") if can(task)]
    table = Table(["network", "with", "cells", *(x for task in tasks for x in (f"`pf.{task}`, s", "us a cell"))])
    notes = []
    for name, cases in SERIES.items():
        measured = [
            {task: bench.polyfold(case, task) for task in tasks} for case in (cases[:-1] if bench.quick else cases)
        ]
        cells = [float(each["unfold"]["cells"]) for each in measured]
        for case, each in zip(cases, measured, strict=False):
            row = [case.name, name, f"{each['unfold']['cells']:,}"]
            for task in tasks:
                seconds = each[task]["cpu_seconds"]
                row += [figure(seconds), figure(1e6 * seconds / each["unfold"]["cells"])]
            table.rows.append(row)
        powers = [
            f"`pf.{task}`: seconds ~ cells^{slope(cells, [float(each[task]['cpu_seconds']) for each in measured]):.2f}"
            for task in tasks
        ]
        growth = (
            f"; cells ~ width^{slope([case.widths[1] for case in cases[: len(cells)]], cells):.2f}"
            if name == "width"
            else ""
        )
        notes.append(f"with {name}, {'; '.join(powers)}{growth}")
    how = (
        "One thread, CPU-seconds, on the box [-1, 1]^d. The exponents below the table are least-squares slopes on "
        "logarithmic scales over each series: 1 means that the time a cell takes does not grow. A cell's own cost "
        "grows with the gates it has to be told about, with the layers, and with its vertices, about 2^d of them; "
        "from 7 dimensions on `pf.unfold` uses linear programs instead of vertices."
    )
    return Section("Growth", how, table, notes)
