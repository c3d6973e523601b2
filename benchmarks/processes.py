"""Run a worker: one process after another, so that nothing is measured next to anything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORKERS = Path(__file__).parent / "workers"
# Networks of the studies are measured too, and these are no part of the package.
ROOT = Path(__file__).parents[1]
# Libraries must not start threads of their own; polyfold's threads are asked for by number.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerError(Exception):
    """A worker ended badly; the text is the last line that it wrote."""


def run(
    worker: str, *arguments: object, python: str = sys.executable, under: Iterable[str] = ()
) -> dict[str, Any] | None:
    """The worker's answer, the last line it prints; None where its time limit ended it."""
    command = [*under, python, str(WORKERS / f"{worker}.py"), *map(str, arguments)]
    # A fixed hash seed, so that the same thing runs every time.
    environment = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode} and said nothing"]
        shown = (each.name if isinstance(each, Path) else str(each) for each in arguments)
        raise WorkerError(f"{worker} {' '.join(shown)}: {said[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
