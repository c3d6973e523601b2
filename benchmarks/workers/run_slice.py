"""Unfold a line or a plane through a network of 784 inputs, or sample it. Prints one JSON object.

    python run_slice.py vertices|sampling mlp|conv line|plane EXTENT MNIST_FOLDER|-

Vertices are timed over the whole of a call with its default checks, the median of a few. EXTENT is how far
the parameters go, from 0. Without MNIST the pictures are noise.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

import polyfold as pf
from baselines.sampling import sample_line, sample_plane
from polyfold.datasets.convolutional import mnist_conv
from polyfold.program.lower.lower import lower

MLP = (784, 1024, 1024, 10)
FORWARD_ROWS, LINE_SAMPLES, PLANE_LINES, PLANE_SAMPLES, RESOLUTION = 256, 2000, 40, 100, 1e-12
REPEAT_SECONDS = 2.0


def pictures(folder: str) -> npt.NDArray[np.float64]:
    """Three pictures."""
    if folder == "-":
        return np.random.default_rng(0).random(size=(3, 784))
    with gzip.open(Path(folder) / "t10k-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(16 + 3 * 784), dtype=np.uint8, offset=16).reshape(3, 784) / 255


def network(name: str) -> pf.program.Program:
    """The network, lowered."""
    if name == "conv":
        return lower(mnist_conv())
    from networks import linear_layers, torch_default

    return lower(pf.load(linear_layers(torch_default(MLP))))


def main() -> None:
    """Measure one run."""
    method, name, kind, extent, folder = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5]
    program, points = network(name), pictures(folder)
    slice_ = pf.line(*points[:2], extend=(0.0, extent)) if kind == "line" else pf.plane(*points, extend=(0.0, extent))
    domain = slice_.resolve(784)
    rows = domain.lift(np.random.default_rng(0).random(size=(FORWARD_ROWS, domain.dim)) * extent)
    program.evaluate(rows[:8])
    start = time.process_time()
    program.evaluate(rows)
    forward = (time.process_time() - start) / FORWARD_ROWS
    if method == "vertices":
        spent = []
        while sum(spent) < REPEAT_SECONDS:
            start = time.process_time()
            atlas = pf.unfold(program, domain, threads=1)
            spent.append(time.process_time() - start)
        answer = {"cells": len(atlas), "level": atlas.certificate.level, "cpu_seconds": median(spent)}
    else:
        start = time.process_time()

        def evaluate(U: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
            return np.packbits(program.evaluate(domain.lift(U))[1], axis=1)

        if kind == "line":
            found = sample_line(evaluate, np.zeros(1), np.array([extent]), LINE_SAMPLES, RESOLUTION)
        else:
            found = sample_plane(evaluate, extent, PLANE_LINES, PLANE_SAMPLES, RESOLUTION)
        answer = {"cells": found.cells, "points": found.points, "cpu_seconds": time.process_time() - start}
    print(json.dumps({**answer, "forward": forward}))


if __name__ == "__main__":
    main()
