"""Numbers, places and formulas as people read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite

import numpy as np

from polyfold._base.types import Array
from polyfold._base.words import in_words
from polyfold.errors import how_many

_DIGITS = 4
# Of long lists so many entries are said.
_NAMED = 6


def point_word(drawn: bool) -> str:
    """What a single input is called: a point that was drawn at random is none of the data.

    >>> point_word(False), point_word(True)
    ('data point', 'point')
    """
    return "point" if drawn else "data point"


def number(value: float) -> str:
    """Four digits, with a true minus sign.

    >>> number(-2.28791), number(1234567.0), number(float("inf")), number(0.0)
    ('−2.288', '1.235e+06', 'infinity', '0')
    """
    if not isfinite(value):
        return "infinity" if value > 0 else "−infinity"
    return f"{value + 0.0:.{_DIGITS}g}".replace("-", "−")


def rounded_up(value: float) -> str:
    """Four digits, never less than the value: what is proved of the value holds for what is written.

    Where four digits denote the very float, they are written as they are.

    >>> rounded_up(1.23451), rounded_up(-1.23459), rounded_up(2.4)
    ('1.235', '−1.234', '2.4')
    """
    return _directed(value, ROUND_CEILING)


def rounded_down(value: float) -> str:
    """Four digits, never more than the value."""
    return _directed(value, ROUND_FLOOR)


def _directed(value: float, rounding: str) -> str:
    if not isfinite(value) or float(f"{value:.{_DIGITS}g}") == value:
        return number(value)
    kept = Context(prec=_DIGITS, rounding=rounding).create_decimal(Decimal(value))
    return number(float(kept))


def percent(part: float) -> str:
    """A part of the whole.

    >>> percent(0.5832), percent(0.0004)
    ('58.3 %', '0.04 %')
    """
    return f"{100 * part:.1f} %" if part >= 0.001 or part == 0 else f"{100 * part:.1g} %"


def listing(items: Sequence[str], most: int = _NAMED) -> str:
    """Words in a row; of many only the first ones.

    >>> listing(["a"]), listing(["a", "b", "c"]), listing(list("abcdefgh"), 3)
    ('a', 'a, b and c', 'a, b, c and 5 more')
    """
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most:,} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def place(point: Array, names: Sequence[str]) -> str:
    """A point by its coordinates.

    >>> place(np.array([1.5, -2.0]), ["a", "b"])
    'a = 1.5, b = −2'
    """
    said = ", ".join(f"{name} = {number(float(x))}" for name, x in zip(names[:_NAMED], point[:_NAMED], strict=True))
    return f"{said}, and {how_many(len(names) - _NAMED, 'more number')}" if len(names) > _NAMED else said


def formula(slopes: Array, constant: float, names: Sequence[str]) -> str:
    """An affine map of named features.

    >>> formula(np.array([2.0, -0.5]), 1.0, ["a", "b"])
    '2 × a − 0.5 × b + 1'
    """
    text = in_words(slopes, constant, names, times="×").replace(" - ", " − ")
    return f"−{text[1:]}" if text.startswith("-") else text


def between(lo: str, hi: str, name: str) -> str:
    """A range of one feature in words.

    >>> between("1", "2", "a"), between("−infinity", "2", "a"), between("−infinity", "infinity", "a")
    ('a between 1 and 2', 'a up to 2', 'any a')
    """
    if lo == "−infinity" and hi == "infinity":
        return f"any {name}"
    if lo == "−infinity":
        return f"{name} up to {hi}"
    return f"{name} from {lo} on" if hi == "infinity" else f"{name} between {lo} and {hi}"


def inside(lo: Array, hi: Array, names: Sequence[str], whole: tuple[Array, Array] | None = None) -> str:
    """A box of which every point counts, its ends rounded inward. Ends that are those of the whole are not said.

    >>> inside(np.array([0.0, 1.0]), np.array([2.0, 3.0]), ["a", "b"], (np.zeros(2), np.full(2, 3.0)))
    'a up to 2 and b from 1 on'
    """
    return _box(lo, hi, names, whole, rounded_up, rounded_down)


def around(lo: Array, hi: Array, names: Sequence[str], whole: tuple[Array, Array] | None = None) -> str:
    """How far something reaches, rounded; an end that is zero or the whole's, seen by the side's length, is just that.

    >>> around(np.array([-8e-15]), np.array([1.0]), ["a"])
    'a between 0 and 1'
    """
    side = np.where(np.isfinite(hi - lo) & (hi > lo), hi - lo, 1.0)
    for limits in (np.zeros(len(lo)), *(() if whole is None else whole)):
        lo, hi = (np.where(np.round((end - limits) / side, _DIGITS) == 0, limits, end) for end in (lo, hi))
    return _box(lo, hi, names, whole, number, number)


def _box(
    lo: Array,
    hi: Array,
    names: Sequence[str],
    whole: tuple[Array, Array] | None,
    low: Callable[[float], str],
    high: Callable[[float], str],
) -> str:
    if whole is not None:
        lo, hi = np.where(lo <= whole[0], -np.inf, lo), np.where(hi >= whole[1], np.inf, hi)
    free = np.isinf(lo) & np.isinf(hi)
    said = [between(low(float(lo[k])), high(float(hi[k])), names[k]) for k in np.flatnonzero(~free).tolist()]
    if not said:
        return "all features anywhere" if len(names) > 1 else f"{names[0]} anywhere"
    text = listing(said)
    if free.any():
        count = int(free.sum())
        text += f" ({how_many(count, 'other feature') if count > 1 else names[int(np.flatnonzero(free)[0])]} anywhere)"
    return text
