"""Work in steps under one time limit: what does not fit, or cannot be done, is left out and says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from polyfold._base.clock import check_seconds
from polyfold.atlas.atlas import Atlas
from polyfold.errors import PolyfoldError
from polyfold.reporting.found import LeftOut

Result = TypeVar("Result")

# Steps that may take some part of the time left get at least this much.
_LEAST = 0.05


class Steps:
    """Does one step after the other; `tell` hears what each is."""

    def __init__(self, max_seconds: float | None, tell: Callable[[str], None]) -> None:
        check_seconds(max_seconds)
        self._limit, self._tell = max_seconds, tell
        self._started = time.perf_counter()
        self.left_out: list[LeftOut] = []

    def seconds(self, share: float) -> float | None:
        """So much of the time that is left; None without a limit."""
        if self._limit is None:
            return None
        return max(_LEAST, share * (self._limit - (time.perf_counter() - self._started)))

    def complete(self, atlas: Atlas) -> bool:
        """Whether all cells were found. Ctrl-C, which ends a search, is meant for the report as well."""
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        return atlas.complete

    def leave_out(self, what: str, why: str) -> None:
        self.left_out.append(LeftOut(what, why))

    def do(self, what: str, work: Callable[[], Result]) -> Result | None:
        """What the work gives; None if the time is up before it begins, or it says that it cannot be done."""
        if self._limit is not None and time.perf_counter() - self._started > self._limit:
            self.leave_out(what, f"the time limit of {self._limit:g} s was used up by what comes before it")
            return None
        self._tell(what)
        try:
            return work()
        except PolyfoldError as error:
            self.leave_out(what, " ".join(str(error).split()))
            return None
