"""Limits hold: within a tenth of a second and a tenth of themselves, and Ctrl-C within three tenths."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from limits.cases_eng import BEFORE, CASES
from polyfold.errors import LimitError

QUICK = ("unfold", "explore")


def each() -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    try:
        found = call()
    except (LimitError, KeyboardInterrupt) as error:
        found = error
    return time.perf_counter() - begun, found


@pytest.mark.parametrize("name", each())
def test_a_limit_holds(name: str) -> None:
    BEFORE.get(name, lambda: None)()
    CASES[name](max_seconds=0.01)  # what is imported on the way is not the question's
    limited, found = seconds_of(lambda: CASES[name](max_seconds=1.0))
    assert limited < 1.2
    assert name in ("check", "certify") or (not found.complete and found.stopped_by == "max_seconds")


@pytest.mark.parametrize("name", each())
def test_an_interrupt_ends_it(name: str, interruptible: None) -> None:
    BEFORE.get(name, lambda: None)()
    CASES[name](max_seconds=0.01)
    sent = list[float]()

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    _, found = seconds_of(CASES[name])
    timer.join()
    assert time.perf_counter() - sent[0] < 0.3
    assert isinstance(found, KeyboardInterrupt) or found.stopped_by == "interrupt"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_without_a_limit_it_takes_long(name: str) -> None:
    BEFORE.get(name, lambda: None)()
    taken, _ = seconds_of(lambda: CASES[name](max_seconds=10.0))
    assert taken > 9.9
