"""Work that cannot look at the clock, watched from outside.

Compiled code that lets go of the interpreter (the core, HiGHS, LAPACK, scikit-learn) runs in a thread of its own, while
the one that waits for it looks at the clock: so the end of the time and Ctrl-C are heard at once. What runs apart is
then left behind, ends by itself, and what it found is dropped. Python waits a moment for it before it exits: compiled
code that comes back to an interpreter that is gone would end the process with an error.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from polyfold._base.clock import WANTED, tick

T = TypeVar("T")

# How often the clock is looked at.
_SECONDS = 0.02
# How long Python waits before it exits for what was left behind, and who that is.
_SECONDS_AT_EXIT = 2.0
_left: set[threading.Thread] = set()


def apart(work: Callable[[], T]) -> T:
    """What `work` returns or raises; OutOfTimeError if the question that is being answered has to end before.

    >>> apart(lambda: 6 * 7)
    42
    """
    return apart_if_wanted(lambda wanted: work())


def apart_if_wanted(work: Callable[[Callable[[], bool]], T]) -> T:
    """The same for work that can be asked to stop now and then: it is given a function that says whether anybody waits.

    >>> apart_if_wanted(lambda wanted: wanted())
    True
    """
    found: list[T] = []
    raised: list[BaseException] = []
    done, left_behind = threading.Event(), threading.Event()
    context = copy_context()

    def wanted() -> bool:
        return not left_behind.is_set()

    def run() -> None:
        try:
            context.run(WANTED.set, wanted)
            found.append(context.run(work, wanted))
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()
            _left.discard(threading.current_thread())

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()  # an interrupt may come before this is over
        while not done.wait(_SECONDS):
            tick()
    except BaseException:
        left_behind.set()
        _left.add(thread)
        if done.is_set() or not thread.is_alive():  # it ended before it was noted
            _left.discard(thread)
        raise
    if raised:
        raise raised[0]
    return found[0]


@atexit.register
def _wait_for_those_left() -> None:
    end = time.monotonic() + _SECONDS_AT_EXIT
    # Who is left behind may leave others behind.
    while _left and time.monotonic() < end:
        next(iter(_left)).join(_SECONDS)
