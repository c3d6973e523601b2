"""Call polyfold on networks and let callgrind count that and nothing else. Prints one JSON object.

python run_instructions.py COUNT_HERE.so unfold|count NETWORK.npz ...

Made to run under callgrind, which begins to count when it is told to. What only a first call does, imports above all,
is done on a small network before. Any version of polyfold can be measured.
"""

from __future__ import annotations

import ctypes
import json
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
from archive import read

import polyfold as pf


def call(name: str, program: Any, domain: Any) -> int:
    """Make the call; the number of cells."""
    found = getattr(pf, name)(program, domain, threads=1)
    return int(found.cells) if name == "count" else len(found)


def main() -> None:
    """Call, and say how many cells there are."""
    counter, name, *paths = sys.argv[1:]
    callgrind = ctypes.CDLL(counter)
    # Under valgrind a run may have no cell after seconds, and working out why is not to be counted.
    logging.getLogger("polyfold").setLevel(logging.ERROR)
    call(name, [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
    cells = 0
    for path in paths:
        layers, box = read(Path(path))
        domain = None if box is None else pf.box(*box)
        # Reading and lowering a network is not counted.
        program = pf.unfold(pf.load(layers), domain, max_cells=1, threads=1).program
        callgrind.start()
        cells += call(name, program, domain)
        callgrind.stop()
    print(json.dumps({"cells": cells}))


if __name__ == "__main__":
    main()
