"""Work that cannot look at the clock, watched from outside.

Compiled code that lets go of the interpreter (the core, HiGHS, LAPACK, scikit-learn) runs in a thread of its own, while
the one that waits for it looks at the clock: so the end of the time and Ctrl-C are heard at once. What runs apart is
then left behind, ends by itself, and what it found is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from polyfold._base.clock import tick

T = TypeVar("T")

# How often the clock is looked at.
_SECONDS = 0.02


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

    def run() -> None:
        try:
            found.append(context.run(work, lambda: not left_behind.is_set()))
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        while not done.wait(_SECONDS):
            tick()
    except BaseException:
        left_behind.set()
        raise
    if raised:
        raise raised[0]
    return found[0]
