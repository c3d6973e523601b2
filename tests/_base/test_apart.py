"""Work that cannot be stopped, under a clock."""

from __future__ import annotations

import threading
import time

import pytest

from polyfold._base.apart import apart
from polyfold._base.clock import Clock, OutOfTimeError, running


def test_what_is_returned_and_what_is_raised() -> None:
    assert apart(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)


def test_the_work_sees_the_clock() -> None:
    with Clock(5) as clock:
        assert apart(running) is clock


def test_the_limit_holds() -> None:
    ended = threading.Event()
    with Clock(0.1) as clock, pytest.raises(OutOfTimeError):
        apart(lambda: ended.wait(60))
    assert clock.seconds < 30
    ended.set()


def test_an_interrupt_is_noted() -> None:
    started = time.perf_counter()
    with Clock() as clock, clock.noting_interrupts(), pytest.raises(OutOfTimeError, match="interrupted"):
        clock.interrupt()
        apart(lambda: time.sleep(20))
    assert time.perf_counter() - started < 10
