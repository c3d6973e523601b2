"""Time the way from arrays to the weights of a shallow network. Prints one JSON object: an answer for each network.

    python run_shallow.py polyfold|scipy|highs closed|interior SECONDS NETWORK.npz ...

polyfold is called once, and then for SECONDS, on each network: medians are over the calls after the first. That one is
reported by itself, since a process's first call imports modules; Algorithm 1 has imported its own by then. The others
are solvers for Algorithm 1, whose programs are closed or ask for an interior; it runs once, and after SECONDS of CPU
time on one network the system ends the process.
"""

from __future__ import annotations

import hashlib
import json
import math
import resource
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from archive import Layers, read

import polyfold as pf
from baselines.algorithm_1 import ByHighs, by_scipy, find_shallow


def digest(patterns: npt.NDArray[np.bool_]) -> str:
    """The set of patterns, whatever their order."""
    return hashlib.sha256(np.unique(patterns, axis=0).tobytes()).hexdigest()


def time_polyfold(layers: Layers, seconds: float) -> dict[str, Any]:
    """Reading the arrays, lowering, unfolding with the default checks, and the weights."""
    cpu: list[float] = []
    wall: list[float] = []
    while len(wall) < 2 or sum(wall[1:]) < seconds:
        cpu_start, start = time.process_time(), time.perf_counter()
        atlas = pf.unfold(layers, threads=1)
        shallow = pf.rewrite.shallow(atlas)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    times = {"cpu_seconds": median(cpu[1:]), "seconds": median(wall[1:]), "first_cpu_seconds": cpu[0]}
    return {"pieces": len(shallow), "patterns": digest(atlas.signs()), **times}


def time_algorithm_1(layers: Layers, seconds: float, solver: str, interior: bool) -> dict[str, Any]:
    """Half-spaces and local linear models by linear programs."""
    solve = ByHighs() if solver == "highs" else by_scipy
    spent, start = time.process_time(), time.perf_counter()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(spent + seconds), hard))
    found = find_shallow(layers, solve, interior)
    times = {"cpu_seconds": time.process_time() - spent, "seconds": time.perf_counter() - start}
    return {"pieces": len(found.beta), "patterns": digest(found.patterns), "programs": found.programs, **times}


def main() -> None:
    """Measure one network after another."""
    method, programs, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    answers = []
    for path in sys.argv[4:]:
        layers, _ = read(Path(path))
        if method == "polyfold":
            answers.append(time_polyfold(layers, seconds))
        else:
            answers.append(time_algorithm_1(layers, seconds, method, programs == "interior"))
    print(json.dumps({"networks": answers}))


if __name__ == "__main__":
    main()
