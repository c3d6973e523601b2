"""Time what is asked of an atlas beside the unfolding it reads. Prints one JSON object.

    python run_around.py NETWORK.npz THREADS SECONDS [QUESTION ...]

Every question gets an atlas that remembers nothing from the questions before it, and at most SECONDS; one that takes
longer is given as null, one that is refused as the text of the error. The unfolding is timed first, with its default
checks, twice; the faster run counts. CPU-seconds are those of all threads: they tell more where others work, too.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from archive import read

import polyfold as pf
from polyfold._base.clock import Clock, OutOfTimeError
from polyfold.program.lower.lower import lower

# So many points are located.
POINTS = 1_000_000


def anew(atlas: pf.Atlas) -> pf.Atlas:
    """The same arrays and certificate, and nothing that was remembered."""
    other = object.__new__(pf.Atlas)
    other.__dict__.update({field.name: getattr(atlas, field.name) for field in fields(atlas)})
    return other


def questions(domain: pf.Domain, threads: int, folder: Path) -> dict[str, Callable[[pf.Atlas], Any]]:
    """What is asked, by name."""
    rng = np.random.default_rng(0)
    low, high = (np.asarray(each, dtype=float) for each in domain)
    points = rng.uniform(low, high, (POINTS, len(low)))
    saved = folder / "saved.parquet"
    return {
        "regions": lambda atlas: pf.regions(atlas, threads=threads),
        "locate": lambda atlas: atlas.locate(points),
        "volumes": lambda atlas: atlas.volumes(),
        "vertices": lambda atlas: atlas.vertices(),
        "maps": lambda atlas: atlas.maps(),
        "to_pandas": lambda atlas: atlas.to_pandas(),
        "save": lambda atlas: atlas.save(saved),
        "open": lambda atlas: pf.open(saved),
        "check": lambda atlas: pf.check(atlas, threads=threads),
        "certify": lambda atlas: pf.certify(atlas, threads=threads),
        "maximum": lambda atlas: pf.stats.maximum(atlas, output=0, threads=threads),
        "integral": lambda atlas: pf.stats.integral(atlas),
        "classes": lambda atlas: pf.stats.classes(atlas, threads=threads),
        "class_areas": lambda atlas: pf.stats.class_areas(atlas, threads=threads),
        "chebyshev": lambda atlas: atlas.chebyshev(),
        "dual": lambda atlas: pf.graph.dual(atlas, threads=threads),
        "networkx": lambda atlas: pf.graph.dual(atlas, threads=threads).to_networkx(),
        "f_vector": lambda atlas: atlas.f_vector(),
    }


def main() -> None:
    """Unfold, then ask."""
    path, threads, seconds, wanted = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    layers, box = read(path)
    program = lower(pf.load(layers))
    domain = pf.box(*box)
    unfolding = []
    for _ in range(2):
        cpu, start = time.process_time(), time.perf_counter()
        atlas = pf.unfold(program, domain, threads=threads)
        unfolding.append({"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu})
    took: dict[str, dict[str, float] | str | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, ask in questions(box, threads, Path(folder)).items():
            if wanted and name not in wanted:
                continue
            fresh = anew(atlas)
            cpu, start = time.process_time(), time.perf_counter()
            try:
                with Clock(seconds):
                    ask(fresh)
                took[name] = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
            except OutOfTimeError:
                took[name] = None
            except pf.PolyfoldError as error:
                took[name] = str(error)
            print(f"{name}: {took[name]}", file=sys.stderr, flush=True)
    best = {name: min(run[name] for run in unfolding) for name in unfolding[0]}
    answer = {"cells": len(atlas), "complete": atlas.complete, "unfold": best, "questions": took}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
