"""Fields of a result that are worked out when somebody reads them.

A digest of arrays takes its time, and few ask for it. What waits is kept beside the fields, as the mark of
`as_found.py` is, and counts as the field everywhere: in a pickle, a copy, `dataclasses.replace`, a comparison. Only
`replaced` hands it on as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

_WAITING = "_when_read"

Result = TypeVar("Result", bound="WhenRead")


class WhenRead:
    """A dataclass in which fields may wait until they are read. Such a field has no default but by a factory, or
    the default would be taken for its value."""

    if not TYPE_CHECKING:  # or any name would seem to be there to a type checker

        def __getattr__(self, name: str) -> Any:
            # Called for what is not there. What waits goes on to be kept: two threads may read at once.
            work_out = waiting(self, name)
            if work_out is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = work_out()
            object.__setattr__(self, name, value)
            return value

    def __getstate__(self) -> dict[str, Any]:
        """For pickles and copies: everything worked out."""
        for name in self.__dict__.get(_WAITING, ()):
            getattr(self, name)
        return {name: value for name, value in self.__dict__.items() if name != _WAITING}


def waiting(result: WhenRead, name: str) -> Callable[[], Any] | None:
    """What works a field out when it is read; None of a field that was given."""
    work: dict[str, Callable[[], Any]] = result.__dict__.get(_WAITING, {})
    return work.get(name)


def when_read(result: Result, **work: Callable[[], Any]) -> Result:
    """The result, in which these fields wait to be read. For those who have just made it."""
    for name in work:
        result.__dict__.pop(name, None)
    object.__setattr__(result, _WAITING, result.__dict__.get(_WAITING, {}) | work)
    return result


def read_from(giver: WhenRead, result: Result, *names: str) -> Result:
    """The result, with these fields as another one has them, read or not."""
    return when_read(result, **{name: waiting(giver, name) or partial(getattr, giver, name) for name in names})


def replaced(result: Result, **changes: Any) -> Result:
    """As `dataclasses.replace` does, for classes that look nothing over; fields that wait go on waiting.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Answer(WhenRead):
    ...     digest: str
    ...     cells: int
    >>> asked = []
    >>> answer = when_read(Answer("", 1), digest=lambda: asked.append("digest") or "77")
    >>> other = replaced(answer, cells=2)
    >>> asked, other, asked
    ([], Answer(digest='77', cells=2), ['digest'])
    """
    said, other = result.__dict__, object.__new__(type(result))
    fields: Iterable[str] = result.__dataclass_fields__  # type: ignore[attr-defined]
    other.__dict__.update({name: said[name] for name in fields if name in said} | changes)
    work = {name: each for name, each in said.get(_WAITING, {}).items() if name not in changes}
    return when_read(other, **work) if work else other
