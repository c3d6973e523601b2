"""Time relucent on one network; run with the Python of its own environment. Prints one JSON object.

    python run_relucent.py NETWORK.npz SECONDS

relucent searches cell by cell from the origin. One worker process, no geometric properties, no final
verification: the least that it can do. A short run sets the number of cells that fits SECONDS; a network with
fewer cells is searched to its end.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from archive import read
from relucent import Complex
from relucent.model.model import LinearLayer, ReLULayer, ReLUNetwork

TRIAL_CELLS = 100


def cpu_seconds() -> float:
    """User and system time of this process and of its finished children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def search(path: Path, max_cells: float) -> tuple[int, float, float, bool]:
    """Cells found, CPU seconds, wall seconds, and whether the search came to its end."""
    layers: list[object] = []
    for weight, bias in read(path)[0]:
        layers += [LinearLayer(weight, bias[None, :]), ReLULayer()]
    cells = Complex(ReLUNetwork(layers[:-1]))
    cpu, wall = cpu_seconds(), time.perf_counter()
    result = cells.bfs(max_polys=max_cells, nworkers=1, verify=False, verbose=0)
    return len(cells), cpu_seconds() - cpu, time.perf_counter() - wall, bool(result.complete)


def main() -> None:
    """Calibrate, then measure."""
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    cells, cpu, wall, complete = search(path, TRIAL_CELLS)
    if not complete:
        cells, cpu, wall, complete = search(path, max(TRIAL_CELLS, int(seconds * cells / cpu)))
    print(json.dumps({"cells": cells, "cpu_seconds": cpu, "seconds": wall, "complete": complete}))


if __name__ == "__main__":
    main()
