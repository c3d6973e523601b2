"""Affine functions of a program without any rounding: coefficients and values are digits of long numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from polyfold.exact.digits import Array, Digits, added, bits_for, digits_of, digits_of_coefficients, stacked
from polyfold.program.affine import Affine, operators
from polyfold.program.operators import Operator
from polyfold.program.passes.fold import fold
from polyfold.program.program import Program

_ONE = np.ones(1)


def digit_bits(program: Program) -> int:
    """How long digits may be for all products in a program to be exact."""
    return bits_for(max((operator.terms for affine in program.affines for operator in operators(affine)), default=1))


def products(affine: Affine) -> int:
    """How many products of floats one row takes."""
    return sum(operator.products for operator in operators(affine))


def exactly(affine: Affine, sources: Sequence[Digits], biased: Array = _ONE) -> Digits:
    """The rows of an affine function, exactly. The bias is added as often as `biased` says: one number a row."""
    return fold(affine, sources, _DigitTerms(biased))


class _DigitTerms:
    """What forms do to rows of digits (`program/passes/fold.py`)."""

    def __init__(self, biased: Array) -> None:
        self._biased = biased

    def entries(self, value: Digits, first: int, count: int) -> Digits:
        return value.entries(slice(first, first + count))

    def zeros(self, values: Sequence[Digits], count: int) -> Digits:
        return digits_of(np.zeros((values[0].shape[0], count)), values[0].bits)

    def through(self, operator: Operator, value: Digits) -> Digits:
        places, low = digits_of_coefficients(operator.factors, value.bits)
        # One operator at a time: those of all places together would be the network's weights several times over.
        maps = [lambda x, place=place: operator.changed(lambda _: place).apply(x) for place in places]
        return value.through(maps, low, operator.rows)

    def scaled(self, factor: Array, value: Digits) -> Digits:
        return value.scaled(factor)

    def taken(self, index: npt.NDArray[np.int64], value: Digits) -> Digits:
        return value.entries(index)

    def summed(self, parts: Sequence[Digits]) -> Digits:
        return added(parts)

    def stacked(self, parts: Sequence[Digits]) -> Digits:
        return stacked(parts)

    def shifted(self, value: Digits, bias: Array) -> Digits:
        if not bias.any():
            return value
        rows = np.broadcast_to(self._biased, value.shape[0])[:, None] * bias
        return added([value, digits_of(rows, value.bits)])
