"""Whether a gate's output reaches the network's outputs: a push on it, passed on with error bounds.

What cancels is known to. In a pool a loser's value is added and its comparison taken away again. The bounds of
`bounded.py` do not see that: a sum of terms is as uncertain as the terms are large. Here sums of whole numbers are
exact, and so is whatever is made of nothing but zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold._base.types import Array, Ids, Signs
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rounding import TINY, relative, smallest
from polyfold.program.affine import Affine, WrittenOut, is_there
from polyfold.program.operators import Operator
from polyfold.program.passes import bounded
from polyfold.program.passes.fold import fold_form
from polyfold.program.passes.held import slopes
from polyfold.program.passes.walk import Gates, outputs
from polyfold.program.program import Program, Stage

# Whole numbers below this, and their sums, are exact.
_WHOLE = 2.0**53
# More terms than this are no pool's.
_MOST_TERMS = 64


@np.errstate(over="ignore", invalid="ignore")
def influence_of_gates(program: Program, signs: Signs, gates: Ids, blocked: Signs) -> BoundedValues:
    """How much each output (n, m) changes with what gate gates[i] puts out, where pattern signs[i] is held.

    All gates lie in one stage. What passes a gate of `blocked` is left out. A 0 without error is proved: every way to
    the output has a factor zero.
    """
    stage = int(np.searchsorted(program.first_gate, gates[0], side="right")) - 1
    push = np.zeros((len(gates), program.stages[stage].width))
    push[np.arange(len(gates)), gates - program.first_gate[stage]] = 1.0
    by = _Pushes(program, signs, blocked)
    return outputs(program, by, exact_values(push), start=program.steps.value_of_source[stage + 1])


class _Pushes:
    """Changes (n, width) of values, with bounds on their errors, under patterns that are held. Biases have no part."""

    def __init__(self, program: Program, signs: Signs, blocked: Signs) -> None:
        self._program, self._signs, self._blocked = program, signs, blocked
        self._widths = [program.input_dim, *program.steps.widths]
        self._nothing = exact_values(np.zeros((len(signs), 0)))

    def affine(self, affine: Affine, values: Sequence[BoundedValues]) -> BoundedValues:
        unreached = {k for k in affine.sources if values[k] is self._nothing}
        if unreached == affine.sources:
            return self._zeros(len(affine.bias))
        sources = [self._zeros(self._widths[k]) if k in unreached else value for k, value in enumerate(values)]
        if isinstance(affine, WrittenOut):
            return _written_out(affine, sources)
        return fold_form(affine.form, sources, _Forms())

    def _zeros(self, width: int) -> BoundedValues:
        return exact_values(np.zeros((len(self._signs), width)))

    def decide(self, gates: Gates[Stage], z: BoundedValues) -> Array:
        """The slopes that changes are passed on with."""
        return np.where(self._blocked[:, gates.numbers], 0.0, slopes(self._program, gates.number, self._signs))

    def output(self, gates: Gates[Stage], z: BoundedValues, slope: Array) -> BoundedValues:
        values = z.values * slope
        errors = (z.errors * np.abs(slope) + relative(2) * np.abs(values)) * (1 + relative(8)) + TINY
        exact = (slope == 0) | ((z.errors == 0) & (np.isin(slope, (1.0, -1.0)) | (z.values == 0)))
        return BoundedValues(np.where(slope == 0, 0.0, values), np.where(exact, 0.0, errors))

    def nothing(self, inputs: BoundedValues) -> BoundedValues:
        return self._nothing


# -- functions as forms, part by part


class _Forms:
    """What forms do to pushes (`program/passes/fold.py`)."""

    def entries(self, value: BoundedValues, first: int, count: int) -> BoundedValues:
        here = slice(first, first + count)
        return BoundedValues(value.values[:, here], value.errors[:, here])

    def zeros(self, values: Sequence[BoundedValues], count: int) -> BoundedValues:
        return exact_values(np.zeros((len(values[0].values), count)))

    def taken(self, index: Ids, value: BoundedValues) -> BoundedValues:
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
            bound = np.where(operator.changed(is_there).apply(touched) > 0, bound + TINY, bound)
        values[live], errors[live] = operator.apply(here), np.where(bound > 0, bound + TINY, 0.0)
    return BoundedValues(values, errors)


# -- functions as matrices


def _written_out(affine: WrittenOut, sources: Sequence[BoundedValues]) -> BoundedValues:
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


def _exact_terms(affine: WrittenOut, sources: Sequence[BoundedValues], row: int) -> Array | None:
    """The terms (rows of the function, terms) that may not be zero, if no product is rounded; None if one may be."""
    found = [np.zeros((len(affine.bias), 0))]
    for block in affine.blocks:
        push = sources[block.source]
        live = np.flatnonzero(push.values[row])
        if push.errors[row].any() or len(live) > _MOST_TERMS or (np.abs(push.values[row, live]) != 1).any():
            return None
        found.append(block.weight[:, live] * push.values[row, live])
    return np.concatenate(found, axis=1)
