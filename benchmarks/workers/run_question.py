"""Answer with polyfold what verifiers are asked about. Prints one JSON object.

    python run_question.py maximum|constant|equivalent NETWORK.npz [OTHER.npz]

`maximum` of the first output over the box, and the lowest one at random points for a scale; `constant`: the class at
the middle of the box, and by how much each other one stays behind it at least (less than zero if it does not);
`equivalent`: the verdict. One thread; `cpu_seconds` and `seconds` are from after the imports and reading to the answer.
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


def outputs_at(layers: Any, points: Any) -> Any:
    """Those of the network, in floats."""
    for weight, bias in layers[:-1]:
        points = np.maximum(points @ weight.T + bias, 0)
    return points @ layers[-1][0].T + layers[-1][1]


def maximum(layers: Any, domain: Any) -> dict[str, Any]:
    """The largest value."""
    atlas = pf.unfold(layers, domain, threads=1)
    return {"maximum": float(pf.stats.maximum(atlas, output=0).value), "cells": len(atlas)}


def constant(layers: Any, domain: Any, middle: Any) -> dict[str, Any]:
    """The class at the middle, and how far it is ahead of each other one at least."""
    outputs = outputs_at(layers, middle)
    ahead = int(outputs.argmax())
    atlas = pf.unfold(layers, domain, threads=1)
    behind = []
    for other in range(len(outputs)):
        if other != ahead:
            difference = np.zeros(len(outputs))
            difference[[ahead, other]] = 1, -1
            behind.append(float(pf.stats.minimum(atlas, output=difference).value))
    return {"class": ahead, "behind": behind, "cells": len(atlas)}


def main() -> None:
    """Read, answer, tell."""
    name, *paths = sys.argv[1:]
    (layers, box), *others = (read(Path(path)) for path in paths)
    assert box is not None
    domain = pf.box(*box)
    cpu, wall = time.process_time(), time.perf_counter()
    if name == "maximum":
        answer = maximum(layers, domain)
    elif name == "constant":
        answer = constant(layers, domain, (box[0] + box[1]) / 2)
    else:
        answer = {"verdict": pf.equivalent(layers, others[0][0], domain, threads=1).word}
    took = {"cpu_seconds": time.process_time() - cpu, "seconds": time.perf_counter() - wall}
    if name == "maximum":
        points = np.random.default_rng(0).uniform(*box, (1000, len(box[0])))
        answer["lowest_seen"] = float(outputs_at(layers, points)[:, 0].min())
    print(json.dumps({**answer, **took}))


if __name__ == "__main__":
    main()
