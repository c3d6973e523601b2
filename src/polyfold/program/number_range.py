"""Whether the forms of a program stay in the range of floats, on the way too.

A product of weights can leave float64 though what it is multiplied by next would lead back: 1e200 * 1e200 * 1e-300 is
infinite in floats, and 1e-200 * 1e-200 * 1e300 is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.rounding import FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW, smallest
from polyfold.program.affine import Affine, Structured
from polyfold.program.passes.walk import Gates, outputs

if TYPE_CHECKING:
    from polyfold.program.program import Program, Stage


@dataclass(frozen=True)
class NumberRange:
    """Bounds on the sizes of all products along ways through a program, zeros apart, and of their sums."""

    least: float
    most: float

    def holds(self, power: int = 1) -> bool:
        """Whether floats hold all of them, and their powers up to this one, without overflow or loss."""
        share = 1.0 / power
        return bool(self.most < FAR_FROM_OVERFLOW**share and self.least > FAR_FROM_UNDERFLOW**share)


def number_range(program: Program, start: Array, least: float = 1.0) -> NumberRange:
    """What forms of a program meet on their way, forwards or backwards.

    `start` are bounds on the inputs' coefficients, at least one each, and `least` is the smallest of them but zero.
    """
    for stage in program.stages:
        least *= smallest(stage.slope_on) * smallest(stage.slope_off)
    for affine in program.steps.affines:
        least *= affine.smallest * smallest(affine.bias)
    return NumberRange(least, growth(program, start))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def growth(program: Program, start: Array) -> float:
    """Bounds by how much anything can become larger on its way through a program, forwards or backwards.

    One pass with all coefficients made positive, which begins with `start`, at least one everywhere, and adds one at
    every step: what begins or ends at any step is among its terms.
    """
    by = _Growth(start)
    outputs(program, by, start[None])
    total = by.total + by.latest
    return inf if np.isnan(total) else float(total)


class _Growth:
    """Sizes (1, width), with all coefficients made positive and one added at every step.

    `total` sums up what has been passed on, over what it may have been within its step, and `latest` is yet to be.
    """

    def __init__(self, start: Array) -> None:
        self.total, self.latest, self._within = np.float64(0.0), start.sum(), np.float64(1.0)

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        sizes, self._within = affine.changed(np.abs), _within(affine)
        grown: Array = sizes(values) + 1
        if isinstance(affine, Structured):
            grown = grown + sizes.linear([np.ones_like(value) for value in values]) / self._within
        self.total, self.latest = self.total + self.latest, grown.sum() / self._within
        return grown

    def decide(self, gates: Gates[Stage], z: Array) -> Array:
        stage = gates.stage
        return np.maximum(1.0, np.maximum(np.abs(stage.slope_on), np.abs(stage.slope_off)))

    def output(self, gates: Gates[Stage], z: Array, steepest: Array) -> Array:
        grown = z * steepest
        self.latest = grown.sum() / self._within
        return grown

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :0]


def _within(affine: Affine) -> np.float64:
    """What a step multiplies by before it is done is at most all it multiplies by, over this; 0 if that underflows."""
    return np.float64(affine.smallest if isinstance(affine, Structured) else 1.0)
