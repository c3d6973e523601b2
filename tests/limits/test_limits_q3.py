"""Limits hold: a call that takes more than ten seconds ends a second after it was asked to, and at once at Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

import pytest

from limits.cases_q3 import CASES, Case
from polyfold.errors import LimitError

# One that keeps what it has and one that has nothing to keep; the others take longer to come to their point.
QUICK = ("separation.cone", "rewrite.identifiable")
ALL = [pytest.param(CASES[name], id=name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]


@pytest.fixture
def warm() -> None:
    """Imports are no part of what a limit is for."""
    import scipy.optimize  # noqa: F401


@pytest.mark.parametrize("call", ALL)
@pytest.mark.usefixtures("warm")
def test_a_limit_of_a_second_holds(call: Case) -> None:
    with contextlib.suppress(LimitError):
        call(max_seconds=0.2)
    began = time.perf_counter()
    try:
        found = call(max_seconds=1.0)
    except LimitError as error:
        assert "max_seconds=1" in str(error)
    else:
        assert not found.complete
    assert 0.7 < time.perf_counter() - began < 1.2 * _slowed_down()


@pytest.mark.parametrize("call", ALL)
@pytest.mark.usefixtures("warm", "interruptible")
def test_ctrl_c_ends_it(call: Case, interruptible: None) -> None:
    with contextlib.suppress(LimitError):
        call(max_seconds=0.2)
    at: list[float] = []

    def interrupt() -> None:
        at.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.8, interrupt)
    timer.start()
    try:
        found = call(max_seconds=60.0)
    except KeyboardInterrupt:
        pass
    else:
        assert found.stopped_by == "interrupt"
    finally:
        timer.cancel()
    assert time.perf_counter() - at[0] < 0.3 * _slowed_down()


def _slowed_down() -> float:
    """By how much others on this machine make everything take longer."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
