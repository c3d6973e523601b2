"""How does the walk compare with computing each cell's hull by itself?"""

from __future__ import annotations

from cases import Case
from processes import run
from report import Section, Table, figure
from settings import Bench

CASES = (
    Case((2, 64, 64, 1), 1),
    Case((3, 32, 32, 1), 1),
    Case((4, 16, 16, 1), 1),
    Case((5, 16, 16, 1), 1),
    Case((6, 12, 12, 1), 1),
)
QUICK = CASES[:2]
CELLS = 2000
SECONDS, QUICK_SECONDS = 20.0, 2.0
HEADINGS = [
    "network",
    "cells",
    "of them by Qhull",
    "Qhull, us per cell",
    "the same cells by polyfold, us per cell",
    "ratio",
    "volumes of all cells, us per cell",
    "ratio",
    "volumes off by",
    "cells with other vertices",
]


def section(bench: Bench) -> Section:
    table, notes = Table(HEADINGS), []
    for case in QUICK if bench.quick else CASES:
        bench.say(f"{case.label}: hulls of cells")
        found = run("run_hulls", case.write(bench.folder), CELLS, QUICK_SECONDS if bench.quick else SECONDS)
        assert found is not None
        theirs, ours = (found[who] / found["done"] for who in ("qhull", "polyfold"))
        whole = found["all"] / found["cells"]
        if found["volume_off"] > 1e-9:
            notes.append(f"**{case.label}: polyfold's volumes do not add up to the box's: {found['volume_off']:.2g}.**")
        table.rows.append(
            [
                case.name,
                f"{found['cells']:,}",
                f"{found['done']:,}",
                figure(1e6 * theirs),
                figure(1e6 * ours),
                f"{theirs / ours:.1f} x",
                figure(1e6 * whole),
                f"{theirs / whole:,.0f} x",
                f"{found['qhull_volumes_off']:.1g}",
                str(found["other_vertices"]),
            ]
        )
    how = (
        "Vertices and volumes of cells in the box [-1, 1]^d. Qhull, through SciPy, is given what is hard to get: each "
        "cell's facets, without the half-spaces that are none, and a point inside; it intersects the half-spaces and "
        "takes the hull of the vertices. polyfold finds both by walking to the same cells, which are spread over the "
        "atlas, from their patterns alone. `volumes of all cells` is `atlas.volumes()`, where cells in a row share "
        "the way; all these volumes add up to that of the box. The last columns are the largest relative difference "
        "of a cell's volumes, which is Qhull's error on thin cells, and cells where Qhull merges vertices or splits "
        "one. pycddlib, and pypoman on top of it, is no wheel and needs the headers of cddlib; GUDHI and CGAL's "
        "Python packages compute no volumes of half-space intersections: they are left out. CPU-seconds, one thread."
    )
    return Section("Hulls of cells", how, table, notes)
