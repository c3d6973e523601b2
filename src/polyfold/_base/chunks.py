"""Long work in pieces: each small enough for memory and for the clock, with a look at it in between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from polyfold._base.clock import tick

T = TypeVar("T")

# A piece of some 8 MB takes some hundredths of a second.
_FLOATS = 1 << 20
# How often somebody who waits looks at the clock.
_A_MOMENT = 0.02


def in_chunks(count: int, floats_each: int, work: Callable[[slice], None], budget: int = _FLOATS) -> None:
    """Run `work` on slices of range(count), each needing at most about `budget` floats."""
    step = max(1, budget // max(1, floats_each))
    for start in range(0, count, step):
        tick()
        work(slice(start, min(start + step, count)))


def patiently(work: Callable[[Callable[[], bool]], T]) -> T:
    """What `work` returns. If the clock is over first, or somebody presses Ctrl-C, nobody waits for it any longer.

    For single calls into compiled code that releases Python's lock and cannot be asked to stop, or only in part: `work`
    is given a function that says whether anybody still waits. It runs in a thread of its own; if nobody waits for that,
    it ends when the call does, and what it found is dropped.

    >>> patiently(lambda wanted: 1 + 1)
    2
    """
    found: list[T] = []
    raised: list[BaseException] = []
    left_alone = threading.Event()

    def run() -> None:
        try:
            found.append(work(lambda: not left_alone.is_set()))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_A_MOMENT)
            tick()
    except BaseException:
        left_alone.set()
        raise
    if raised:
        raise raised[0]
    return found[0]
