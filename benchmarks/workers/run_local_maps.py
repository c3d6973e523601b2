"""Local maps of an untrained network at noise pictures, all ten outputs. Prints one JSON object.

    python run_local_maps.py METHOD NETWORK DTYPE PICTURES SECONDS

METHOD is polyfold or torch (torch.func.vmap of jacrev, in the batches that suit it best), NETWORK is Dense or Conv,
DTYPE is float32 or float64. Calls are repeated for so many seconds, and the quickest counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.func import jacrev, vmap

import polyfold as pf
from studies.image_networks import ARCHITECTURES

# Pictures that torch takes together: each size is tried.
BATCHES = (25, 50, 100, 200, 400)


def quickest(work: Callable[[], Any], seconds: float) -> float:
    """CPU-seconds of the quickest of several calls."""
    best, started = float("inf"), time.perf_counter()
    while best == float("inf") or time.perf_counter() - started < seconds:
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
    return best


def jacobians(model: Any, x: torch.Tensor, batch: int) -> torch.Tensor:
    """The slopes (n, outputs, 1, side, side) of all outputs."""
    one = vmap(jacrev(lambda picture: model(picture[None])[0]))
    return torch.cat([one(x[start : start + batch]).detach() for start in range(0, len(x), batch)])


def main() -> None:
    """Measure one method."""
    method, name, dtype, count, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = ARCHITECTURES[name].build(28).eval().to(getattr(torch, dtype))
    X = np.random.default_rng(0).normal(size=(count, 1, 28, 28)).astype(dtype)
    if method == "torch":
        x = torch.from_numpy(X)
        spent = min(
            quickest(lambda batch=batch: jacobians(model, x, batch), seconds / len(BATCHES)) for batch in BATCHES
        )
        slopes = jacobians(model, x, BATCHES[0]).numpy().reshape(count, 10, -1)
    else:
        network = pf.load(model, input_shape=(1, 28, 28))
        spent = quickest(lambda: pf.maps.matrices(network, X, dtype=dtype, threads=1), seconds)
        slopes = pf.maps.matrices(network, X, dtype=dtype, threads=1).matrices[:, :, :-1].transpose(1, 0, 2)
    # What both methods have in common, to be compared.
    print(json.dumps({"cpu_seconds": spent / count, "sum_of_sizes": float(np.abs(slopes, dtype=np.float64).sum())}))


if __name__ == "__main__":
    main()
