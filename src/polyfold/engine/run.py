"""A run of the compiled engine under the user's eyes: progress, limits, Ctrl-C, errors in our words."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Generic, TypeVar

from polyfold._base.clock import interrupts_noted
from polyfold._base.progress import Progress
from polyfold._core import FlatDomain, TooLarge
from polyfold.domain.domain import Domain
from polyfold.errors import DomainError, LimitError

MOST_THREADS = 1024

Result = TypeVar("Result")


@dataclass(frozen=True)
class Leave:
    """What a run may ask.

    `keep_going(cells so far)` while it searches; behind that `in_a_hurry()`: whether an interrupt or the end of the
    time waits for its return.
    """

    keep_going: Callable[[int], bool]
    in_a_hurry: Callable[[], bool]


@dataclass(frozen=True)
class Watched(Generic[Result]):
    """What a run gave, how long it took, and what stopped it (None if nothing did)."""

    result: Result
    seconds: float
    stopped_by: str | None


def watched(
    run: Callable[[Leave], Result],
    domain: Domain,
    max_seconds: float | None,
    report: Progress,
    since: float | None = None,
) -> Watched[Result]:
    """Run something that asks every now and then whether it may go on.

    One interrupt ends the search and keeps what was found. A second one gives that up too. Seconds, and their limit,
    count from `since` on (of `time.perf_counter`), or from now.
    """
    started = time.perf_counter() if since is None else since
    stopped_by: list[str] = []
    raised: list[BaseException] = []

    def keep_going(cells: int) -> bool:
        # Called from the engine, in this thread. Nothing may be raised into the engine.
        try:
            report(cells)
            if max_seconds is not None and time.perf_counter() - started > max_seconds:
                stopped_by.append("max_seconds")
        except KeyboardInterrupt:
            stopped_by.append("interrupt")
        except BaseException as error:
            raised.append(error)
        return not stopped_by and not raised

    def interrupt() -> None:
        if "interrupt" in stopped_by:
            raised.append(KeyboardInterrupt())
        elif sys.stderr.isatty():
            print("stopping, with what was found so far; another Ctrl-C gives that up", file=sys.stderr)
        stopped_by.append("interrupt")

    try:
        with interrupts_noted(interrupt):
            result = run(Leave(keep_going, lambda: bool(stopped_by or raised)))
    except FlatDomain as error:
        reason = "is empty" if str(error) == "empty" else "has no interior: its cells would all be flat"
        raise DomainError(f"the domain, {domain.describe()}, {reason}") from None
    except TooLarge as error:
        raise LimitError(str(error)) from None
    if raised:
        raise raised[0]
    return Watched(result, time.perf_counter() - started, stopped_by[0] if stopped_by else None)


# -- options that all runs have


def check_seconds(max_seconds: Any) -> None:
    """Refuse a time limit that leaves no time."""
    if max_seconds is not None and not (isinstance(max_seconds, Real) and float(max_seconds) > 0):
        raise LimitError(f"max_seconds={max_seconds!r} leaves no time: give a positive number or None")


def thread_count(threads: Any) -> int:
    """The number asked for, or one a processor."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("threads", threads, MOST_THREADS)


def whole_number(name: str, value: Any, most: int) -> int:
    """A positive whole number up to `most`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        raise LimitError(f"{name}={value!r} must be a whole number between 1 and {most:,}, or None")
    return int(value)
