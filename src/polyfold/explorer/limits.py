"""What one server, one session and one job may use."""

from __future__ import annotations

import os
from dataclasses import dataclass


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes, times in seconds."""

    upload: int = 20_000_000
    # Uploaded files that a session can have at a time.
    uploads: int = 20
    seconds: float = 60.0
    cells: int = 200_000
    # Of one worker, beyond what the interpreter and its packages take.
    memory: int = 2_000_000_000
    workers: int = 2
    # Jobs of one session that wait or run, and jobs that it can look back at.
    queued: int = 8
    jobs: int = 60
    # Files of finished jobs, of all sessions together: the oldest go first.
    results: int = 1_000_000_000
    # Finished atlases that the server holds in memory at a time, to answer questions about single cells.
    opened: int = 8
    sessions: int = 500
    idle_seconds: float = 4 * 3600.0
    data_rows: int = 20_000
    # Text of cells shown while a job runs; what comes later is seen when the job is done.
    preview: int = 3_000_000

    @property
    def threads(self) -> int:
        """Of one worker."""
        return max(1, _processors() // self.workers)
