"""How much memory polyfold takes at its peak. Prints one JSON object.

    python run_memory.py NETWORK.npz unfold|count THREADS

The peak is that of the resident set over one call, beyond what was resident before it. A call on a tiny network comes
first, so that what is loaded once does not count.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
from archive import read

import polyfold as pf
from polyfold.program.lower.lower import lower


def status(name: str) -> int:
    """A line of this process's status, in bytes."""
    match = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit(f"this system does not tell {name}")
    return 1024 * int(match.group(1))


def main() -> None:
    """Warm up, reset the peak, run once."""
    path, name, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    layers, box = read(path)
    program, domain = lower(pf.load(layers)), None if box is None else pf.box(*box)
    run = pf.unfold if name == "unfold" else pf.count
    run([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], threads=threads)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is resident now
    before = status("VmRSS")
    result = run(program, domain, threads=threads)
    peak = status("VmHWM")
    arrays = [value for value in vars(result).values() if isinstance(value, np.ndarray)] if name == "unfold" else []
    cells = len(result) if name == "unfold" else int(result.cells)
    if not result.complete:
        raise SystemExit(f"{name} did not come to its end")
    level = result.certificate.level if name == "unfold" else ""
    size = sum(array.nbytes for array in arrays)
    print(json.dumps({"cells": cells, "level": level, "peak": peak - before, "result": size}))


if __name__ == "__main__":
    main()
