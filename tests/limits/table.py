"""Every question on an input that takes well over ten seconds, and how long it goes on beyond its limit and Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from limits import of_cells, of_maps_and_training, of_rewriting, of_statistics
from polyfold.errors import LimitError

Call = Callable[[], Any]


def _with_option(case: Callable[..., Any]) -> Callable[[float | None], Call]:
    return lambda limit: partial(case, max_seconds=limit)


def _with_limit(case: Callable[[float | None], Any]) -> Callable[[float | None], Call]:
    return lambda limit: partial(case, limit)


# By the name of a question: what makes the call with a limit.
CALLS: dict[str, Callable[[float | None], Call]] = {
    **{name: _with_option(case) for name, case in of_cells.CASES.items()},
    **{name: _with_limit(case) for name, case in of_statistics.CASES.items()},
    **of_maps_and_training.CASES,
    **{name: _with_option(case) for name, case in of_rewriting.CASES.items()},
}
# How long a limit may be overrun, and how long Ctrl-C may take.
LATE, AT_ONCE = 0.2, 0.3


def prepare(name: str) -> None:
    """What is asked about is made, and libraries are imported, before the time runs: nobody can stop an import."""
    for library in ("scipy.optimize", "scipy.sparse.csgraph"):
        import_module(library)
    with suppress(LimitError):
        CALLS[name](0.05)()


def limited(name: str, limit: float) -> tuple[Any, float]:
    """What a question gives within a limit, a result or an error, and how long that took."""
    return _timed(CALLS[name](limit))


def interrupted(name: str, after: float = 0.8) -> tuple[Any, float]:
    """What a question gives at Ctrl-C, and how long it went on."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    call, timer = CALLS[name](None), threading.Timer(after, press)
    found: Any = None
    try:
        timer.start()
        found, _ = _timed(call)
        ended = time.perf_counter()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt as error:
        found, ended = error, time.perf_counter()
    finally:  # after an error nobody may be interrupted any more
        timer.cancel()
    assert pressed, f"{name} was done before anybody could interrupt it: the case is too small"
    return found, ended - pressed[0]


def _timed(call: Call) -> tuple[Any, float]:
    started = time.perf_counter()
    try:
        found: Any = call()
    except LimitError as error:
        found = error
    return found, time.perf_counter() - started
