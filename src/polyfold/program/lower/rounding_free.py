"""Whether a form can be written out as a matrix without rounding, as far as its structure shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.lower.rows import Index


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of a form's coefficients.

    `largest` bounds them if they are whole numbers. If they are 1 and -1 only, `entries` lists them as lines of row,
    source and entry, in the order of the rows.
    """

    exact: bool
    largest: float | None = None
    entries: Index | None = None


_ROUNDED = _Known(False)
# Sums of whole numbers up to here are exact.
_WHOLE = 2.0**50


def written_out_without_rounding(form: Form) -> bool:
    """True if it surely is.

    Whole numbers are exact, and so is a matrix whose columns stand for different entries of sources, or for sums of
    such. Matrices behind matrices, and sums of them over the same source, count as rounded.
    """
    return _known(form, {}).exact


def _known(form: Form, seen: dict[int, _Known]) -> _Known:
    if id(form) not in seen:
        seen[id(form)] = _look(form, [_known(part, seen) for part in form.parts])
    return seen[id(form)]


def _look(form: Form, parts: list[_Known]) -> _Known:
    if not all(part.exact for part in parts):
        return _ROUNDED
    whole = [part.largest for part in parts if part.largest is not None]
    all_whole = len(whole) == len(parts)
    match form:
        case Entries():
            numbers = np.arange(form.count)
            return _Known(
                True, 1.0, np.stack([numbers, np.full(form.count, form.source), form.first + numbers], axis=1)
            )
        case Nothing():
            return _Known(True, 0.0, np.zeros((0, 3), dtype=np.int64))
        case Taken():
            return _Known(True, parts[0].largest, _taken(parts[0].entries, form.index))
        case Stacked():
            firsts = np.cumsum([0, *(part.rows for part in form.parts)])[:-1].tolist()
            return _Known(True, max(whole, default=0.0) if all_whole else None, _joined(parts, firsts))
        case Scaled():
            if (np.abs(form.factor) == 1).all():
                return parts[0]
            return _Known(parts[0].largest is not None and parts[0].largest <= 1)
        case Summed():
            if all_whole and sum(whole) <= _WHOLE:
                return _Known(True, sum(whole), _joined(parts, [0] * len(parts)))
            sources = [part.sources for part in form.parts]
            return _Known(sum(map(len, sources)) == len(frozenset[int]().union(*sources)))
        case Applied():
            return _Known(parts[0].entries is not None and _distinct(parts[0].entries))
        case _:
            return _ROUNDED


def _taken(entries: Index | None, index: Index) -> Index | None:
    if entries is None:
        return None
    start, stop = (np.searchsorted(entries[:, 0], index, side=side) for side in ("left", "right"))
    counts = stop - start
    places = np.repeat(stop - np.cumsum(counts), counts) + np.arange(counts.sum())
    return np.column_stack([np.repeat(np.arange(len(index)), counts), entries[places, 1:]])


def _joined(parts: list[_Known], firsts: list[int]) -> Index | None:
    """The entries of all parts, whose rows begin at these."""
    lists = [
        part.entries + np.array([first, 0, 0])
        for part, first in zip(parts, firsts, strict=True)
        if part.entries is not None
    ]
    if len(lists) < len(parts) or not lists:
        return None
    together = np.concatenate(lists)
    # An entry twice in a row would be another coefficient than 1 and -1.
    if len(np.unique(together, axis=0)) < len(together):
        return None
    return together[np.argsort(together[:, 0], kind="stable")]


def _distinct(entries: Index) -> bool:
    """Whether no entry is in two rows."""
    return len(np.unique(entries[:, 1:], axis=0)) == len(entries)
