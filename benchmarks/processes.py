"""Run a worker: one process after another, so that nothing is measured next to anything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
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


class OutOfTimeError(WorkerError):
    """A worker took longer than it was given."""


def command_of(worker: str, arguments: Iterable[object], python: str) -> list[str]:
    """What the shell would be told."""
    return [python, str(WORKERS / f"{worker}.py"), *map(str, arguments)]


def environment() -> dict[str, str]:
    """That of all workers: one thread, and a fixed hash seed, so that the same thing runs every time."""
    return {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}


def run(
    worker: str, *arguments: object, python: str = sys.executable, under: Iterable[str] = ()
) -> dict[str, Any] | None:
    """The worker's answer, the last line it prints; None where its time limit ended it."""
    command = [*under, *command_of(worker, arguments, python)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode} and said nothing"]
        shown = (each.name if isinstance(each, Path) else str(each) for each in arguments)
        raise WorkerError(f"{worker} {' '.join(shown)}: {said[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


class Waiting:
    """A worker that waits to be asked again, so that several are measured in turns and drift hits all of them."""

    def __init__(self, worker: str, *arguments: object, python: str = sys.executable) -> None:
        self.name = worker
        # A file, because somebody would have to read from a pipe.
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed with the worker
        self.process = subprocess.Popen(
            command_of(worker, arguments, python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment(),
        )

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        with self.errors, self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()

    def ask(self, *words: object) -> dict[str, Any]:
        """The worker's answer to a line of these words."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:  # it has ended, and says why
            pass
        line = self.process.stdout.readline()
        if not line:
            if self.process.wait() == -signal.SIGXCPU:
                raise OutOfTimeError(f"{self.name} {' '.join(map(str, words))}: its time limit ended it")
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines() or ["it ended and said nothing"]
            raise WorkerError(f"{self.name} {' '.join(map(str, words))}: {said[-1]}")
        answer: dict[str, Any] = json.loads(line)
        return answer
