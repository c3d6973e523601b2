"""Long work in pieces, and calls that cannot be asked to stop."""

from __future__ import annotations

import signal
import time

import pytest

from polyfold._base.chunks import in_chunks, patiently
from polyfold._base.clock import Clock, OutOfTimeError, may_go_on, running
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
        patiently(lambda: time.sleep(2.0))
    assert clock.seconds < 0.5


def test_errors_of_a_call_are_raised_where_it_is_waited_for():
    def fails() -> None:
        raise LimitError("too large")

    with pytest.raises(LimitError, match="too large"):
        patiently(fails)


def test_a_call_runs_under_the_clock_of_who_waits():
    with Clock(60) as clock:
        assert patiently(running) is clock


def test_compiled_code_may_go_on_until_the_time_is_over():
    with Clock(0.02), pytest.raises(OutOfTimeError), may_go_on() as go_on:
        assert go_on()
        while go_on():
            time.sleep(0.005)


def test_an_interrupt_of_compiled_code_is_raised_behind_it(interruptible):
    with pytest.raises(KeyboardInterrupt), may_go_on() as go_on:
        signal.raise_signal(signal.SIGINT)
        assert not go_on()
