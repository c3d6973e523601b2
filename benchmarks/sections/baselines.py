"""How does polyfold compare with two other methods, in boxes, where both can count?"""

from __future__ import annotations

from pathlib import Path

from cases import Case, boxes, write_acasxu
from processes import WorkerError
from report import Section, Table, figure
from settings import Bench, Measured, can

CASES = boxes(1, (2, 32, 32, 1), (2, 64, 64, 1), (3, 32, 32, 1), (4, 16, 16, 1), (5, 16, 16, 1), (8, 12, 12, 1))
METHODS = {"edge_subdivision": "edge subdivision", "facet_vertex": "facet-vertex"}


def section(bench: Bench) -> Section:
    tasks = [task for task in ("count", "unfold") if can(task)]
    table = Table(
        [
            "network",
            "cells",
            *(f"{name}, CPU-s" for name in METHODS.values()),
            *(f"`pf.{task}`, CPU-s" for task in tasks),
            *(f"{name} / `pf.{task}`" for task in tasks for name in METHODS.values()),
        ]
    )
    notes: list[str] = []
    cases: list[tuple[str, Case | Path]] = [(case.name, case) for case in CASES]
    acasxu = write_acasxu(bench.folder)
    if acasxu is None:
        notes.append("The ACAS-Xu network is not at hand: not compared.")
    else:
        cases.append(("ACAS-Xu 1_1, property 3", acasxu))
    for name, case in cases:
        peers: dict[str, Measured | None] = {}
        for method in METHODS:
            try:
                peers[method] = bench.baseline(case, method)
            except WorkerError as error:
                peers[method] = None
                notes.append(f"**{name}: {METHODS[method]} failed: {error}.**")
        ours = {task: bench.polyfold(case, task) for task in tasks}
        cells = ours["unfold"]["cells"]
        for who, measured in (*peers.items(), *ours.items()):
            if measured and measured["cells"] != cells:
                notes.append(f"**{name}: {who} counts {measured['cells']:,} cells, pf.unfold {cells:,}.**")
        times = [figure(peer["cpu_seconds"]) if peer else "-" for peer in peers.values()]
        ratios = [
            f"{peer['cpu_seconds'] / ours[task]['cpu_seconds']:,.1f} x" if peer else "-"
            for task in tasks
            for peer in peers.values()
        ]
        table.rows.append([name, f"{cells:,}", *times, *(figure(ours[task]["cpu_seconds"]) for task in tasks), *ratios])
    how = (
        "Two methods from the literature in NumPy, written by us from their descriptions, in "
        "[benchmarks/baselines](../benchmarks/baselines/__init__.py), on the box [-1, 1]^d (ACAS-Xu: its property's "
        "box), one thread. Edge subdivision keeps the vertices and edges of the complex and counts cells at the "
        "end, but lists none: it compares with `pf.count`. Facet-vertex incidence holds each cell with its vertices "
        "and facets: it compares with `pf.unfold`, which also pairs the facets and checks itself. Both need general "
        f"position and trust float signs. A run that takes more than {bench.baseline_seconds:g} CPU-seconds is "
        "ended: '-'." + ("" if any("counts" in note for note in notes) else " All counts that were reached agree.")
    )
    return Section("Other methods, in boxes", how, table, notes)
