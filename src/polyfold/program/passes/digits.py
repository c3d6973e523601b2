"""Passes without any rounding, for many rows at once: coefficients and values are digits of long numbers.

Outputs at points, and as affine functions of many cells. Rationals (`rationals.py`) take any numbers and break ties by
directions; digits take floats only, and are faster by far where a network is large.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Flags, Ids, Signs
from polyfold.domain.domain import Domain
from polyfold.exact.digits import Digits, added, bits_for, digits_of, digits_of_coefficients, stacked
from polyfold.program.affine import Affine, Block, WrittenOut, operators
from polyfold.program.operators import Operator
from polyfold.program.passes.fold import fold
from polyfold.program.passes.walk import Gates, outputs
from polyfold.program.program import Program, Stage

_ONE = np.ones(1)
# Numbers of a layer that are worked on at a time.
_AT_ONCE = 1 << 18


def digit_bits(program: Program) -> int:
    """How long digits may be for all products in a program to be exact."""
    return bits_for(max((operator.terms for affine in program.affines for operator in operators(affine)), default=1))


def products(affine: Affine) -> int:
    """How many products of floats one row takes."""
    return sum(operator.products for operator in operators(affine))


def exactly(affine: Affine, sources: Sequence[Digits], biased: Array = _ONE) -> Digits:
    """The rows of an affine function, exactly. The bias is added as often as `biased` says: one number per row."""
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

    def taken(self, index: Ids, value: Digits) -> Digits:
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


def outputs_at(program: Program, domain: Domain, u: Array) -> list[Fraction]:
    """The outputs at a float point of the domain's parameters."""
    lift = WrittenOut((Block(0, domain.basis),), domain.origin)
    bits = min(digit_bits(program), bits_for(domain.dim)) if domain.is_slice else digit_bits(program)
    x = digits_of(u[None, :], bits)
    x = exactly(lift, [x]) if domain.is_slice else x
    found = outputs(program, _ByValues(_ONE), x)
    return [fraction(found, 0, k) for k in range(program.output_dim)]


def cells_at_once(program: Program, domain: Domain) -> int:
    """How many cells' maps to ask for at a time."""
    widest = max([program.input_dim, program.output_dim, *(stage.width for stage in program.stages)])
    return max(1, _AT_ONCE // (widest * (1 + domain.dim)))


def maps_of(program: Program, domain: Domain, signs: Signs) -> Digits:
    """The cells' maps over the domain's parameters: 1 + d rows per cell, the values at u = 0 and then the slopes."""
    rows = np.concatenate([domain.origin[None], domain.basis.T])
    biased = np.zeros(len(rows))
    biased[0] = 1.0
    inputs = digits_of(np.tile(rows, (len(signs), 1)), digit_bits(program))
    return outputs(program, _Held(signs, len(rows), np.tile(biased, len(signs))), inputs)


class _ByValues:
    """Rows of digits (n, width). A gate is on where its value is positive, and there is no doubt about any."""

    def __init__(self, biased: Array) -> None:
        self._biased = biased

    def affine(self, affine: Affine, values: Sequence[Digits]) -> Digits:
        return exactly(affine, values, self._biased)

    def decide(self, gates: Gates[Stage], z: Digits) -> Flags:
        return sign_of(z) > 0

    def output(self, gates: Gates[Stage], z: Digits, on: Flags) -> Digits:
        stage = gates.stage
        if stage.is_relu:
            return _masked(z, on)
        return added([_masked(z.scaled(stage.slope_on), on), _masked(z.scaled(stage.slope_off), ~on)])

    def nothing(self, inputs: Digits) -> Digits:
        return inputs.entries(slice(0))


class _Held(_ByValues):
    """The same with patterns held, one for so many rows that follow each other."""

    def __init__(self, signs: Signs, rows: int, biased: Array) -> None:
        super().__init__(biased)
        self._signs, self._rows = signs, rows

    def decide(self, gates: Gates[Stage], z: Digits) -> Flags:
        return np.repeat(self._signs[:, gates.numbers], self._rows, axis=0)


def _masked(numbers: Digits, mask: Flags) -> Digits:
    return Digits(numbers.digits * mask, numbers.low, numbers.bits)


def fraction(numbers: Digits, row: int, column: int) -> Fraction:
    """One of the numbers."""
    places = numbers.digits[:, row, column].tolist()
    total = sum(int(digit) << (numbers.bits * k) for k, digit in enumerate(places))
    return Fraction(total) * Fraction(2) ** (numbers.bits * numbers.low)


def sign_of(numbers: Digits) -> npt.NDArray[np.int8]:
    """-1, 0 or 1: the sign of the highest digit that is not zero."""
    signs = np.zeros(numbers.shape, dtype=np.int8)
    for digit in numbers.digits[::-1]:
        signs = np.where(signs == 0, np.sign(digit).astype(np.int8), signs)
    return signs
