"""Work that cannot be stopped, under a clock."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from polyfold._base.apart import apart
from polyfold._base.clock import Clock, OutOfTimeError, running, tick


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


def test_what_is_left_behind_by_an_interrupt_hears_of_it_however_deep(interruptible: None) -> None:
    """Nobody notes this interrupt, so the clock knows nothing of it."""
    deep = threading.Event()
    ended: list[str] = []

    def work() -> None:
        deep.set()
        try:
            while True:
                tick()
                time.sleep(0.001)
        finally:
            ended.append("work")

    def presses() -> None:
        deep.wait(60)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=presses, daemon=True).start()
    with Clock(), pytest.raises(KeyboardInterrupt):
        apart(lambda: apart(work))
        time.sleep(60)  # the signal is heard by the main thread, wherever it is
    end = time.perf_counter() + 30
    while not ended and time.perf_counter() < end:
        time.sleep(0.01)
    assert ended == ["work"]


def test_python_waits_a_moment_for_what_was_left_behind() -> None:
    """A thread that comes out of compiled code when the interpreter is gone ends the process with an error."""
    program = """
import time
from polyfold._base.apart import apart_if_wanted
from polyfold._base.clock import Clock, OutOfTimeError

def work(wanted):
    while wanted():
        time.sleep(0.01)
    time.sleep(0.3)
    print("ended", flush=True)

try:
    with Clock(0.05):
        apart_if_wanted(work)
except OutOfTimeError:
    print("left", flush=True)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stdout) == (0, "left\nended\n")
