"""Call polyfold on one network so many times; made to run under callgrind. Prints one JSON object.

python run_instructions.py NETWORK.npz unfold|count TIMES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from archive import read

import polyfold as pf
from polyfold.program.lower.lower import lower


def main() -> None:
    """Call, and say how many cells there are."""
    path, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    layers, box = read(path)
    program, domain = lower(pf.load(layers)), None if box is None else pf.box(*box)
    cells = 0
    for _ in range(times):
        cells = (
            len(pf.unfold(program, domain, threads=1))
            if name == "unfold"
            else pf.count(program, domain, threads=1).cells
        )
    print(json.dumps({"cells": int(cells)}))


if __name__ == "__main__":
    main()
