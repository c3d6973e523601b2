"""Which snapshots of a recording are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polyfold._base.clock import OutOfTimeError, running, tick
from polyfold._base.inputs import one_of
from polyfold._base.types import Ids
from polyfold.errors import PolyfoldError
from polyfold.training.recording import Recording


def a_recording(given: Any, question: str) -> Recording:
    """The recording itself, or an error that says how to get one."""
    if not isinstance(given, Recording):
        text = " ".join(repr(given).split())
        raise PolyfoldError(
            f"{question}: this is asked of a recording, not of {text if len(text) <= 80 else text[:77] + '...'}; give "
            "what pf.training.open returns, or a recorder's .recording"
        )
    return given


def chosen(recording: Recording, snapshots: Any) -> Ids:
    """Numbers of snapshots as an array; None is all of them."""
    if snapshots is None:
        return np.arange(len(recording))
    try:
        numbers = [one_of(number, len(recording), "snapshot", "the recording") for number in snapshots]
    except TypeError:
        raise PolyfoldError(f"snapshots={snapshots!r} must be a list of snapshots' numbers, or None for all") from None
    return np.array(numbers, dtype=np.int64)


def in_turn(recording: Recording, snapshots: Any, question: str) -> Ids:
    """At least two snapshots, each later than the one before."""
    asked = chosen(recording, snapshots)
    if len(asked) < 2 or (np.diff(asked) <= 0).any():
        raise PolyfoldError(f"{question} is from one snapshot to a later one, and these are {asked.tolist()}")
    return asked


def one_by_one(asked: Ids, least: int, work: Callable[[int], object]) -> str | None:
    """Work on each snapshot in turn; what stopped that, if something did after at least so many."""
    clock = running()
    with clock.noting_interrupts():
        for done, snapshot in enumerate(asked.tolist()):
            try:
                tick()
                work(snapshot)
            except OutOfTimeError as error:
                if done < least:
                    raise
                return error.stopped_by
            clock.tell(done + 1, len(asked), "snapshots")
    return None
