"""How far is the engine from what the processor's arithmetic allows?"""

from __future__ import annotations

from cases import boxes
from processes import run
from report import Section, Table, figure
from settings import Bench, can, rate

CASES = boxes(1, (2, 32, 32, 1), (2, 128, 128, 128, 1), (3, 32, 32, 1), (3, 64, 64, 1), (5, 16, 16, 1))


def section(bench: Bench) -> Section:
    bench.say("peak multiply-adds per second")
    peak = run("run_multiply_adds", 1.0 if bench.quick else 5.0)
    assert peak is not None
    speed = float(peak["multiply_adds"])
    tasks = [task for task in ("unfold", "count") if can(task)]
    table = Table(
        [
            "network",
            "cells",
            "multiply-adds per cell",
            "at the peak, ns per cell",
            *(x for task in tasks for x in (f"`pf.{task}`, ns per cell", "share of the peak")),
        ]
    )
    for case in CASES:
        row: list[str] = []
        for task in tasks:
            measured = bench.polyfold(case, task)
            least, spent = 1e9 * case.multiply_adds / speed, 1e9 / rate(measured)
            row = row or [case.name, f"{measured['cells']:,}", f"{case.multiply_adds:,}", figure(least)]
            row += [figure(spent), f"{100 * least / spent:.2g} %"]
        table.rows.append(row)
    how = (
        "On each cell every gate has an affine form of d coefficients and a constant; carried from cell to cell, a "
        "layer of n gates costs n (d + 1) multiply-adds per cell, and all layers their sum: the least that a method "
        "needs which looks at every gate of every cell (cells that part late could share their first layers). The peak "
        f"is what one thread reaches in a large float64 matrix product here: {speed / 1e9:.1f} thousand million "
        "multiply-adds per second. The share is what of that peak the call would reach if it did nothing else; the "
        "rest is signs, vertices, facets, and memory. Box [-1, 1]^d, one thread."
    )
    return Section("Distance from the arithmetic limit", how, table)
