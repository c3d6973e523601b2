"""Long work in pieces: each small enough for memory and for the clock, with a look at it in between."""

from __future__ import annotations

from collections.abc import Callable

from polyfold._base.clock import tick

# A piece of some 8 MB takes some hundredths of a second.
_FLOATS = 1 << 20


def in_chunks(count: int, floats_each: int, work: Callable[[slice], None], budget: int = _FLOATS) -> None:
    """Run `work` on slices of range(count), each needing at most about `budget` floats."""
    step = max(1, budget // max(1, floats_each))
    for start in range(0, count, step):
        tick()
        work(slice(start, min(start + step, count)))
