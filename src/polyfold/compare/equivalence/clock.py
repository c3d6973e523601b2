"""How much time is left."""

from __future__ import annotations

import time
from collections.abc import Callable

from polyfold.compare.equivalence.atoms import TooLongError


class Clock:
    """Counts from when it is made."""

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Seconds, or a moment: whoever is asked to hurry must be able to begin."""
        return max(self.max_seconds - self.seconds, 0.01)

    def may_go_on(self) -> bool:
        return self.seconds < self.max_seconds

    def at_most(self, seconds: float) -> Clock:
        """Another clock for a part of the work."""
        return Clock(min(self.left, seconds))

    def watching(self, report: Callable[[int], None]) -> Callable[[int], None]:
        """The same report, which raises TooLongError when time is over."""

        def watched(cells: int) -> None:
            report(cells)
            if not self.may_go_on():
                raise TooLongError

        return watched
