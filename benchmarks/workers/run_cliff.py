"""Time pf.count and pf.unfold on one network. Prints one JSON object.

    python run_cliff.py NETWORK.npz SECONDS

The least CPU-seconds of several runs, which a busy machine disturbs least; each call is repeated until SECONDS are
spent. What only a first call does is done on a small network before. Any version of polyfold can be measured.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from archive import read

import polyfold as pf


def main() -> None:
    """Measure both calls."""
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    layers, box = read(path)
    domain = None if box is None else pf.box(*box)
    small = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    # Reading and lowering the network is not timed.
    program = pf.unfold(pf.load(layers), domain, max_cells=1, threads=1).program
    answer: dict[str, Any] = {}
    for name, call in (("count", pf.count), ("unfold", pf.unfold)):
        call(small, pf.box(-1, 1), threads=1)
        spent, least = 0.0, float("inf")
        while spent < seconds:
            start = time.process_time()
            found: Any = call(program, domain, threads=1)
            least = min(least, time.process_time() - start)
            spent += time.process_time() - start
        cells = int(found.cells) if name == "count" else len(found)
        answer |= {"cells": cells, name: least}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
