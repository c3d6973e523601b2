"""Ctrl-C while compiled code runs: noted, so that the work can end in an orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_noted(note: Callable[[], object]) -> Iterator[None]:
    """Within the block SIGINT calls `note` instead of raising KeyboardInterrupt.

    Python could raise it at the first instruction of a function that compiled code calls, before any `try` there.
    Only the main thread gets signals; in other threads, and where SIGINT has no handler of Python's, nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: note())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
