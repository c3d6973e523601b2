"""Limits hold: within a tenth of a second and a tenth of themselves; Ctrl-C within 0.3 seconds."""

from __future__ import annotations

import os
import signal
import threading
import time
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest

import polyfold as pf
from limits import cases_q1
from limits.cases_q1 import CASES
from polyfold._base.result import Result

# Two that are prepared in a moment; all others are slow.
QUICK = ("stats.mean", "graph.path")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


def prepare(name: str) -> None:
    """What is asked about is there before the time runs, and so are libraries, whose import nobody can stop."""
    for library in ("scipy.optimize", "scipy.sparse.csgraph"):
        import_module(library)
    attrgetter(name)(pf)
    (cases_q1.deep if name in ("size.estimate", "graph.dual", "graph.path", "regions") else cases_q1.solid)()
    needs = {"size.bounds": cases_q1.wide, "graph.diameter": cases_q1.graph}
    if name in needs:
        needs[name]()
    if name in ("stats.class_areas", "stats.decision_boundary", "stats.nearest_change") or name.startswith("topology."):
        cases_q1.classes()
    if name in ("summarise", "stats.nearest_change"):
        cases_q1.points(1_500_000 if name == "summarise" else 2000)


def asked(name: str, limit: float | None) -> tuple[Any, float]:
    """What a case gives, a result or an error, and how long that took."""
    started = time.perf_counter()
    try:
        found: Any = CASES[name](limit)
    except (pf.errors.LimitError, KeyboardInterrupt) as error:
        found = error
    return found, time.perf_counter() - started


@pytest.mark.parametrize("name", NAMES)
def test_a_second_is_a_second(name: str) -> None:
    prepare(name)
    # On a busy machine one try may be late.
    tries = []
    for _ in range(3):
        found, seconds = asked(name, 1.0)
        assert found.stopped_by == "max_seconds" and (not isinstance(found, Result) or not found.complete)
        tries.append(seconds)
        if seconds < 1.2:
            return
    raise AssertionError(f"{name}: {tries}")


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_ends_it(name: str, interruptible: None) -> None:
    prepare(name)
    tries = []
    for _ in range(3):
        timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        found, seconds = asked(name, None)
        timer.join()
        assert isinstance(found, KeyboardInterrupt) or found.stopped_by == "interrupt"
        tries.append(seconds)
        if seconds < 1.3:
            return
    raise AssertionError(f"{name}: {tries}")
