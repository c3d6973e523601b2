"""Time calls of polyfold on one network whenever it is told to. Prints one JSON object for each line that it reads.

    python run_in_turns.py NETWORK.npz [CPU_SECONDS]

A line is `unfold|count|certify THREADS SECONDS`: the call is repeated until the seconds are spent, at least once, and
medians are told. The process waits in between, so that others can be measured in turns with it. Any version of polyfold
can be measured. Importing polyfold, reading the network and lowering it are not timed, nor is the unfolding of what is
certified. More CPU-seconds than given, in all, end the process.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from archive import read

import polyfold as pf

Call = Callable[[], Any]


class Network:
    """A network on its domain, lowered once."""

    def __init__(self, path: Path) -> None:
        layers, box = read(path)
        self.domain = None if box is None else pf.box(*box)
        self.program = pf.unfold(pf.load(layers), self.domain, max_cells=1, threads=1).program
        self.atlas: Any = None

    def call(self, name: str, threads: int) -> Call:
        """What to time."""
        if name in ("unfold", "count"):
            return lambda: getattr(pf, name)(self.program, self.domain, threads=threads)
        if name != "certify":
            raise SystemExit(f"there is no {name!r} to time; there are unfold, count and certify")
        if self.atlas is None:
            self.atlas = pf.unfold(self.program, self.domain, threads=threads)
        return lambda: pf.certify(self.atlas, threads=threads)

    def cells(self, result: Any) -> int:
        """How many cells a result speaks of."""
        if isinstance(result, pf.Atlas):
            return len(result)
        return int(result.cells) if hasattr(result, "cells") else len(self.atlas)


def timed(call: Call, seconds: float) -> tuple[Any, dict[str, float]]:
    """A result, and how long the call takes."""
    # The clock of the process counts all of its threads, that of the thread only the one that calls.
    clocks = {"cpu_seconds": time.process_time, "calling_seconds": time.thread_time, "seconds": time.perf_counter}
    took: list[dict[str, float]] = []
    while not took or sum(each["seconds"] for each in took) < seconds:
        before = {name: clock() for name, clock in clocks.items()}
        result = call()
        took.append({name: clock() - before[name] for name, clock in clocks.items()})
    return result, {name: median(each[name] for each in took) for name in clocks}


def main() -> None:
    """Answer until there are no more lines."""
    if len(sys.argv) > 2:
        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    network = Network(Path(sys.argv[1]))
    for line in sys.stdin:
        name, threads, seconds = line.split()
        result, took = timed(network.call(name, int(threads)), float(seconds))
        complete = bool(getattr(getattr(result, "certificate", result), "complete", True))
        print(json.dumps({"cells": network.cells(result), "complete": complete, **took}), flush=True)


if __name__ == "__main__":
    main()
