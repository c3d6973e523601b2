"""Limits hold: each call is stopped after a second, within a tenth of one and of itself, and at once by Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from limits.cases_q2 import CASES, Call, answered_or_refused

# These are quick enough to be looked at every time.
QUICK = {"maps.similarity", "symmetry.flatness"}
NAMES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]
LIMIT, LATEST, AT_ONCE = 1.0, 1.2, 0.3


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_holds(name: str) -> None:
    call = CASES[name](LIMIT)
    started = time.perf_counter()
    answer = answered_or_refused(call)
    seconds = time.perf_counter() - started
    assert LIMIT * 0.9 < seconds < LATEST + _load(), f"{name} took {seconds:.2f} s"
    assert answer is None or answer.stopped_by == "max_seconds"


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_ends_it(name: str, interruptible: None) -> None:
    call = CASES[name](None)
    pressed: list[float] = []
    answer = _pressed_after(0.7, call, pressed)
    late = time.perf_counter() - pressed[0]
    assert late < AT_ONCE + _load(), f"{name} went on for {late:.2f} s"
    assert answer is None or answer.stopped_by == "interrupt"


def _pressed_after(seconds: float, call: Call, pressed: list[float]) -> object:
    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, press)
    try:
        timer.start()
        return answered_or_refused(call)
    except KeyboardInterrupt:
        return None
    finally:
        timer.cancel()
        if not pressed:
            pytest.fail("it was done before anybody could interrupt it: the case is too small")


def _load() -> float:
    """Seconds to add where more runs on this machine than it has processors."""
    return 0.1 * max(0.0, os.getloadavg()[0] / (os.cpu_count() or 1) - 1)


def test_every_question_of_these_namespaces_is_here(questions: Callable[[], set[str]]) -> None:
    mine = ("maps.", "explain.", "symmetry.", "layers.", "training.")
    assert {name for name in questions() if name.startswith(mine)} - {"maps.of_pattern"} == CASES.keys()


@pytest.fixture
def questions() -> Callable[[], set[str]]:
    from helpers.public import public_functions

    return lambda: {name for name, function in public_functions().items() if hasattr(function, "question")}
