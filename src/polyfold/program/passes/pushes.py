"""A push on a network's values, passed through one affine function, with error bounds. What cancels is known to.

In a pool a loser's value is added and its comparison taken away again. The bounds of `exact.bounded` do not see that: a
sum of terms is as uncertain as the terms are large. Here sums of whole numbers are exact, and so is whatever is made of
nothing but zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rounding import TINY, relative, smallest
from polyfold.program.affine import Affine, WrittenOut
from polyfold.program.operators import Operator
from polyfold.program.passes import bounded
from polyfold.program.passes.fold import fold_form

Array = npt.NDArray[np.float64]

# Whole numbers below this, and their sums, are exact.
_WHOLE = 2.0**53
# More terms than this are no pool's.
_MOST_TERMS = 64


def pushed(affine: Affine, sources: list[BoundedValues]) -> BoundedValues:
    """What pushes on the sources become, without the function's bias."""
    if isinstance(affine, WrittenOut):
        return _written_out(affine, sources)
    return fold_form(affine.form, sources, _Pushes())


# -- functions as forms, part by part


class _Pushes:
    """What forms do to pushes (`program/passes/fold.py`)."""

    def entries(self, value: BoundedValues, first: int, count: int) -> BoundedValues:
        here = slice(first, first + count)
        return BoundedValues(value.values[:, here], value.errors[:, here])

    def zeros(self, values: Sequence[BoundedValues], count: int) -> BoundedValues:
        return exact_values(np.zeros((len(values[0].values), count)))

    def taken(self, index: npt.NDArray[np.int64], value: BoundedValues) -> BoundedValues:
        return BoundedValues(value.values[:, index], value.errors[:, index])

    def stacked(self, parts: Sequence[BoundedValues]) -> BoundedValues:
        return BoundedValues(*(np.concatenate(each, axis=1) for each in _values_and_errors(parts)))

    def scaled(self, factor: Array, value: BoundedValues) -> BoundedValues:
        return _scaled(factor, value)

    def summed(self, parts: Sequence[BoundedValues]) -> BoundedValues:
        return _summed(parts)

    def through(self, operator: Operator, value: BoundedValues) -> BoundedValues:
        return _applied(operator, value)

    def shifted(self, value: BoundedValues, bias: Array) -> BoundedValues:
        # A push is a change: constants have no part in it.
        return value


def _values_and_errors(parts: Sequence[BoundedValues]) -> tuple[list[Array], list[Array]]:
    return [part.values for part in parts], [part.errors for part in parts]


def _scaled(factor: Array, push: BoundedValues) -> BoundedValues:
    values = push.values * factor
    errors = (push.errors * np.abs(factor) + relative(2) * np.abs(values)) * (1 + relative(8)) + TINY
    exact = (push.errors == 0) & ((np.abs(factor) == 1) | (push.values == 0))
    return BoundedValues(values, np.where(exact | (factor == 0), 0.0, errors))


def _summed(parts: Sequence[BoundedValues]) -> BoundedValues:
    values, errors = _values_and_errors(parts)
    total, sizes, doubts = (np.sum(each, axis=0) for each in (values, np.abs(values), errors))
    doubt = (doubts + relative(len(parts)) * sizes) * (1 + relative(8 + len(parts))) + TINY
    exact = np.all([part.errors == 0 for part in parts], axis=0)
    # Whole numbers, or one number and zeros.
    whole = np.all([np.rint(each) == each for each in values], axis=0) & (sizes < _WHOLE)
    exact &= whole | (np.sum([each != 0 for each in values], axis=0) <= 1)
    return BoundedValues(total, np.where(exact, 0.0, doubt))


def _applied(operator: Operator, push: BoundedValues) -> BoundedValues:
    values, errors = (np.zeros((len(push.values), operator.rows)) for _ in range(2))
    live = np.flatnonzero(((push.values != 0) | (push.errors != 0)).any(axis=1))
    if len(live):
        here, doubt = push.values[live], push.errors[live]
        sizes = operator.changed(np.abs)
        terms = 4 + operator.terms
        bound = relative(terms) * sizes.apply(np.abs(here))
        if doubt.any():
            bound = bound + sizes.apply(doubt)
        bound = bound * (1 + relative(2 * terms))
        if smallest(operator.factors) * min(smallest(here), smallest(doubt)) < TINY:
            # Products may have underflowed to zero: only what has no term at all is zero then.
            touched = ((here != 0) | (doubt != 0)).astype(np.float64)
            bound = np.where(operator.changed(_is_there).apply(touched) > 0, bound + TINY, bound)
        values[live], errors[live] = operator.apply(here), np.where(bound > 0, bound + TINY, 0.0)
    return BoundedValues(values, errors)


def _is_there(array: Array) -> Array:
    return np.asarray(array != 0, dtype=np.float64)


# -- functions as matrices


def _written_out(affine: WrittenOut, sources: list[BoundedValues]) -> BoundedValues:
    found = bounded.affine(affine, sources, linear=True)
    values, errors = found.values.copy(), found.errors.copy()
    for row in np.flatnonzero((found.errors > 0).any(axis=1)).tolist():
        terms = _exact_terms(affine, sources, row)
        if terms is None:
            continue
        ordered = np.sort(terms, axis=1)
        # Whole numbers; one number and zeros; or pairs of opposite ones: behind a pool a loser's value and its
        # comparison have the same weights.
        exact = (np.rint(terms) == terms).all(axis=1) & (np.abs(terms).sum(axis=1) < _WHOLE)
        exact |= (terms != 0).sum(axis=1) <= 1
        cancelled = (ordered == -ordered[:, ::-1]).all(axis=1)
        values[row, cancelled] = 0.0
        errors[row, exact | cancelled] = 0.0
    return BoundedValues(values, errors)


def _exact_terms(affine: WrittenOut, sources: list[BoundedValues], row: int) -> Array | None:
    """The terms (rows of the function, terms) that may not be zero, if no product is rounded; None if one may be."""
    found = [np.zeros((len(affine.bias), 0))]
    for block in affine.blocks:
        push = sources[block.source]
        live = np.flatnonzero(push.values[row])
        if push.errors[row].any() or len(live) > _MOST_TERMS or (np.abs(push.values[row, live]) != 1).any():
            return None
        found.append(block.weight[:, live] * push.values[row, live])
    return np.concatenate(found, axis=1)
