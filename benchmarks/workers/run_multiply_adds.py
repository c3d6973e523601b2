"""The multiply-adds per second that one thread reaches: a large matrix product. Prints one JSON object.

python run_multiply_adds.py SECONDS
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

SIZE = 1536


def main() -> None:
    """The best of as many products as fit."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(SIZE, SIZE)), rng.normal(size=(SIZE, SIZE))
    best, end = float("inf"), time.perf_counter() + float(sys.argv[1])
    while time.perf_counter() < end:
        start = time.process_time()
        a @ b
        best = min(best, time.process_time() - start)
    print(json.dumps({"multiply_adds": SIZE**3 / best}))


if __name__ == "__main__":
    main()
