"""One clock: limits within limits, Ctrl-C that is noted, and progress that reaches whoever wants to know."""

from __future__ import annotations

import signal
import time

import pytest

from polyfold._base.clock import Clock, OutOfTimeError, Progress, running, tick
from polyfold.errors import LimitError


def test_without_a_limit_nothing_stops() -> None:
    with Clock() as clock:
        tick()
        assert clock.left == float("inf") and not clock.over and running() is clock
    assert running() is not clock


def test_the_end_of_the_time() -> None:
    with Clock(0.01) as clock, pytest.raises(OutOfTimeError, match=r"max_seconds=0\.01 did not suffice") as raised:
        while True:
            tick()
    assert raised.value.stopped_by == clock.stopped_by == "max_seconds" and isinstance(raised.value, LimitError)
    assert clock.left > 0  # a moment, for those who have to end in an orderly way


def test_the_outer_limit_holds_within_and_is_named() -> None:
    with Clock(0.01), Clock(100):
        time.sleep(0.02)
        with pytest.raises(OutOfTimeError, match=r"max_seconds=0\.01"):
            tick()


@pytest.mark.parametrize("limit", [0, -1, float("nan"), "1"])
def test_limits_that_leave_no_time(limit: object) -> None:
    with pytest.raises(LimitError, match="leaves no time"):
        Clock(limit)  # type: ignore[arg-type]


def test_an_interrupt_is_noted_once(interruptible: None) -> None:
    with Clock() as outer, outer.noting_interrupts(), Clock() as inner:
        signal.raise_signal(signal.SIGINT)
        assert inner.stopped_by == outer.stopped_by == "interrupt"
        with pytest.raises(OutOfTimeError, match="interrupted"):
            tick()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_where_nothing_can_be_kept_an_interrupt_is_pythons_own(interruptible: None) -> None:
    with Clock(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_progress_of_an_inner_question_goes_to_who_asked_the_outer_one() -> None:
    events: list[Progress] = []
    with Clock(progress=events.append) as outer:
        outer.tell(1, 3, "boxes")
        with Clock(progress=False) as inner:
            inner.tell(2, what="cells")
    assert [(event.done, event.total, event.what) for event in events] == [(1, 3, "boxes"), (2, None, "cells")]


def test_a_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with Clock(progress=True) as clock:
        clock.tell(5, 10)
    assert capsys.readouterr().out == ""


def test_blocks_of_one_clock_count_an_interrupt_once(interruptible: None) -> None:
    with Clock() as clock, clock.noting_interrupts(), clock.noting_interrupts():
        signal.raise_signal(signal.SIGINT)
        assert clock.stopped_by == "interrupt" and not clock.given_up


def test_nothing_is_raised_into_compiled_code(interruptible: None) -> None:
    with Clock() as outer, outer.noting_interrupts(), Clock() as inner, inner.noting_interrupts(raising=False):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert inner.given_up and outer.given_up


def test_an_interrupt_of_a_part_ends_the_whole(interruptible: None) -> None:
    with Clock() as outer:
        with Clock(60) as inner, inner.noting_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert inner.stopped_by == "interrupt"
        assert outer.stopped_by == "interrupt"
        with pytest.raises(KeyboardInterrupt):  # nobody notes it here
            tick()
