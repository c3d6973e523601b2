"""Vertices and volumes of cells in space by CGAL; run by the Python of its environment. Prints one JSON object.

    python run_cgal.py CELLS.npz SECONDS

The file is one that run_hulls.py wrote: facets of cells, points inside, and what polyfold says of the cells.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from CGAL.CGAL_Convex_hull_3 import halfspace_intersection_3
from CGAL.CGAL_Kernel import Plane_3, Point_3
from CGAL.CGAL_Polygon_mesh_processing import triangulate_faces, volume
from CGAL.CGAL_Polyhedron_3 import Polyhedron_3


def measured(rows: Any, bounds: Any, inside: Any) -> tuple[int, float]:
    """How many vertices a cell has, and its volume."""
    planes = [Plane_3(*row, -bound) for row, bound in zip(rows.tolist(), bounds.tolist(), strict=True)]
    cell = Polyhedron_3()
    halfspace_intersection_3(planes, cell, Point_3(*inside.tolist()))
    vertices = cell.size_of_vertices()
    triangulate_faces(cell)
    return vertices, float(volume(cell))


def main() -> None:
    """Read, measure, compare."""
    with np.load(Path(sys.argv[1])) as cells:
        start, rows, bounds, inside = (cells[name] for name in ("start", "A", "b", "inside"))
        vertices, volumes = cells["vertices"], cells["volumes"]
    found: list[tuple[int, float]] = []
    began = time.process_time()
    while len(found) < len(inside) and time.process_time() - began < float(sys.argv[2]):
        k = len(found)
        some = slice(start[k], start[k + 1])
        found.append(measured(rows[some], bounds[some], inside[k]))
    seconds = time.process_time() - began
    counts, sizes = (np.array(each) for each in zip(*found, strict=True))
    done = len(found)
    answer = {
        "done": done,
        "seconds": seconds,
        "other_vertices": int((counts != vertices[:done]).sum()),
        "volumes_off": float(np.max(np.abs(sizes / volumes[:done] - 1))),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
