"""Result: what every question returns.

A result is a frozen dataclass whose fields are the answer. Beside the fields it carries what the answer rests on
(`evidence`), what stopped the work, how long that took, and what was asked. These are kept apart, so that
`dataclasses.replace` leaves them behind: nobody has found out what is edited.

| every result has | |
|---|---|
| `evidence` | what is known, of which network and domain, and how; `proved` follows from it |
| `complete`, `stopped_by`, `seconds` | whether the answer is whole, which limit ended the work, how long it took |
| `repr`, notebook table, `to_json()` | in a line, in a table, in full |
| `to_pandas()` | where there are rows (`Rows`) |
| `value` | where it is one number or array (`Value`): `np.asarray(result)`, `float(result)` |
| `bool()` | of a `Verdict`: yes or no, and unknown raises; of any other result it raises |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from polyfold._base.as_found import AsFound, first_hand
from polyfold._base.evidence import NOTHING_KNOWN, Evidence
from polyfold._base.extras import require
from polyfold._base.notebook import InNotebooks
from polyfold.errors import PolyfoldError, UnknownError

# The form of all JSON that polyfold writes; it changes when a reader of the old form would misread the new one.
SCHEMA = "polyfold/1"

_KNOWN = "_carried"


@dataclass(frozen=True)
class Asked:
    """What was asked: the question, its options as JSON, and those that JSON cannot hold or that are long."""

    question: str
    options: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """What a result carries beside its fields."""

    evidence: Evidence = NOTHING_KNOWN
    stopped_by: str | None = None
    seconds: float = 0.0
    asked: Asked | None = None


if TYPE_CHECKING:
    told = property
else:

    class told:  # noqa: N801  # used as `property` is
        """A property in whose place a kind of result may have a field: a certificate tells what stopped its atlas."""

        def __init__(self, tell):
            self.tell, self.__doc__ = tell, tell.__doc__

        def __get__(self, result, kind=None):
            return self if result is None else self.tell(result)


class Result(AsFound, InNotebooks):
    """The answer to a question. See the top of this module for what every result has."""

    @property
    def evidence(self) -> Evidence:
        """What the answer rests on."""
        return self._known().evidence

    @property
    def proved(self) -> bool:
        """Whether the answer is proved, here, of the function that was given."""
        return self.evidence.proved

    @told
    def complete(self) -> bool:
        """Whether the answer is whole: no limit and no interrupt ended the work."""
        return self.stopped_by is None

    @told
    def stopped_by(self) -> str | None:
        """What ended the work before its end: "max_seconds", "max_cells", "interrupt" ...; None if nothing did."""
        return self._known().stopped_by

    @told
    def seconds(self) -> float:
        """How long it took."""
        return self._known().seconds

    @property
    def asked(self) -> Asked | None:
        """What was asked; None of a result that nobody asked for."""
        return self._known().asked

    def facts(self) -> dict[str, Any]:
        """The answer itself, for `to_json`: by default all public fields."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.startswith("_")}  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values, for `json.dumps`."""
        asked = self.asked
        said = {
            "schema": SCHEMA,
            "kind": type(self).__name__,
            **self.facts(),
            "complete": self.complete,
            "stopped_by": self.stopped_by,
            "seconds": self.seconds,
            "evidence": self.evidence.to_json(),
            "asked": asked,
        }
        return {name: plain(value) for name, value in said.items()}

    def ask_instead(self) -> str:
        """What somebody who asks for a truth value may have meant."""
        return "compare what you mean, say one of its fields"

    def __bool__(self) -> bool:
        raise UnknownError(f"this is no yes or no ({self!r}): {self.ask_instead()}")

    def _known(self) -> Known:
        known: Known = self.__dict__.get(_KNOWN, Known())
        return known


class Value(Result):
    """A result that is one number or one array: the field `value`."""

    value: Any

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.value, dtype=dtype)

    def __float__(self) -> float:
        return float(self.value)


class InFloats(Result):
    """A result whose numbers are computed in floats, without a bound on what rounding does to them.

    `evidence` says what is known of the cells that they were computed from.
    """

    @property
    def proved(self) -> bool:
        """False: how far rounding can have moved the numbers is not known."""
        return False


class Rows(Result):
    """A result that has rows."""

    def rows(self) -> Mapping[str, Any]:
        """Columns by their names, all of one length."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a DataFrame."""
        pandas = require("pandas", extra="store", purpose=f"{type(self).__name__}.to_pandas()")
        return pandas.DataFrame(dict(self.rows()))


class Verdict(Result):
    """The answer to a yes-or-no question: `verdict` is "yes", "no" or "unknown".

    As a truth value yes is True and no is False. Unknown is neither and raises, and so does an answer that was found
    elsewhere or edited since. `words` are what the question calls its answers.
    """

    words: tuple[str, str, str] = ("yes", "no", "unknown")

    if TYPE_CHECKING:  # a property or a field; here it would be taken for the field's default

        @property
        def verdict(self) -> Literal["yes", "no", "unknown"]:
            """The answer."""

    @property
    def word(self) -> str:
        """The answer in the words of the question."""
        return self.words[("yes", "no", "unknown").index(self.verdict)]

    def facts(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "word": self.word, **super().facts()}

    def ask_instead(self) -> str:
        return "look at its verdict and its reason, or give it more time"

    def __bool__(self) -> bool:
        if self.verdict == "unknown":
            raise UnknownError(f"unknown is neither True nor False ({self!r}): {self.ask_instead()}")
        if self.hearsay:
            raise UnknownError(f"nobody has found that out here, it was recorded {self.hearsay} ({self!r}): ask again")
        return self.verdict == "yes"


Given = TypeVar("Given", bound=Result)


def answered(
    result: Given,
    evidence: Evidence = NOTHING_KNOWN,
    *,
    stopped_by: str | None = None,
    seconds: float = 0.0,
    asked: Asked | None = None,
) -> Given:
    """The result with all that it carries. For those who have just found it."""
    object.__setattr__(result, _KNOWN, Known(evidence, stopped_by, seconds, asked))
    return first_hand(result)


def plain(value: Any) -> Any:
    """A value as JSON has it. Fractions become texts, and so do numbers that JSON lacks.

    >>> plain({"a": np.arange(2), "b": Fraction(1, 3), "c": float("inf")})
    {'a': [0, 1], 'b': '1/3', 'c': 'infinity'}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if isfinite(number) else "nan" if number != number else "-infinity" if number < 0 else "infinity"
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset | range):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    to_json = getattr(value, "to_json", None)
    if callable(to_json):
        return to_json()
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if not each.name.startswith("_")}
    return str(value)


# Numbers that JSON lacks, by the texts that `plain` writes.
NOT_FINITE = {"infinity": inf, "-infinity": -inf, "nan": nan}


def restored(value: Any) -> Any:
    """A value that `plain` wrote, with the numbers that JSON lacks.

    >>> restored({"norm": "infinity", "cells": [1, 2]})
    {'norm': inf, 'cells': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {name: restored(each) for name, each in value.items()}
    if isinstance(value, list):
        return [restored(each) for each in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def is_plain(value: Any) -> bool:
    """Whether JSON gives a value back as it was.

    >>> is_plain([1, 2.5, None]), is_plain(object())
    (True, False)
    """
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError, PolyfoldError):
        return False
