"""Long work in pieces, and calls that cannot be asked to stop."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from polyfold._base.apart import apart_if_wanted
from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Clock, OutOfTimeError, running
from polyfold.errors import LimitError


def test_chunks_cover_everything_once():
    parts: list[slice] = []
    in_chunks(10, 3, parts.append, budget=9)
    assert [(part.start, part.stop) for part in parts] == [(0, 3), (3, 6), (6, 9), (9, 10)]


def test_between_chunks_the_clock_is_looked_at():
    with Clock(0.01), pytest.raises(OutOfTimeError):
        in_chunks(1000, 1, lambda part: time.sleep(0.005), budget=1)


def test_nobody_waits_for_a_call_beyond_the_end_of_the_time():
    with Clock(0.05) as clock, pytest.raises(OutOfTimeError):
        apart_if_wanted(lambda wanted: time.sleep(20.0))
    assert clock.seconds < 10


def test_errors_of_a_call_are_raised_where_it_is_waited_for():
    def fails(wanted: object) -> None:
        raise LimitError("too large")

    with pytest.raises(LimitError, match="too large"):
        apart_if_wanted(fails)


def test_a_call_runs_under_the_clock_of_who_waits():
    with Clock(60) as clock:
        assert apart_if_wanted(lambda wanted: running()) is clock


def test_work_is_told_when_nobody_waits_for_it():
    told = threading.Event()

    def waits(wanted: Callable[[], bool]) -> None:
        while wanted():
            time.sleep(0.002)
        told.set()

    with Clock(0.02), pytest.raises(OutOfTimeError):
        apart_if_wanted(waits)
    assert told.wait(5)


def test_an_interrupt_ends_the_waiting(interruptible):
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with Clock() as clock, pytest.raises(KeyboardInterrupt):
        apart_if_wanted(lambda wanted: time.sleep(20.0))
    assert clock.seconds < 10
