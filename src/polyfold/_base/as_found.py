"""Whether a result is as it was found: in this process, and not changed since.

A result says "proved" because of the work that led to it. Of that work the object tells in which it ended, and so do
its copies. `dataclasses.replace` makes another object, for which nobody did any work; and of what comes out of a pickle
only the process that wrote it knows. So a result is marked where it is found (`first_hand`), and is believed only with
the mark of the process that asks.
"""

from __future__ import annotations

import os
import secrets
from typing import TypeVar

_START = secrets.token_hex(16)
_MARK = "_found_in"
# Who recorded what nobody has found out here.
BY_HAND = "by hand"
ELSEWHERE = "in another process"

Result = TypeVar("Result", bound="AsFound")


class AsFound:
    """A dataclass whose claims count in the process that found them, and as they were found."""

    @property
    def hearsay(self) -> str:
        """Where its claims were recorded, if nobody has found them out here: "by hand", or "in another process"."""
        mark = self.__dict__.get(_MARK)
        if mark is None:
            return BY_HAND
        return "" if mark == _here() else ELSEWHERE


def first_hand(result: Result) -> Result:
    """The result, marked as found in this process. For those who have just found out what it says.

    >>> import dataclasses
    >>> @dataclasses.dataclass(frozen=True)
    ... class Answer(AsFound):
    ...     value: int
    >>> dataclasses.replace(first_hand(Answer(1)), value=2).hearsay, first_hand(Answer(1)).hearsay
    ('by hand', '')
    """
    object.__setattr__(result, _MARK, _here())
    return result


def _here() -> str:
    """This process. A fork has another number, so that what it sends back is not taken for its parent's own."""
    return f"{_START} {os.getpid()}"
