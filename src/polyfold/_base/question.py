"""question: what all public functions that answer something have in common, written once.

A question runs under its own clock (`max_seconds`, `progress`), and its answer is stamped with how long it took, what
stopped it and what was asked, so that `polyfold check result.json MODEL` can ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, signature
from math import prod
from typing import Any, ParamSpec, TypeVar

from polyfold._base.clock import Clock
from polyfold._base.result import _KNOWN, NOT_FINITE, Asked, Known, Result, is_plain, plain

P = ParamSpec("P")
R = TypeVar("R")

# How the answer was come by, not what was asked.
_NOT_ASKED = frozenset({"max_seconds", "max_memory", "threads", "executor", "progress", "out"})
# More numbers are data, which whoever asks again has: they are not written down with the question.
_MOST_NUMBERS = 4096


def question(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function a question, by its public name ("stats.lipschitz").

    Within it `running()` is the clock that `max_seconds` and `progress` set.
    """

    def decorate(answer: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(answer).parameters

        @wraps(answer)
        def ask(*args: P.args, **kwargs: P.kwargs) -> R:
            with Clock(kwargs.get("max_seconds"), kwargs.get("progress")) as clock:  # type: ignore[arg-type]
                found = answer(*args, **kwargs)
            if isinstance(found, Result):
                known: Known = found.__dict__.get(_KNOWN, Known())
                if known.asked is None:
                    said = _asked(name, parameters, args, kwargs)
                    object.__setattr__(found, _KNOWN, replace(known, seconds=clock.seconds, asked=said))
            return found

        ask.question = name  # type: ignore[attr-defined]
        return ask

    return decorate


def _asked(name: str, parameters: Mapping[str, Parameter], args: Any, kwargs: Any) -> Asked:
    given = dict(zip(parameters, args, strict=False)) | kwargs
    options: dict[str, Any] = {}
    left_out: list[str] = []
    for key, value in given.items():
        if key in _NOT_ASKED or key == "source" or parameters[key].default is value:
            continue
        if _numbers(value) > _MOST_NUMBERS:
            left_out.append(key)
            continue
        try:
            said = plain(value)
        except Exception:  # a user's object that does not want to be written
            said = object()
        if isinstance(value, str):
            kept = value not in NOT_FINITE
        else:
            # Other texts stand for what JSON cannot hold: fractions, functions, paths.
            kept = is_plain(said) and (not isinstance(said, str) or said in NOT_FINITE)
        if kept:
            options[key] = said
        else:
            left_out.append(key)
    return Asked(name, options, tuple(left_out))


def _numbers(value: Any) -> int:
    """About how many numbers a value holds, without looking at each of them; of a result, too many."""
    if isinstance(value, int | float | str):
        return 1
    if isinstance(value, Result):
        return _MOST_NUMBERS + 1
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return prod(shape)
    if isinstance(value, list | tuple):
        return len(value) * _numbers(value[0]) if value else 0
    if isinstance(value, Mapping):
        return sum(map(_numbers, value.values()))
    if is_dataclass(value):
        return sum(_numbers(getattr(value, each.name)) for each in fields(value))
    return 1
