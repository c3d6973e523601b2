"""Signs of all gates at one input of a deep network, proved in numbers that are as long as it takes.

Bounds on rounding errors grow by about a digit from layer to layer, far faster than the errors themselves, and behind a
dozen layers floats prove nothing. Here every layer is computed without rounding (`program/passes/digits.py`). What it
puts out is cut at a place so low that the cut, carried on through all layers behind it in the worst case, still does
not matter. A plain pass in floats says beforehand how low that is, and what it will cost; the proof does not depend on
it. Values that stages share are not kept: nothing would cut them, and errors would grow in them once more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor, log2
from typing import NamedTuple

import numpy as np

from polyfold._base.types import Array, Signs
from polyfold.errors import LimitError
from polyfold.exact.digits import Digits, digits_of
from polyfold.exact.rounding import TINY, relative, smallest
from polyfold.program.affine import Affine
from polyfold.program.passes.digits import digit_bits, exactly, products
from polyfold.program.passes.walk import Gates, StageByStage, walk
from polyfold.program.program import Program, Stage

# Digits up to this length are kept whole: in shallow networks nothing is cut at all, and ties are seen to be ties.
_KEPT = 16
# Errors should stay so many bits below a layer's values: of a billion gates, one may be as close to zero as 2**-30.
_MARGIN = 64
# Bytes for windows of convolutions, digits of weights, and errors of values.
_AT_WORK = 300 << 20
# Growth is counted in steps of so many bits, or it would leave the range of floats.
_STEP = 100
# Digits of a coefficient, as a rule.
_COEFFICIENT = 4


@dataclass(frozen=True)
class Plan:
    """Where to cut what each stage puts out, and what it takes: products of floats and bytes."""

    bits: int
    cuts: tuple[int, ...]
    products: int
    memory: int


@dataclass(frozen=True, eq=False)
class Settled:
    """Every gate's sign at a point: `on`, whether that is `proved`, and whether the gate is proved to be `zero` there.

    `leaves`: it is zero at the point and proved not to be so a short step away.
    """

    on: Signs
    proved: Signs
    zero: Signs
    leaves: Signs


def plan(program: Program, x: Array) -> Plan:
    """How long numbers must be for all signs at an input to be proved, and what that takes. An estimate in floats."""
    bits = digit_bits(program)
    sizes, growth = _growth(program, x)
    cuts, lengths, lowest = [], [], np.inf
    for size, grown in zip(reversed(sizes), reversed(growth), strict=True):
        lowest = min(lowest, size - _MARGIN - grown)
        cut = floor((lowest + grown) / bits)
        cuts.append(cut)
        lengths.append(max(_KEPT, ceil(size / bits) + 1 - cut))
    cuts.reverse()
    lengths.reverse()
    work, memory = _cost(program, lengths)
    return Plan(bits, tuple(cuts), work, memory)


@np.errstate(over="ignore", invalid="ignore")
def _growth(program: Program, x: Array) -> tuple[list[float], list[float]]:
    """For each stage, in bits: how large its values are, and what becomes of errors of one in all inputs."""
    by = _Growth()
    deque(islice(walk(StageByStage(program), by, _Grown(x[None, :], np.ones((1, len(x))), 0)), len(program.stages)), 0)
    return by.sizes, by.growth


class _Grown(NamedTuple):
    """Values, and errors over two to the power of so many bits."""

    values: Array
    errors: Array
    shift: int


class _Growth:
    """Plain floats, and what becomes of errors; notes the sizes of both. On where z > 0."""

    def __init__(self) -> None:
        self.sizes: list[float] = []
        self.growth: list[float] = []
        self._shift = 0

    def affine(self, affine: Affine, values: Sequence[_Grown]) -> _Grown:
        error = affine.changed(np.abs).linear([self._errors(value) for value in values])
        return _Grown(affine([value.values for value in values]), error, self._shift)

    def _errors(self, value: _Grown) -> Array:
        return value.errors if value.shift == self._shift else np.ldexp(value.errors, value.shift - self._shift)

    def decide(self, gates: Gates[Stage], z: _Grown) -> Array:
        """The gates' slopes."""
        largest, worst = float(np.abs(z.values).max(initial=0.0)), float(z.errors.max(initial=0.0))
        if not (np.isfinite(largest) and np.isfinite(worst)):
            raise LimitError("values of the network leave the range of floats")
        self.sizes.append(log2(max(largest, TINY)))
        self.growth.append(self._shift + log2(max(worst, TINY)))
        if worst > 2.0**_STEP:
            self._shift += _STEP
        return np.where(z.values > 0, gates.stage.slope_on, gates.stage.slope_off)

    def output(self, gates: Gates[Stage], z: _Grown, slope: Array) -> _Grown:
        return _Grown(z.values * slope, z.errors * np.abs(slope), z.shift)

    def nothing(self, inputs: _Grown) -> _Grown:
        return _Grown(inputs.values[:, :0], inputs.errors[:, :0], 0)


def _cost(program: Program, lengths: Sequence[int]) -> tuple[int, int]:
    """Products and bytes, given how many digits each stage's values have."""
    lengths = [_COEFFICIENT, *lengths]
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    work, most = 0, 0
    for number, affine in enumerate(program.affines[:-1]):
        longest = max((lengths[source] for source in affine.sources), default=1)
        work += products(affine) * longest * _COEFFICIENT
        held = sum(
            lengths[source] * widths[source]
            for source in range(number + 1)
            if source == 0 or program.last_reader[source] >= number
        )
        # The stage's own values, and what they are put together from.
        most = max(most, held + 4 * (longest + _COEFFICIENT) * widths[number + 1])
    # Four bytes a digit; and what is worked on at a time.
    return work, 4 * most + _AT_WORK


def settle(program: Program, x: Array, planned: Plan, direction: Array | None = None) -> Settled:
    """Every gate's sign at a point. With a direction, a gate that is zero there has its sign a step along it."""
    rows = x[None, :] if direction is None else np.stack([x, direction])
    inputs = _Cut(digits_of(rows, planned.bits), np.zeros_like(rows))
    passed = walk(StageByStage(program), _Cuts(planned, np.array([1.0, 0.0])[: len(rows)]), inputs)
    found, nothing = [], np.zeros(0, dtype=bool)
    for at in islice(passed, len(program.stages)):
        assert at.decided is not None
        found.append(at.decided.settled)
        del at
    return Settled(
        *(np.concatenate([nothing, *(getattr(part, name) for part in found)]) for name in Settled.__dataclass_fields__)
    )


class _Cut(NamedTuple):
    """Digits of long numbers, and how far the numbers that they stand for can be from them."""

    digits: Digits
    errors: Array


class _Cuts:
    """Values (row 0) and perhaps rates (row 1), cut behind every stage. A zero takes the sign of its rate."""

    def __init__(self, planned: Plan, biased: Array) -> None:
        self._planned, self._biased = planned, biased

    def affine(self, affine: Affine, values: Sequence[_Cut]) -> _Cut:
        z = exactly(affine, [value.digits for value in values], self._biased)
        return _Cut(z, _carried(affine, [value.errors for value in values]))

    def decide(self, gates: Gates[Stage], z: _Cut) -> _Gates:
        return _Gates(gates.stage, z.digits, z.errors)

    def output(self, gates: Gates[Stage], z: _Cut, decided: _Gates) -> _Cut:
        digits, errors = decided.output()
        if len(digits.digits) > _KEPT:
            digits, lost = digits.cut(min(self._planned.cuts[gates.number], digits.top - _KEPT))
            errors = errors + lost
        return _Cut(digits, errors)

    def nothing(self, inputs: _Cut) -> _Cut:
        return _Cut(inputs.digits.entries(slice(0)), inputs.errors[:, :0])


def _carried(affine: Affine, errors: list[Array]) -> Array:
    """What errors of the sources become."""
    read = [errors[source] for source in affine.sources]
    if not any(part.any() for part in read):
        return np.zeros((len(errors[0]), len(affine.bias)))
    bound = affine.changed(np.abs).linear(errors) * (1 + relative(2 * affine.terms + 8))
    if affine.smallest * min(smallest(part) for part in read) < TINY:
        return bound + TINY  # products may have underflowed to zero
    return np.where(bound > 0, bound + TINY, 0.0)


class _Gates:
    """The gates of a stage, given their values (row 0) and perhaps rates (row 1), with error bounds."""

    def __init__(self, stage: Stage, z: Digits, errors: Array) -> None:
        self._stage, self._z, self._errors = stage, z, errors
        values = z.floats
        doubt = (errors + z.error * np.abs(values)) * (1 + relative(8)) + TINY
        clear = np.abs(values) > doubt
        zero = ~z.nonzero & (errors == 0)
        on = values[0] > 0
        # Which rows have no doubt about the slope that they take. A zero takes any.
        self._sure = np.broadcast_to(clear[0], clear.shape) | zero
        leaves = np.zeros_like(on)
        if len(values) > 1:
            on = np.where(zero[0], values[1] > 0, on)
            leaves = zero[0] & clear[1]
            self._sure[1] |= leaves
        self._values = values
        self._slope = np.where(on, stage.slope_on, stage.slope_off)
        self._other = np.where(on, stage.slope_off, stage.slope_on)
        self.settled = Settled(on, clear[0] | zero[0], zero[0], leaves)

    def output(self) -> tuple[Digits, Array]:
        """What the gates put out; where a sign is not proved, the error covers both sides."""
        steepest = np.where(self._sure, np.abs(self._slope), np.maximum(np.abs(self._slope), np.abs(self._other)))
        size = np.abs(self._values) * (1 + self._z.error) + TINY
        crossing = np.where(self._sure, 0.0, size * np.abs(self._slope - self._other))
        errors = (self._errors * steepest + crossing) * (1 + relative(8))
        return self._z.scaled(self._slope), np.where(errors > 0, errors + TINY, 0.0)
