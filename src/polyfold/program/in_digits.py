"""Affine functions of a program without any rounding: coefficients and values are digits of long numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from polyfold.exact.digits import Array, Digits, added, bits_for, digits_of, digits_of_coefficients, stacked
from polyfold.program.affine import Affine, Structured, forms, operators
from polyfold.program.operators import Matrix, Operator
from polyfold.program.program import Program
from polyfold.program.structured import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken

_ONE = np.ones(1)


def digit_bits(program: Program) -> int:
    """How long digits may be for all products in a program to be exact."""
    return bits_for(max((operator.terms for affine in program.affines for operator in operators(affine)), default=1))


def products(affine: Affine) -> int:
    """How many products of floats one row takes."""
    return sum(operator.products for operator in operators(affine))


def exactly(affine: Affine, sources: Sequence[Digits], biased: Array = _ONE) -> Digits:
    """The rows of an affine function, exactly. The bias is added as often as `biased` says: one number a row."""
    if isinstance(affine, Structured):
        parts = [_Values(sources, list(forms(affine))).of(affine.form)]
    else:
        parts = [_through(Matrix(block.weight), sources[block.source]) for block in affine.blocks]
    bits, rows = sources[0].bits, sources[0].shape[0]
    shift = digits_of(np.broadcast_to(biased, rows)[:, None] * affine.bias, bits)
    return added([*parts, shift])


class _Values:
    """Every source's rows, and what was computed from them and is still to be read."""

    def __init__(self, sources: Sequence[Digits], forms: Sequence[Form]) -> None:
        self.sources = sources
        self._known: dict[int, Digits] = {}
        self._readers = Counter(id(part) for form in forms for part in form.parts)

    def of(self, form: Form) -> Digits:
        found = self._known.pop(id(form), None) or _apply(form, self)
        self._readers[id(form)] -= 1
        if self._readers[id(form)] > 0:
            self._known[id(form)] = found
        return found


@singledispatch
def _apply(form: Form, values: _Values) -> Digits:
    raise AssertionError(f"{type(form).__name__} cannot be computed in digits")


@_apply.register
def _entries(form: Entries, values: _Values) -> Digits:
    return values.sources[form.source].entries(slice(form.first, form.first + form.count))


@_apply.register
def _nothing(form: Nothing, values: _Values) -> Digits:
    first = values.sources[0]
    return digits_of(np.zeros((first.shape[0], form.rows)), first.bits)


@_apply.register
def _applied(form: Applied, values: _Values) -> Digits:
    return _through(form.operator, values.of(form.form))


@_apply.register
def _scaled(form: Scaled, values: _Values) -> Digits:
    return values.of(form.form).scaled(form.factor)


@_apply.register
def _taken(form: Taken, values: _Values) -> Digits:
    return values.of(form.form).entries(form.index)


@_apply.register
def _summed(form: Summed, values: _Values) -> Digits:
    return added([values.of(part) for part in form.parts])


@_apply.register
def _stacked(form: Stacked, values: _Values) -> Digits:
    return stacked([values.of(part) for part in form.parts])


def _through(operator: Operator, rows: Digits) -> Digits:
    places, low = digits_of_coefficients(operator.factors, rows.bits)
    # One operator at a time: those of all places together would be the network's weights several times over.
    maps = [lambda x, place=place: operator.changed(lambda _: place).apply(x) for place in places]
    return rows.through(maps, low, operator.rows)
