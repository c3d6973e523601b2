"""Options that many questions have: numbers of threads, of cells, of bytes."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from polyfold.errors import LimitError

# What the core numbers cells with.
MOST_CELLS = 2**31 - 1
MOST_THREADS = 1024


def thread_count(threads: Any) -> int:
    """The number asked for, or one per CPU."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("threads", threads, MOST_THREADS)


def cell_limit(max_cells: Any) -> int | None:
    """The largest number of cells asked for; None for no limit."""
    return None if max_cells is None else whole_number("max_cells", max_cells, MOST_CELLS)


def whole_number(name: str, value: Any, most: int) -> int:
    """A positive whole number up to `most`.

    >>> whole_number("max_cells", 0, 10)
    Traceback (most recent call last):
    polyfold.errors.LimitError: max_cells=0 must be a whole number between 1 and 10, or None
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        raise LimitError(f"{name}={value!r} must be a whole number between 1 and {most:,}, or None")
    return int(value)


def byte_count(name: str, value: Any) -> int:
    """A positive number of bytes."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise LimitError(f"{name}={value!r} must be a positive number of bytes")
    return int(value)
