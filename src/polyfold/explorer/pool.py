"""A few worker processes, and the jobs that wait for them."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from polyfold.explorer.limits import Limits
from polyfold.network.read.torch_archive import PLAIN_TENSORS_ONLY

State = Literal["queued", "running", "done", "cancelled", "failed", "limit"]
FINISHED = ("done", "cancelled", "failed", "limit")

# Workers keep the time themselves, and then still write down what they found; one that has not ended after twice the
# time and so many seconds is ended.
_GRACE = 15.0


_ENVIRONMENT = {
    # Anything that a model file asks torch to unpickle is refused, whatever torch itself would do.
    PLAIN_TENSORS_ONLY: "1",
    # Packages reserve no more memory than they use, since all of it counts.
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(eq=False)
class Job:
    """One task of one session, and what became of it. Changed by the thread that runs it, and by `cancel`."""

    id: str
    task: dict[str, Any]
    state: State = "queued"
    cells: int = 0
    error: str | None = None
    result: dict[str, Any] | None = None
    # What happened so far, as (kind, JSON text): kept while the job runs, for whoever looks on.
    events: list[tuple[str, str]] = field(default_factory=list)
    started: float | None = None
    ended: float | None = None
    # Told when the job has ended.
    when_ended: Callable[[Job], None] | None = None
    # Workers that this job occupies right now: one or none.
    worker: Worker | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    settled: bool = False
    # Told once the job is settled, by the thread that did so.
    waiting: list[Callable[[], None]] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def seconds(self) -> float:
        if self.started is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.started

    def end(self, state: State, error: str | None = None, result: dict[str, Any] | None = None) -> None:
        """Settle the job, unless it is settled already."""
        if self._settle(state, error, result):
            self._announce()

    def stop(self, state: State, error: str | None = None) -> None:
        """Settle the job and end the worker that runs it, unless it is settled already."""
        with self.lock:
            settled = self._settle(state, error, None)
            if settled and self.worker is not None:
                self.worker.kill()
        # Not under the lock: whoever is told takes locks of its own.
        if settled:
            self._announce()

    def call_when_settled(self, tell: Callable[[], None]) -> None:
        """Call it when the job has ended and its files are in order, at once if they are already."""
        with self.lock:
            if not self.settled:
                self.waiting.append(tell)
                return
        tell()

    def _announce(self) -> None:
        if self.when_ended is not None:
            self.when_ended(self)
        with self.lock:
            self.settled = True
            waiting, self.waiting = self.waiting, []
        for tell in waiting:
            tell()

    def _settle(self, state: State, error: str | None, result: dict[str, Any] | None) -> bool:
        with self.lock:
            if self.finished:
                return False
            self.state, self.error, self.result = state, error, result
            self.ended = time.monotonic()
            self.events = []
            return True


class Worker:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        environment = {**os.environ, **_ENVIRONMENT}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "polyfold.explorer.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            # Ctrl-C is for the server, which then ends its workers.
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def messages(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What the worker says about a task, until it has ended or the process has."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                return  # the process was ended in the middle of a line
            yield message
            if "ended" in message:
                if message["leaving"]:
                    self._process.wait()
                return

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # What was still to be written is of no use any more.
                with suppress(OSError):
                    pipe.close()


class Pool:
    """Runs jobs in the order in which they come, as many at a time as there are workers."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._workers: dict[int, Worker] = {}
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in range(limits.workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def worker_pids(self) -> list[int]:
        """The processes that there are now."""
        return [worker.pid for worker in list(self._workers.values()) if worker.alive]

    def submit(self, job: Job) -> None:
        self._waiting.put(job)

    def close(self) -> None:
        """End all workers. Jobs that wait are not run any more."""
        self._closed.set()
        for worker in list(self._workers.values()):
            worker.kill()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, slot: int) -> None:
        self._workers[slot] = Worker()
        try:
            while (job := self._waiting.get()) is not None and not self._closed.is_set():
                with job.lock:
                    if job.finished:
                        continue  # cancelled while it waited
                    worker = self._ready(slot)
                    job.state, job.started, job.worker = "running", time.monotonic(), worker
                self._watch(job, worker)
        finally:
            self._workers.pop(slot).close()

    def _ready(self, slot: int) -> Worker:
        if not self._workers[slot].alive:
            self._workers[slot].close()
            self._workers[slot] = Worker()
        return self._workers[slot]

    def _watch(self, job: Job, worker: Worker) -> None:
        """Follow one job to its end."""
        seconds = self._limits.seconds
        late = f"the job took much longer than its {seconds:g} seconds, and was ended: choose a smaller domain"
        clock = threading.Timer(2 * seconds + _GRACE, job.stop, ("limit", late))
        clock.daemon = True
        clock.start()
        ended = False
        for message in worker.messages(job.task):
            ended = "ended" in message
            _note(job, message)
        clock.cancel()
        with job.lock:
            job.worker = None
        if not ended:
            # It was ended, or did so by itself: gone for good before anybody asks whether it is alive.
            worker.close()
        if not self._closed.is_set():
            job.end(
                "limit",
                "the process that did the work has ended by itself, most likely since there was not enough memory: "
                "choose a smaller domain",
            )


def _note(job: Job, message: dict[str, Any]) -> None:
    if "progress" in message or "drawing" in message:
        job.cells = max(job.cells, int(message.get("cells", message.get("progress", 0))))
        _tell(job, "progress", {"cells": job.cells, "seconds": job.seconds, "drawing": "drawing" in message})
    elif "block" in message:
        job.cells = max(job.cells, int(message["block"]["cells"]))
        _tell(job, "block", message["block"])
    elif "facts" in message:
        job.end("done", None, message["facts"])
    elif "done" in message:
        job.cells = int(message["done"].get("cells", job.cells))
        job.end("limit" if message["stopped"] else "done", message["stopped"], message["done"])
    elif "limit" in message:
        job.end("limit", message["limit"])
    elif "failed" in message:
        job.end("failed", message["failed"])


def _tell(job: Job, kind: str, what: dict[str, Any]) -> None:
    with job.lock:
        if not job.finished:
            job.events.append((kind, json.dumps(what, separators=(",", ":"))))
