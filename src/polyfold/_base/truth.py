"""Truth values of results: `if result:` means what it says, or raises.

A yes is True and a no is False. What is not known is neither, and what is no yes or no has no truth value at all: both
raise an UnknownError that says what to ask instead. Without this every result would be True, a "no" included. An answer
that was found elsewhere, or changed since, is not known here.
"""

from __future__ import annotations

from polyfold._base.as_found import AsFound
from polyfold.errors import UnknownError


class YesOrNo(AsFound):
    """A result that answers a question with yes, no, or unknown."""

    def truth(self) -> bool | None:
        """True for yes, False for no, None for unknown."""
        raise NotImplementedError

    def ask_instead(self) -> str:
        """What tells more than a truth value, for the error that unknown raises."""
        return "look at its verdict and its reason"

    def __bool__(self) -> bool:
        answer = self.truth()
        if answer is None:
            raise UnknownError(f"unknown is neither True nor False ({self!r}): {self.ask_instead()}")
        if self.hearsay:
            raise UnknownError(f"nobody has found that out here, it was recorded {self.hearsay} ({self!r}): ask again")
        return answer


class NoTruthValue(AsFound):
    """A result that is no answer to a yes-or-no question."""

    def ask_instead(self) -> str:
        """What somebody who asks for a truth value may have meant."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise UnknownError(f"this is no yes or no ({self!r}): {self.ask_instead()}")
