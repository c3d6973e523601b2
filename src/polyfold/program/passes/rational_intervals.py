"""Between which numbers every neuron's value lies, by intervals in rationals: which neurons are never negative.

Intervals hold for all inputs, or for a box of inputs. They are exact for one affine function of independent sources and
outer bounds otherwise: a neuron that is never negative for reasons that intervals do not see is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.errors import DomainError
from polyfold.exact.rational_arrays import Rationals, product, rationals, zeros
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.walk import Gates, walk

Bound = Fraction | tuple[Fraction, ...] | None


@dataclass(frozen=True, eq=False)
class Ranges:
    """lower <= value <= upper where `below` and `above` are True; there is no bound (and a zero) where they are not."""

    lower: Rationals
    upper: Rationals
    below: npt.NDArray[np.bool_]
    above: npt.NDArray[np.bool_]

    @property
    def never_negative(self) -> npt.NDArray[np.bool_]:
        """Which values are proved to be zero or more."""
        return self.below & np.asarray(self.lower >= 0, dtype=np.bool_)

    @property
    def always_zero(self) -> npt.NDArray[np.bool_]:
        """Which values are proved to be zero."""
        bounded = self.never_negative & self.above
        return bounded & np.asarray(self.upper <= 0, dtype=np.bool_)


def source_ranges(program: ExactProgram, until: int, low: Bound = None, high: Bound = None) -> list[Ranges]:
    """The ranges of sources 0, ..., until: the inputs, which lie between low and high, and stages' outputs.

    >>> from polyfold.program.exact_program import from_layers
    >>> source_ranges(from_layers([([[1]], [0]), ([[1]], [0])]), 1)[1].never_negative
    array([ True])
    """
    inputs = _inputs(program.input_dim, low, high)
    passed = islice(walk(program, _Intervals(), inputs), min(until, len(program.stages)))
    return [inputs, *(at.decided for at in passed if at.decided is not None)]


class _Intervals:
    """Ranges of a step's values (width,). What is known of gates is the range of what they put out."""

    def affine(self, rows: RationalRows, values: Sequence[Ranges]) -> Ranges:
        return row_ranges(rows, values)

    def decide(self, gates: Gates[ExactStage], z: Ranges) -> Ranges:
        return _after_gates(gates.stage, z)

    def output(self, gates: Gates[ExactStage], z: Ranges, decided: Ranges) -> Ranges:
        return decided

    def nothing(self, inputs: Ranges) -> Ranges:
        nobody = np.zeros(0, dtype=np.bool_)
        return Ranges(zeros(0), zeros(0), nobody, nobody)


def row_ranges(rows: RationalRows, sources: Sequence[Ranges]) -> Ranges:
    """The ranges of affine functions of sources."""
    lower, upper = rows.bias, rows.bias
    below, above = (np.ones(rows.size, dtype=np.bool_) for _ in range(2))
    for source, matrix in rows.terms.items():
        values = sources[source]
        up = np.asarray(matrix > 0, dtype=np.bool_)
        down = np.asarray(matrix < 0, dtype=np.bool_)
        rising, falling = np.where(up, matrix, fmpq(0)), np.where(down, matrix, fmpq(0))
        lower = lower + product(rising, values.lower) + product(falling, values.upper)
        upper = upper + product(rising, values.upper) + product(falling, values.lower)
        below &= ~((up & ~values.below).any(axis=1) | (down & ~values.above).any(axis=1))
        above &= ~((up & ~values.above).any(axis=1) | (down & ~values.below).any(axis=1))
    return Ranges(np.where(below, lower, fmpq(0)), np.where(above, upper, fmpq(0)), below, above)


def _inputs(size: int, low: Bound, high: Bound) -> Ranges:
    lower, upper = (_bounds(size, bound) for bound in (low, high))
    if low is not None and high is not None and (lower > upper).any():
        raise DomainError(f"no input lies between low = {low} and high = {high}; low must not be above high")
    given = (np.full(size, bound is not None) for bound in (low, high))
    return Ranges(lower, upper, *given)


def _bounds(size: int, bound: Bound) -> Rationals:
    if bound is None:
        return zeros(size)
    if isinstance(bound, Fraction):
        return rationals([bound] * size)
    if len(bound) != size:
        raise DomainError(
            f"{len(bound)} bounds on inputs, but the network has {size}; give one for each, or one number"
        )
    return rationals(list(bound))


def _after_gates(stage: ExactStage, z: Ranges) -> Ranges:
    """What gates make of ranges. A gate is monotone on either side of zero, so ends and zero are all that matters."""
    ends: list[tuple[Any, Any]] = []
    for i in range(stage.width):
        on, off = stage.slope_on[i], stage.slope_off[i]
        low, high = (z.lower[i] if z.below[i] else None), (z.upper[i] if z.above[i] else None)
        values = [value * (on if value > 0 else off) for value in (low, high) if value is not None]
        if (low is None or low <= 0) and (high is None or high >= 0):
            values.append(fmpq(0))
        # Without a bound on z the value goes where the slope on that side leads. Where that is flat it stays at zero,
        # which is then among the values: that of z = 0 itself, or of the bounded end on the same side.
        falls = (low is None and off > 0) or (high is None and on < 0)
        rises = (low is None and off < 0) or (high is None and on > 0)
        ends.append((None if falls else min(values), None if rises else max(values)))
    lower, upper = zeros(stage.width), zeros(stage.width)
    for i, (least, most) in enumerate(ends):
        lower[i] = fmpq(0) if least is None else least
        upper[i] = fmpq(0) if most is None else most
    below, above = (np.array([pair[k] is not None for pair in ends], dtype=np.bool_) for k in (0, 1))
    return Ranges(lower, upper, below, above)
