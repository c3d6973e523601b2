"""How a command ends: one table of exit codes, for all of them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """An exit code, with what it means."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        made = int.__new__(cls, code)
        made._value_ = code
        made.meaning = meaning
        return made

    DONE = 0, "done; the answer is yes"
    NO = 1, "the answer is no, or a check failed"
    BAD_INPUT = 2, "bad input: one line on standard error says what, and nothing is written"
    LIMIT = 3, "a limit or Ctrl-C ended the work: the result is incomplete, the answer unknown"
    OUR_FAULT = 70, "a fault of polyfold's: one line on standard error names it; please report it"
    INTERRUPTED = 130, "Ctrl-C ended the work, and nothing was finished that could be kept"
