"""Time polyfold on one network. Prints one JSON object.

    python run_polyfold.py NETWORK.npz unfold|count|certify THREADS SECONDS

The whole call is timed, with its default checks; importing polyfold, reading the network and lowering it are not, nor
is the unfolding of what is certified. It is repeated until SECONDS are spent, and medians are reported. The first run
is dropped if there is time for another.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from archive import read

import polyfold as pf
from polyfold.program.lower.lower import lower


def task(name: str, path: Path, threads: int) -> tuple[Callable[[], Any], Callable[[Any], int]]:
    """What to time, and how many cells its result speaks of."""
    layers, box = read(path)
    program = lower(pf.load(layers))
    domain = None if box is None else pf.box(*box)
    if name == "unfold":
        return lambda: pf.unfold(program, domain, threads=threads), len
    if name == "count":
        return lambda: pf.count(program, domain, threads=threads), lambda counted: int(counted.cells)
    if name != "certify":
        raise SystemExit(f"there is no {name!r} to time; there are unfold, count and certify")
    atlas = pf.unfold(program, domain, threads=threads)
    return lambda: pf.certify(atlas, threads=threads), lambda _: len(atlas)


def main() -> None:
    """Measure until the time is spent."""
    path, name, threads, seconds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    call, cells = task(name, path, threads)
    cpu: list[float] = []
    wall: list[float] = []
    while sum(wall) < seconds:
        # The clock of the process counts all of its threads.
        cpu_start, start = time.process_time(), time.perf_counter()
        result = call()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    kept = slice(1, None) if len(wall) > 1 else slice(None)
    certificate = getattr(result, "certificate", result)
    answer = {
        "cells": cells(result),
        "runs": len(wall[kept]),
        "cpu_seconds": median(cpu[kept]),
        "seconds": median(wall[kept]),
        "complete": bool(getattr(certificate, "complete", True)),
        "level": str(getattr(certificate, "level", "")),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
