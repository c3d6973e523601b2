"""One clock: how long a question may take, Ctrl-C, and who is told how far the work is.

Whoever answers a question holds a `Clock`, and everything that is called on the way asks the one that is running
(`tick`), so that no deadline has to be handed down. A clock within another one never outlasts it.

- Where something can be kept, Ctrl-C is noted (`Clock.noting_interrupts`) and ends the work as the limit does.
- Where nothing can, Python raises KeyboardInterrupt as always, and the end of the time is a LimitError.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

from polyfold.errors import LimitError

MAX_SECONDS, INTERRUPT = "max_seconds", "interrupt"

# Seconds that are left to whoever is asked to hurry: it must be able to begin.
_A_MOMENT = 0.01


@dataclass(frozen=True)
class Progress:
    """How far the work is: `done` of `total` things (None: nobody knows how many there are) after so many seconds."""

    done: int
    total: int | None
    what: str
    seconds: float


Report = Callable[[Progress], object]


class OutOfTimeError(LimitError):
    """The question that is being answered has used up its time, or was interrupted."""

    def __init__(self, stopped_by: str, message: str) -> None:
        super().__init__(message)
        self.stopped_by = stopped_by


class Clock:
    """The time of one question, counted from when it is made.

    Parameters
    ----------
    max_seconds : float, optional
        The limit; None for none.
    progress : bool or callable, optional
        True for a line on standard error, or a function that is called with a `Progress`. By default that of the clock
        that is running.

    >>> with Clock(max_seconds=60) as clock:
    ...     tick()
    >>> clock.stopped_by is None and clock.seconds < 60
    True
    """

    def __init__(self, max_seconds: float | None = None, progress: bool | Report | None = None) -> None:
        check_seconds(max_seconds)
        self._around = _RUNNING.get()
        self._started = time.perf_counter()
        self.max_seconds = max_seconds
        self._ends = inf if max_seconds is None else self._started + float(max_seconds)
        self._progress = progress
        self._report: Report | None = None
        # Ctrl-C that was noted by this clock, whether it or one within it has noted any, and how many blocks note it.
        self._interrupts, self._told, self._noting = 0, False, 0
        self._inside = ExitStack()

    # -- what is asked of it

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Seconds until the end, or a moment; infinite without a limit."""
        return max(self._end() - time.perf_counter(), _A_MOMENT)

    @property
    def stopped_by(self) -> str | None:
        """What ends the work: "interrupt" or "max_seconds"; None as long as it may go on."""
        if self._interrupted():
            return INTERRUPT
        return MAX_SECONDS if time.perf_counter() >= self._end() else None

    @property
    def over(self) -> bool:
        return self.stopped_by is not None

    @property
    def limit(self) -> float | None:
        """Seconds until the end, for whoever takes None for no limit."""
        return None if self._end() == inf else self.left

    @property
    def given_up(self) -> bool:
        """Whether Ctrl-C came a second time, so that nobody waits for what was found."""
        return self._interrupts > 1

    def check(self) -> None:
        """Raise OutOfTimeError if the work has to end; KeyboardInterrupt if that is an interrupt nobody here notes."""
        stopped_by = self.stopped_by
        if stopped_by == INTERRUPT:
            if not self._is_noting():
                raise KeyboardInterrupt
            raise OutOfTimeError(INTERRUPT, "interrupted: nothing was finished that could be kept")
        if stopped_by is not None:
            raise OutOfTimeError(stopped_by, f"{self.limit_in_words} did not suffice: give more, or a smaller question")

    def tell(self, done: int, total: int | None = None, what: str = "cells") -> None:
        """Say how far the work is, to whoever wants to know."""
        if self._report is not None:
            self._report(Progress(int(done), total, what, self.seconds))

    # -- how it runs

    def __enter__(self) -> Clock:
        token = _RUNNING.set(self)
        self._inside.callback(_RUNNING.reset, token)
        if self._progress:
            self._report = self._inside.enter_context(_reporter(self._progress))
        elif self._around is not None:
            self._report = self._around._report
        return self

    def __exit__(self, *error: Any) -> None:
        self._inside.close()

    def interrupt(self) -> bool:
        """Note a Ctrl-C: the work ends as at its limit, with all that it is a part of. Whether it is the second one."""
        self._interrupts += 1
        clock: Clock | None = self
        while clock is not None:
            clock._told, clock = True, clock._around
        if self._interrupts == 1 and sys.stderr.isatty():
            print("stopping, with what was found so far; another Ctrl-C gives that up", file=sys.stderr)
        return self.given_up

    @contextmanager
    def noting_interrupts(self, *, raising: bool = True) -> Iterator[None]:
        """Within the block Ctrl-C is noted, and `stopped_by` says so. A second one raises KeyboardInterrupt.

        With raising=False `given_up` says so instead: for compiled code, into which nothing may be raised.
        """
        # A block within another one of the same clock leaves it to that to count.
        note = self.interrupt if not self._noting else bool
        self._noting += 1
        try:
            before = _listen(note, raising)
            try:
                yield
            finally:
                _listen_no_more(before)
        finally:
            self._noting -= 1

    def _end(self) -> float:
        return self._ends if self._around is None else min(self._ends, self._around._end())

    def _interrupted(self) -> bool:
        return self._told or (self._around is not None and self._around._interrupted())

    def _is_noting(self) -> bool:
        return self._noting > 0 or (self._around is not None and self._around._is_noting())

    @property
    def limit_in_words(self) -> str:
        """The limit that comes first."""
        clock: Clock | None = self
        while clock is not None and clock._ends > self._end():
            clock = clock._around
        return f"max_seconds={clock.max_seconds:g}" if clock is not None and clock.max_seconds is not None else "time"


_RUNNING: ContextVar[Clock | None] = ContextVar("the clock that is running", default=None)
# Of work in a thread of its own (apart.py): whether anybody waits for it.
WANTED: ContextVar[Callable[[], bool] | None] = ContextVar("whether the work is wanted", default=None)


def running() -> Clock:
    """The clock of the question that is being answered; one without a limit if there is none."""
    return _RUNNING.get() or Clock()


def tick() -> None:
    """Raise OutOfTimeError if the question that is being answered has to end. To be called every few milliseconds."""
    clock = _RUNNING.get()
    if clock is not None:
        clock.check()
    wanted = WANTED.get()
    if wanted is not None and not wanted():
        raise OutOfTimeError(INTERRUPT, "nobody waits for this work any more")


@contextmanager
def share(seconds: float) -> Iterator[None]:
    """So many seconds for a part of the work, which ends with them: what it has found by then is kept.

    If nothing is left at all, whoever goes on hears of it at the next `tick`.
    """
    try:
        with Clock(None if seconds == inf else seconds):
            yield
    except OutOfTimeError:
        pass


@contextmanager
def unwatched() -> Iterator[None]:
    """Within the block no clock runs: for the short work of putting together what is kept when the time is over."""
    token = _RUNNING.set(None)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def check_seconds(max_seconds: Any) -> None:
    """Refuse a time limit that leaves no time."""
    if max_seconds is not None and not (isinstance(max_seconds, Real) and float(max_seconds) > 0):
        raise LimitError(f"max_seconds={max_seconds!r} leaves no time: give a positive number or None")


@contextmanager
def _reporter(progress: bool | Report) -> Iterator[Report]:
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Line

    columns = (
        SpinnerColumn(),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Line(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task("starting", total=None)

        def report(event: Progress) -> None:
            speed = f", {event.done / event.seconds:,.0f} per second" if event.seconds > 0 else ""
            of_all = "" if event.total is None else f" of {event.total:,}"
            said = f"{event.done:,}{of_all} {event.what}{speed}"
            line.update(task, completed=event.done, total=event.total, description=said)

        yield report


# `signal` looks whether a handler is one of its own numbers: it hashes it, and writes it into an error that it drops.
@dataclass(frozen=True, eq=False, repr=False)
class _Noting:
    """The handler of one block. Blocks that it lies in are told as well: whoever waits there waits for it to end."""

    note: Callable[[], object]
    around: Any
    raising: bool

    def __call__(self, number: int, frame: Any) -> None:
        if self.tell() and self.raising:
            raise KeyboardInterrupt

    def tell(self) -> bool:
        """Whether anybody gives up."""
        given_up = self.note() is True
        return (isinstance(self.around, _Noting) and self.around.tell()) or given_up


@contextmanager
def interrupts_noted(note: Callable[[], object], *, raising: bool = False) -> Iterator[None]:
    """Within the block SIGINT calls `note` instead of raising KeyboardInterrupt, unless `raising` and `note` says True.

    Python could raise it at the first instruction of a function that compiled code calls, before any `try` there.
    Only the main thread gets signals; in other threads, and where SIGINT has no handler of Python's, nothing changes.
    """
    before = _listen(note, raising)
    try:
        yield
    finally:
        _listen_no_more(before)


def _listen(note: Callable[[], object], raising: bool) -> Any:
    """Who was told of SIGINT before; None where nothing changes."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        return None
    signal.signal(signal.SIGINT, _Noting(note, before, raising))
    return before


def _listen_no_more(before: Any) -> None:
    if before is not None:
        signal.signal(signal.SIGINT, before)
