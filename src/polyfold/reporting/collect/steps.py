"""Work in steps under one time limit: what does not fit, or cannot be done, is left out and says why."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

from polyfold._base.clock import running
from polyfold.atlas.atlas import Atlas
from polyfold.errors import PolyfoldError
from polyfold.reporting.found import LeftOut

Result = TypeVar("Result")

# Steps that may take some part of the time left get at least this much.
_LEAST = 0.05


class Steps:
    """Does one step after the other, in the time of the running clock, which hears what each is."""

    def __init__(self) -> None:
        self._begun = 0
        self.left_out: list[LeftOut] = []

    def seconds(self, share: float) -> float | None:
        """So much of the time that is left; None without a limit."""
        left = running().left
        return None if left == inf else max(_LEAST, share * left)

    def complete(self, atlas: Atlas) -> bool:
        """Whether all cells were found. Ctrl-C, which ends a search, is meant for the report as well."""
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        return atlas.complete

    def leave_out(self, what: str, why: str) -> None:
        self.left_out.append(LeftOut(what, why))

    def do(self, what: str, work: Callable[[], Result]) -> Result | None:
        """What the work gives; None if the time is up before it begins, or it says that it cannot be done."""
        clock = running()
        if clock.over:
            self.leave_out(what, f"the time limit of {clock.max_seconds:g} s was used up by what comes before it")
            return None
        self._begun += 1
        clock.tell(self._begun, what=f"steps, now {what}")
        try:
            return work()
        except PolyfoldError as error:
            self.leave_out(what, " ".join(str(error).split()))
            return None
