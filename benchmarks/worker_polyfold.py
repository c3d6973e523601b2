"""Time polyfold on one network. Prints one JSON object.

    python worker_polyfold.py NETWORK.npz THREADS SECONDS

The whole of `pf.unfold` is timed, on all of R^d with its default checks; importing polyfold and reading the
network are not. It is repeated until SECONDS are spent, and the means over all runs are reported.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

import polyfold as pf


def cpu_seconds() -> float:
    """User and system time of this process, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Warm up once, then measure."""
    path, threads, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with np.load(path) as archive:
        network = pf.load([(archive[f"w{k}"], archive[f"b{k}"]) for k in range(len(archive.files) // 2)])
    atlas = pf.unfold(network, threads=threads)
    runs = 0
    cpu, wall = cpu_seconds(), time.perf_counter()
    while runs == 0 or time.perf_counter() - wall < seconds:
        atlas = pf.unfold(network, threads=threads)
        runs += 1
    print(
        json.dumps(
            {
                "cells": len(atlas),
                "runs": runs,
                "cpu_seconds": (cpu_seconds() - cpu) / runs,
                "seconds": (time.perf_counter() - wall) / runs,
                "complete": bool(atlas.certificate.complete),
                "certificate": str(atlas.certificate.level),
            }
        )
    )


if __name__ == "__main__":
    main()
