"""Look at cells from neighbour to neighbour around a picture. Prints one JSON object.

python run_explore.py MODEL.onnx|784,100,100,10 RADIUS CELLS MAX_SECONDS

RADIUS is that of a box; 0 takes all of R^784.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise

import numpy as np

import polyfold as pf


def untrained(widths: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Layers as torch begins with: uniform, within one over the square root of the inputs."""
    rng = np.random.default_rng(0)
    return [
        (rng.uniform(-1, 1, size=(rows, columns)) / np.sqrt(columns), rng.uniform(-1, 1, size=rows) / np.sqrt(columns))
        for columns, rows in pairwise(widths)
    ]


def main() -> None:
    """Measure one run."""
    name, radius, cells, limit = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    network = pf.load(name if name.endswith(".onnx") else untrained([int(width) for width in name.split(",")]))
    picture = np.random.default_rng(1).uniform(size=784)
    domain = pf.box(picture - radius, picture + radius) if radius else None
    pf.explore(network, picture, domain, max_cells=1)  # what is imported, and what is made once
    start = time.process_time()
    atlas = pf.explore(network, picture, domain, max_cells=cells, max_seconds=limit)
    seconds = time.process_time() - start
    print(json.dumps({"cells": len(atlas), "facets": len(atlas.facet_wall), "cpu_seconds": seconds}))


if __name__ == "__main__":
    main()
