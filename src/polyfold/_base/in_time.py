"""Work of other libraries that cannot be stopped, under the clock of the question that needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from polyfold._base.clock import tick

T = TypeVar("T")

# Seconds between two looks at the clock.
_LOOK = 0.02


def in_time(work: Callable[[], T]) -> T:
    """What the work returns; OutOfTimeError if the time is over before.

    It runs in a thread of its own. If the time is over, or at Ctrl-C, that thread is left behind and ends by itself.

    >>> in_time(lambda: 1 + 1)
    2
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join(_LOOK)
    while thread.is_alive():
        tick()
        thread.join(_LOOK)
    if failed:
        raise failed[0]
    return found[0]
