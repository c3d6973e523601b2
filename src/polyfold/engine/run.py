"""A run of the compiled engine under the clock of the question: limits, Ctrl-C, progress, errors in our words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from polyfold._base.clock import running
from polyfold._core import FlatDomain, TooLarge
from polyfold.domain.domain import Domain
from polyfold.errors import DomainError, LimitError

Found = TypeVar("Found")


@dataclass(frozen=True)
class Leave:
    """What a run may ask.

    `keep_going(cells so far)` while it searches; behind that `in_a_hurry()`: whether an interrupt or the end of the
    time waits for its return.
    """

    keep_going: Callable[[int], bool]
    in_a_hurry: Callable[[], bool]


@dataclass(frozen=True)
class Watched(Generic[Found]):
    """What a run gave, how long its question has taken by then, and what stopped it (None if nothing did)."""

    result: Found
    seconds: float
    stopped_by: str | None


def watched(run: Callable[[Leave], Found], domain: Domain, what: str = "cells") -> Watched[Found]:
    """Run something that asks every now and then whether it may go on, which the clock that is running tells.

    One interrupt ends the search and keeps what was found. A second one gives that up too. Progress counts `what`.
    """
    clock = running()
    stopped_by: list[str] = []
    raised: list[BaseException] = []

    def keep_going(done: int) -> bool:
        # Called from the engine, in this thread. Nothing may be raised into the engine.
        try:
            clock.tell(done, what=what)
        except KeyboardInterrupt:
            clock.interrupt()
        except BaseException as error:
            raised.append(error)
        reason = clock.stopped_by
        if reason is not None:
            stopped_by.append(reason)
        return not stopped_by and not raised

    try:
        with clock.noting_interrupts(raising=False):
            result = run(Leave(keep_going, lambda: bool(raised) or clock.over))
    except FlatDomain as error:
        reason = "is empty" if str(error) == "empty" else "has no interior: its cells would all be flat"
        raise DomainError(f"the domain, {domain.describe()}, {reason}") from None
    except TooLarge as error:
        raise LimitError(str(error)) from None
    if raised:
        raise raised[0]
    if clock.given_up:
        raise KeyboardInterrupt
    return Watched(result, clock.seconds, stopped_by[0] if stopped_by else None)
