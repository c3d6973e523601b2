"""Count cells by one of our baselines. Prints one JSON object.

    python run_baseline.py edge_subdivision|facet_vertex NETWORK.npz SECONDS

After SECONDS of CPU time the system ends the process.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from importlib import import_module
from pathlib import Path

from archive import read


def main() -> None:
    """Measure one run."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    method = import_module(f"baselines.{sys.argv[1]}")
    layers, box = read(Path(sys.argv[2]))
    spent = time.process_time()
    limit = math.ceil(spent + float(sys.argv[3]))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    start = time.perf_counter()
    cells = method.count_cells(layers, *box)
    measured = {"cells": cells, "cpu_seconds": time.process_time() - spent, "seconds": time.perf_counter() - start}
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
