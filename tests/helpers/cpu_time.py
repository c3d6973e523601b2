"""What a test takes, without what it starts or ends for many others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_for_many = 0.0


def cpu_seconds() -> float:
    """Of this process and of the programs that it started and that have ended, but for those that serve many tests."""
    return _all_seconds() - _for_many


@contextmanager
def for_many_tests() -> Iterator[None]:
    """Around the start and the end of a server or browser: the one test in which it ends is not to blame for it."""
    global _for_many
    before = _all_seconds()
    try:
        yield
    finally:
        _for_many += _all_seconds() - before


def _all_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
