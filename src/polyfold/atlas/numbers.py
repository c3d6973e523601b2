"""Numbers of things in a row, as users give them: -1 is the last one, what is not there is an error."""

from __future__ import annotations

from operator import index
from typing import Any


def one_of(number: Any, count: int, thing: str, owner: str) -> int:
    """The number of one of `count` things, counted from zero.

    >>> one_of(-1, 3, "cell", "the atlas")
    2
    """
    found = index(number)
    if not -count <= found < count:
        raise IndexError(f"there is no {thing} {number}: {owner} has {count}")
    return found % count
