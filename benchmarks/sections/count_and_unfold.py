"""How many cells per second do counting and unfolding reach on one thread?"""

from __future__ import annotations

from cases import Case, boxes
from report import Section, Table, figure
from settings import Bench, can, rate

# What a throw-away prototype reached that only counted, in thousands of cells per second: what not to fall below.
FLOOR = {
    Case((2, 32, 32, 1), 1000): 1000,
    Case((2, 128, 128, 128, 1), 1): 50,
    Case((3, 32, 32, 1), 1000): 650,
    Case((4, 16, 16, 1), 1000): 720,
    Case((5, 16, 16, 1), 1000): 291,
    Case((6, 12, 12, 1), 1000): 162,
    Case((8, 10, 10, 1), 1000): 33,
}
# The prototype that knew every cell's vertices and facets.
LISTING_FLOOR = dict(zip(FLOOR, (510, 37, 290, 285, 148, 82, 5.6), strict=True))
QUICK = set(boxes(1000, (5, 16, 16, 1), (6, 12, 12, 1), (8, 10, 10, 1)))


def section(bench: Bench) -> Section:
    counts = can("count")
    headings = ["network", "box", "cells"]
    headings += ["`pf.count` /CPU-s", "floor", "of the floor"] if counts else []
    headings += ["`pf.unfold` /CPU-s", "floor", "of the floor"]
    table, notes = Table(headings), []
    for case in FLOOR:
        if bench.quick and case in QUICK:
            continue
        unfolded = bench.polyfold(case)
        row = [case.name, case.domain, f"{unfolded['cells']:,}"]
        if counts:
            counted = bench.polyfold(case, "count")
            if counted["cells"] != unfolded["cells"]:
                notes.append(f"**{case.label}: pf.count says {counted['cells']:,}, pf.unfold {unfolded['cells']:,}.**")
            row += against(rate(counted), 1000 * FLOOR[case])
        table.rows.append(row + against(rate(unfolded), 1000 * LISTING_FLOOR[case]))
    if bench.quick:
        notes.append("Left out in a quick run: " + "; ".join(sorted(case.label for case in QUICK)) + ".")
    how = (
        "Cells per CPU-second, one thread. The floors are what throw-away prototypes reached before this engine was "
        "written, on networks of the same widths and another seed, on the same kind of machine: for `pf.count` one "
        "that kept the vertices and edges of the complex and trusted float signs, for `pf.unfold` one that knew "
        "every cell's vertices and facets."
    )
    return Section("Counting and unfolding", how, table, notes)


def against(reached: float, floor: float) -> list[str]:
    return [figure(reached), figure(floor), f"{100 * reached / floor:.0f} %"]
