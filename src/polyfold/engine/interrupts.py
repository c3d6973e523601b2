"""Ctrl-C while compiled code runs: noted, so that the work can end in an orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


# `signal` looks whether a handler is one of its own numbers: it hashes it, and writes it into an error that it drops.
@dataclass(frozen=True, eq=False, repr=False)
class _Noting:
    """The handler of one block. Blocks that it lies in are told as well: whoever waits there waits for it to end."""

    note: Callable[[], object]
    around: Any

    def __call__(self, number: int, frame: Any) -> None:
        self.note()
        if isinstance(self.around, _Noting):
            self.around(number, frame)


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
    signal.signal(signal.SIGINT, _Noting(note, before))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
