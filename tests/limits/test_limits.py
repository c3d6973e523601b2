"""Limits hold, for every question there is: within a fifth of a second of one, and Ctrl-C within three tenths.

Seconds are looked at in `make test-all` only, on a machine that has nothing else to do; `make limits` prints them. In
`make test` a few questions are asked whether they stop at all.
"""

from __future__ import annotations

from typing import Any

import pytest

from helpers.public import public_functions
from limits.table import AT_ONCE, CALLS, LATE, interrupted, limited, prepare
from polyfold._base.result import Result

# Asked quickly: some that keep what they have, and some that have nothing to keep.
QUICK = ("unfold", "explore", "stats.mean", "graph.path", "maps.similarity", "symmetry.flatness", "separation.cone")
# These answer "unknown" where others are incomplete.
VERDICTS = ("check", "certify")


def was_stopped(name: str, found: Any) -> bool:
    whole = isinstance(found, Result) and found.complete and name not in VERDICTS
    return not whole and getattr(found, "stopped_by", "max_seconds") in ("max_seconds", None)


def test_every_question_is_here() -> None:
    functions = (function for function in public_functions().values() if hasattr(function, "question"))
    # A report says in the page what it had no time for (tests/reporting).
    asked = {_short(function.question) for function in functions} - {"report"}
    called = {_short(name) for name in CALLS}
    assert not asked - called, f"{asked - called}: write a call that takes long into CASES of tests/limits/of_*.py"
    assert not called - asked, f"{called - asked} is no question"


def _short(name: str) -> str:
    return name.removeprefix("compare.").removeprefix("rewrite.")


@pytest.mark.parametrize("name", QUICK)
def test_a_limit_stops_it(name: str) -> None:
    prepare(name)
    found, _ = limited(name, 0.2)
    assert was_stopped(name, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_second_is_a_second(name: str) -> None:
    prepare(name)
    seconds = []
    for _ in range(3):  # something else may have run meanwhile
        found, taken = limited(name, 1.0)
        assert was_stopped(name, found)
        seconds.append(taken)
        if taken < 1.0 + LATE:
            return
    raise AssertionError(f"{name}: {seconds}")


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_it(name: str, interruptible: None) -> None:
    prepare(name)
    seconds = []
    for _ in range(3):
        found, late = interrupted(name)
        assert isinstance(found, KeyboardInterrupt) or found.stopped_by == "interrupt"
        seconds.append(late)
        if late < AT_ONCE:
            return
    raise AssertionError(f"{name}: {seconds}")


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_without_a_limit_it_takes_long(name: str, interruptible: None) -> None:
    prepare(name)
    interrupted(name, after=10.0)
