"""How long does a real network take: ACAS-Xu 1_1 on the box of its property 3?"""

from __future__ import annotations

from cases import ACASXU_CELLS, write_acasxu
from report import Section, Table, figure
from settings import Bench, can


def section(bench: Bench) -> Section:
    title = "ACAS-Xu 1_1 on the box of property 3"
    path = write_acasxu(bench.folder)
    if path is None:
        return Section(title, "Not measured: the network is not at hand.", None)
    table, notes = Table(["call", "threads", "seconds", "CPU-seconds", "cells /s"]), []
    for task, threads in (("unfold", 1), ("unfold", 2), ("count", 1), ("count", 2), ("certify", 1), ("certify", 2)):
        if not can(task):
            continue
        measured = bench.polyfold(path, task, threads)
        if measured["cells"] != ACASXU_CELLS:
            notes.append(f"**pf.{task} finds {measured['cells']:,} cells, not {ACASXU_CELLS:,}.**")
        if task == "certify" and measured["level"] != "certified":
            notes.append(f"**pf.certify says {measured['level']}, not certified.**")
        table.rows.append(
            [
                f"`pf.{task}`",
                str(threads),
                figure(measured["seconds"]),
                figure(measured["cpu_seconds"]),
                figure(measured["cells"] / measured["seconds"]),
            ]
        )
    how = (
        f"6 layers of 50 ReLUs, 5 inputs, {ACASXU_CELLS:,} cells. The network is not part of the repository; it is "
        "read from `../shared/data/models`."
    )
    if can("certify"):
        how += " `pf.certify` proves an atlas that is there already."
    return Section(title, how, table, notes)
