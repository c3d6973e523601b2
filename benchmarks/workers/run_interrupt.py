"""How long it takes from an interrupt to the result. Prints one JSON object.

    python run_interrupt.py NETWORK.npz unfold|count SECONDS

The process interrupts itself after so many seconds of a call that would take far longer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from archive import read

import polyfold as pf
from polyfold.program.lower.lower import lower


def main() -> None:
    """One call, interrupted."""
    path, name, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    layers, box = read(path)
    program, domain = lower(pf.load(layers)), None if box is None else pf.box(*box)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    result = pf.count(program, domain) if name == "count" else pf.unfold(program, domain)
    back = time.perf_counter()
    if not sent or result.complete:
        raise SystemExit("the call came to its end before it was interrupted")
    cells = result.cells if isinstance(result, pf.engine.Count) else len(result)
    together = time.perf_counter() - back
    print(json.dumps({"cells": int(cells), "latency": back - sent[0], "together": together}))


if __name__ == "__main__":
    main()
