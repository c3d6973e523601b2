"""Sessions: what one browser has uploaded and asked for. Nobody sees what belongs to another session."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyfold._base.types import Array
from polyfold.errors import LimitError
from polyfold.explorer.limits import Limits
from polyfold.explorer.networks import Source
from polyfold.explorer.pool import Job, Pool


@dataclass(frozen=True, eq=False)
class Known:
    """A network that can be chosen: its number, its name, where it is read from, and what is known of it."""

    id: str
    name: str
    origin: str
    source: Source
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "source": self.origin, **self.facts}


@dataclass(frozen=True, eq=False)
class Data:
    """Points that were uploaded, with a label each if there were any."""

    rows: Array
    labels: list[str] | None
    columns: list[str] | None


@dataclass(eq=False)
class Session:
    """One browser's networks, jobs and data."""

    id: str
    folder: Path
    networks: OrderedDict[str, Known] = field(default_factory=OrderedDict)
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    data: Data | None = None
    seen: float = field(default_factory=time.monotonic)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def empty(self) -> bool:
        return not self.networks and not self.jobs and self.data is None

    def new_file(self, ending: str) -> Path:
        """Where an upload goes; its name on this machine has nothing of the user's."""
        self.folder.mkdir(exist_ok=True)
        return self.folder / f"{secrets.token_hex(8)}{ending}"

    def close(self) -> None:
        for job in list(self.jobs.values()):
            job.stop("cancelled")
        shutil.rmtree(self.folder, ignore_errors=True)


class Sessions:
    """All sessions, and the files of all finished jobs; both are bounded, and the oldest ones go first.

    Sessions that hold nothing go before all others: whoever asks without cookies throws nobody out.
    """

    def __init__(self, folder: Path, limits: Limits, pool: Pool) -> None:
        self._folder, self._limits, self._pool = folder, limits, pool
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        # Finished jobs with files, in the order in which they ended, and how large their files are.
        self._kept: OrderedDict[str, tuple[Session, Job, int]] = OrderedDict()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, key: str | None) -> Session | None:
        """The session that a cookie names."""
        with self._lock:
            session = self._sessions.get(key or "")
            if session is not None:
                session.seen = time.monotonic()
                self._sessions.move_to_end(session.id)
            return session

    def new(self) -> Session:
        """A session with a name that cannot be guessed."""
        with self._lock:
            key = secrets.token_urlsafe(32)
            # The folder's name is another one: who can list folders must not learn the cookie.
            session = Session(key, self._folder / secrets.token_hex(8))
            self.keep(session)
            return session

    def keep(self, session: Session) -> None:
        """Have a session among the known ones, also if it was dropped while it held nothing."""
        with self._lock:
            self._sessions[session.id] = session
            self._drop_old()

    def start(self, session: Session, task: dict[str, Any]) -> Job:
        """Put a task in the queue as a job of a session."""
        with session.lock:
            open_jobs = sum(not job.finished for job in session.jobs.values())
            if open_jobs >= self._limits.queued:
                raise LimitError(f"{open_jobs} jobs wait or run already: wait for one of them, or cancel it")
            job = Job(secrets.token_hex(8), {})
            folder = session.folder / job.id
            folder.mkdir(parents=True)
            limits = self._limits
            job.task = {
                **task,
                "folder": str(folder),
                "cells": limits.cells,
                "seconds": limits.seconds,
                "memory": limits.memory,
                "threads": limits.threads,
                "preview": limits.preview,
            }
            job.when_ended = lambda ended: self._job_ended(session, ended)
            session.jobs[job.id] = job
            self._forget_jobs(session)
        self.keep(session)
        self._pool.submit(job)
        return job

    def close(self) -> None:
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()

    def _drop_old(self) -> None:
        now = time.monotonic()
        by_age = list(self._sessions.values())
        dropped = [each for each in by_age if now - each.seen >= self._limits.idle_seconds]
        kept = [each for each in by_age if now - each.seen < self._limits.idle_seconds]
        # A stable sort: of those that hold nothing the oldest is still the first.
        in_order = sorted(kept, key=lambda each: not each.empty)
        dropped += in_order[: max(0, len(kept) - self._limits.sessions)]
        for each in dropped:
            del self._sessions[each.id]
            each.close()

    def _forget_jobs(self, session: Session) -> None:
        """Of the finished jobs only so many can be looked back at."""
        finished = [job for job in session.jobs.values() if job.finished]
        for job in finished[: max(0, len(session.jobs) - self._limits.jobs)]:
            self._forget(session, job)

    def _forget(self, session: Session, job: Job) -> None:
        session.jobs.pop(job.id, None)
        with self._lock:
            self._kept.pop(job.id, None)
        shutil.rmtree(job.task["folder"], ignore_errors=True)

    def _job_ended(self, session: Session, job: Job) -> None:
        folder = Path(job.task["folder"])
        if job.result is None or job.task["kind"] != "unfold":
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._count_files(session, job)

    def files_have_grown(self, job: Job) -> None:
        """Count the files of a finished job again; now it is the last one to be forgotten."""
        with self._lock:
            session, _, _ = self._kept.pop(job.id, (None, job, 0))
        if session is not None:
            self._count_files(session, job)

    def _count_files(self, session: Session, job: Job) -> None:
        size = sum(file.stat().st_size for file in Path(job.task["folder"]).iterdir())
        with self._lock:
            self._kept[job.id] = (session, job, size)
            while sum(each for _, _, each in self._kept.values()) > self._limits.results and len(self._kept) > 1:
                owner, oldest, _ = next(iter(self._kept.values()))
                self._forget(owner, oldest)
