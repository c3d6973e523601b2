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
    "of them taken",
    "Qhull, us per cell",
    "CGAL, us per cell",
    "the same cells by polyfold, us per cell",
    "Qhull / polyfold",
    "CGAL / polyfold",
    "volumes of all cells, us per cell",
    "volumes off by: Qhull, CGAL",
    "cells with other vertices: Qhull, CGAL",
]


def section(bench: Bench) -> Section:
    table, notes = Table(HEADINGS), []
    for case in QUICK if bench.quick else CASES:
        bench.say(f"{case.label}: hulls of cells")
        seconds, cells = QUICK_SECONDS if bench.quick else SECONDS, bench.folder / "cells.npz"
        found = run("run_hulls", case.write(bench.folder), CELLS, seconds, cells)
        assert found is not None
        # CGAL's are bodies in space.
        in_space = bench.verifiers is not None and case.widths[0] == 3
        cgal = run("run_cgal", cells, seconds, python=bench.verifiers) if in_space else None
        theirs, ours = (found[who] / found["done"] for who in ("qhull", "polyfold"))
        by_cgal = cgal["seconds"] / cgal["done"] if cgal else None
        whole = found["all"] / found["cells"]
        if found["volume_off"] > 1e-9:
            notes.append(f"**{case.label}: polyfold's volumes do not add up to the box's: {found['volume_off']:.2g}.**")
        table.rows.append(
            [
                case.name,
                f"{found['cells']:,}",
                f"{found['done']:,}",
                figure(1e6 * theirs),
                figure(1e6 * by_cgal) if by_cgal else "-",
                figure(1e6 * ours),
                f"{theirs / ours:.1f} x",
                f"{by_cgal / ours:.1f} x" if by_cgal else "-",
                figure(1e6 * whole),
                f"{found['qhull_volumes_off']:.1g}, " + (f"{cgal['volumes_off']:.1g}" if cgal else "-"),
                f"{found['other_vertices']}, " + (f"{cgal['other_vertices']}" if cgal else "-"),
            ]
        )
    how = (
        "Vertices and volumes of cells in the box [-1, 1]^d. Qhull, through SciPy, and CGAL, through its Python "
        "package cgal, are given what is hard to get: each cell's facets, without the half-spaces that are none, and "
        "a point inside. They intersect the half-spaces and measure the hull, CGAL in three dimensions only. polyfold "
        "finds both by walking to the same cells, which are spread over the atlas, from their patterns alone. "
        "`volumes of all cells` is `atlas.volumes()`, where cells in a row share the way; all these volumes add up to "
        "that of the box. Off are a cell's volumes, relatively and at worst, and other are numbers of vertices, "
        "mostly where a vertex of a thin cell is merged with another one or found twice. GUDHI has no half-space "
        "intersections; pycddlib, and pypoman on top of it, is no wheel and needs the headers of cddlib. CPU-seconds, "
        "one thread."
    )
    return Section("Hulls of cells", how, table, notes)
