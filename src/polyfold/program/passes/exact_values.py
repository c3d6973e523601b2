"""Outputs without any rounding: at points, and as affine functions of many cells at once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from polyfold.domain.domain import Domain
from polyfold.exact.digits import Digits, added, bits_for, digits_of
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.passes.digits import digit_bits, exactly
from polyfold.program.program import Program, Stage

Array = npt.NDArray[np.float64]
Signs = npt.NDArray[np.bool_]

# Numbers of a layer that are worked on at a time.
_AT_ONCE = 1 << 18


def outputs_at(program: Program, domain: Domain, u: Array) -> list[Fraction]:
    """The outputs at a float point of the domain's parameters."""
    lift = WrittenOut((Block(0, domain.basis),), domain.origin)
    bits = min(digit_bits(program), bits_for(domain.dim)) if domain.is_slice else digit_bits(program)
    x = digits_of(u[None, :], bits)
    x = exactly(lift, [x]) if domain.is_slice else x
    outputs = _passed(program, x, np.ones(1), lambda stage, z: sign_of(z) > 0)
    return [fraction(outputs, 0, k) for k in range(program.output_dim)]


def cells_at_once(program: Program, domain: Domain) -> int:
    """How many cells' maps to ask for at a time."""
    widest = max([program.input_dim, program.output_dim, *(stage.width for stage in program.stages)])
    return max(1, _AT_ONCE // (widest * (1 + domain.dim)))


def maps_of(program: Program, domain: Domain, signs: Signs) -> Digits:
    """The cells' maps over the domain's parameters: 1 + d rows a cell, the values at u = 0 and then the slopes."""
    rows = np.concatenate([domain.origin[None], domain.basis.T])
    biased = np.zeros(len(rows))
    biased[0] = 1.0

    def on(stage: int, z: Digits) -> Signs:
        gates = slice(program.first_gate[stage], program.first_gate[stage + 1])
        return np.repeat(signs[:, gates], len(rows), axis=0)

    inputs = digits_of(np.tile(rows, (len(signs), 1)), digit_bits(program))
    return _passed(program, inputs, np.tile(biased, len(signs)), on)


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


def _passed(program: Program, inputs: Digits, biased: Array, on: Callable[[int, Digits], Signs]) -> Digits:
    """The outputs of input rows; `on(stage, z)` says which gates are on."""
    sources = [inputs]
    for number, stage in enumerate(program.stages):
        z = exactly(stage.affine, sources, biased)
        sources.append(_switched(stage, z, on(number, z)))
        for source in range(1, len(sources)):
            if program.last_reader[source] <= number:
                sources[source] = sources[source].entries(slice(0))
    return exactly(program.output, sources, biased)


def _switched(stage: Stage, z: Digits, on: Signs) -> Digits:
    if stage.is_relu:
        return _masked(z, on)
    return added([_masked(z.scaled(stage.slope_on), on), _masked(z.scaled(stage.slope_off), ~on)])


def _masked(numbers: Digits, mask: Signs) -> Digits:
    return Digits(numbers.digits * mask, numbers.low, numbers.bits)
