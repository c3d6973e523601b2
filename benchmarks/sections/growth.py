"""How do cells and time grow with width, depth and dimension?"""

from __future__ import annotations

from collections.abc import Callable

from cases import Case, boxes
from report import Section, Table, figure
from settings import Bench, can, slope

SERIES = {
    "width": boxes(1, *((3, w, w, 1) for w in (8, 16, 32, 64, 128))),
    "depth": boxes(1, *((2, *[32] * k, 1) for k in (1, 2, 3, 4, 6, 8))),
    "dimension": boxes(1, *((d, 12, 12, 1) for d in (2, 3, 4, 5, 6, 7, 8))),
}

SIZE: dict[str, Callable[[Case], float]] = {
    "width": lambda case: case.widths[1],
    "depth": lambda case: len(case.widths) - 2,
    "dimension": lambda case: case.widths[0],
}


def section(bench: Bench) -> Section:
    tasks = [task for task in ("unfold", "count") if can(task)]
    table = Table(["network", "with", "cells", *(x for task in tasks for x in (f"`pf.{task}`, s", "us per cell"))])
    notes = []
    for name, series in SERIES.items():
        cases = series[:-1] if bench.quick else series
        measured = {task: [bench.polyfold(case, task) for case in cases] for task in tasks}
        cells = [float(each["cells"]) for each in measured["unfold"]]
        for k, case in enumerate(cases):
            row = [case.name, name, f"{cells[k]:,.0f}"]
            for task in tasks:
                seconds = measured[task][k]["cpu_seconds"]
                row += [figure(seconds), figure(1e6 * seconds / cells[k])]
            table.rows.append(row)
        powers = [f"cells ~ {name}^{slope([SIZE[name](case) for case in cases], cells):.2f}"]
        powers += [
            f"seconds of `pf.{task}` ~ cells^{slope(cells, [each['cpu_seconds'] for each in measured[task]]):.2f}"
            for task in tasks
        ]
        notes.append(f"with {name}: {'; '.join(powers)}")
    how = (
        "One thread, CPU-seconds, on the box [-1, 1]^d. The exponents below the table are least-squares slopes on "
        "logarithmic scales over each series: 1 means that the time a cell takes does not grow. A cell's own cost "
        "grows with the gates it has to be told about, with the layers, and with its vertices, about 2^d of them; "
        "from 7 dimensions on `pf.unfold` uses linear programs instead of vertices. With depth, cells level off on "
        "this box while each has more layers: there the exponent says more about the layers than about the cells."
    )
    return Section("Growth", how, table, notes)
