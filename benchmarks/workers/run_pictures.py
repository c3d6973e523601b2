"""Find and prove all cells in small boxes around MNIST test pictures. Prints one JSON object.

python run_pictures.py MODEL.onnx|784,100,100,10 SHARED_DATA PICTURES MAX_SECONDS
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import polyfold as pf

RADIUS, EPOCHS, BATCH = 0.005, 2, 128


def read(file: Path, header: int) -> npt.NDArray[np.uint8]:
    """The bytes of one of MNIST's files behind its header."""
    return np.frombuffer(gzip.decompress(file.read_bytes()), dtype=np.uint8, offset=header)


def trained(folder: Path) -> pf.Network:
    """784,100,100,10 on MNIST, two epochs, seed 0: 96 % right."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    pixels = torch.tensor(read(folder / "train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255)
    digits = torch.tensor(read(folder / "train-labels-idx1-ubyte.gz", 8).astype(np.int64))
    hidden = [torch.nn.Linear(784, 100), torch.nn.ReLU(), torch.nn.Linear(100, 100), torch.nn.ReLU()]
    model = torch.nn.Sequential(*hidden, torch.nn.Linear(100, 10))
    steps, draw = torch.optim.Adam(model.parameters(), 1e-3), torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(pixels), generator=draw).split(BATCH):
            loss = torch.nn.functional.cross_entropy(model(pixels[batch]), digits[batch])
            steps.zero_grad()
            loss.backward()
            steps.step()
    return pf.load(model, input_shape=(784,))


def main() -> None:
    """Measure one run."""
    name, shared, count, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    network = pf.load(str(shared / "models" / name)) if name.endswith(".onnx") else trained(shared / "mnist")
    pictures = read(shared / "mnist" / "t10k-images-idx3-ubyte.gz", 16)[: 784 * count].reshape(count, 784) / 255.0
    answer = {"pictures": count, "complete": 0, "cells": 0, "certified": 0, "proved_cells": 0}
    seconds = {"cpu_seconds": 0.0, "proof_cpu_seconds": 0.0}
    for picture in pictures:
        start = time.process_time()
        atlas = pf.unfold(network, pf.box(picture - RADIUS, picture + RADIUS), max_seconds=limit, threads=1)
        if not atlas.complete:
            continue
        found = time.process_time()
        proof = pf.certify(atlas, max_seconds=limit, threads=1)
        seconds["cpu_seconds"] += found - start
        answer["complete"] += 1
        answer["cells"] += len(atlas)
        if proof.level == "certified":
            seconds["proof_cpu_seconds"] += time.process_time() - found
            answer["certified"] += 1
            answer["proved_cells"] += len(atlas)
    print(json.dumps({**answer, **seconds}))


if __name__ == "__main__":
    main()
