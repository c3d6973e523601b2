"""Vertices and volumes of cells, by polyfold and by Qhull from the cells' facets. Prints one JSON object.

    python run_hulls.py NETWORK.npz CELLS SECONDS CELLS.npz

Qhull (through SciPy) is given each cell's facets, without half-spaces that are none, and a point inside, both found
before: it intersects the half-spaces for the vertices and takes their hull for the volume. So many cells are taken,
evenly spread; it stops after so many seconds. polyfold walks to the same cells; `all` is what it takes for all cells
of the atlas. The cells go to the last file, for others who are asked the same.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from archive import read
from scipy.spatial import ConvexHull, HalfspaceIntersection

import polyfold as pf

Rows = tuple[Any, Any, Any]


def by_qhull(cells: list[Rows], seconds: float) -> tuple[list[int], list[float], float]:
    """Numbers of vertices, volumes, and the seconds for them."""
    vertices, volumes = [], []
    start = time.process_time()
    for rows, bounds, inside in cells:
        found = HalfspaceIntersection(np.column_stack([rows, -bounds]), inside).intersections
        hull = ConvexHull(found)
        vertices.append(len(hull.vertices))
        volumes.append(float(hull.volume))
        if time.process_time() - start > seconds:
            break
    return vertices, volumes, time.process_time() - start


def main() -> None:
    """Unfold, measure both, compare."""
    path, many, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    layers, box = read(path)
    assert box is not None
    atlas = pf.unfold(layers, pf.box(*box), threads=1)
    chosen = np.unique(np.linspace(0, len(atlas) - 1, many).astype(int))
    facets = atlas.halfspaces(chosen)
    given = [(*facets[k], atlas.witnesses[cell]) for k, cell in enumerate(chosen)]
    counts, volumes, theirs = by_qhull(given, seconds)
    done = chosen[: len(counts)]
    start = time.process_time()
    ours_volumes, ours_vertices = atlas.volumes(done), atlas.vertices(done)
    ours = time.process_time() - start
    np.savez(
        Path(sys.argv[4]),
        start=facets.start,
        A=facets.A,
        b=facets.b,
        inside=atlas.witnesses[done],
        vertices=[len(each) for each in ours_vertices],
        volumes=ours_volumes,
    )
    start = time.process_time()
    whole = float(atlas.volumes().sum())
    everything = time.process_time() - start
    answer = {
        "cells": len(atlas),
        "done": len(done),
        "qhull": theirs,
        "polyfold": ours,
        "all": everything,
        "volume_off": abs(whole / float(np.prod(box[1] - box[0])) - 1),
        "qhull_volumes_off": float(np.max(np.abs(np.array(volumes) / ours_volumes - 1))),
        "other_vertices": int(sum(len(a) != b for a, b in zip(ours_vertices, counts, strict=True))),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
