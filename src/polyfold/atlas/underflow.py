"""What forms of a program can lose because products on the way underflow.

Bounds by sizes of terms do not see that: a product that has become zero has lost its size, too, and a later weight may
multiply up what it should have been. But what one product loses is less than the least float. So how much larger it
can become on the rest of the way bounds what is lost.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import numpy.typing as npt

from polyfold.atlas.domain import Domain
from polyfold.atlas.maps import roundings
from polyfold.exact.rounding import LEAST, TINY
from polyfold.program.affine import Affine, Structured
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def underflow(program: Program, domain: Domain) -> float:
    """A bound on what underflow takes from any coefficient of gates' and outputs' forms over the domain's parameters.

    It holds forwards and backwards. Forwards, a loss at some value passes all later coefficients. Backwards, one in a
    row over some values is multiplied by what these are over the parameters. One pass with all coefficients made
    positive, which begins with at least one everywhere and adds one at every step, is larger than both.
    """
    steps = program.steps.changed(np.abs)
    farthest = np.abs(domain.basis).max(axis=1, initial=0.0)
    values = [(1 + np.abs(domain.origin) + farthest)[None]]
    total = float(values[0].sum())
    for number, (step, before) in enumerate(zip(steps.steps, program.steps.steps, strict=True)):
        grown = _grown(step.affine, before.affine, values)
        if step.stage is not None:
            stage = program.stages[step.stage]
            grown = grown * np.maximum(1.0, np.maximum(np.abs(stage.slope_on), np.abs(stage.slope_off)))
        values.append(grown)
        total += float(grown.sum()) / _within(before.affine)
        for value in range(1, len(values)):
            if steps.last_reader[value] <= number:
                values[value] = values[0][:, :0]
    total += float(_grown(steps.output, program.steps.output, values).sum()) / _within(program.steps.output)
    # Every coefficient is the sum of so many products at most, in each of its steps.
    products = roundings(program) * max([program.input_dim, program.output_dim, *program.steps.widths])
    lost = 2 * products * total * LEAST
    return inf if isnan(lost) else max(lost, TINY)


def _grown(sizes: Affine, original: Affine, values: list[Array]) -> Array:
    ones = [np.ones_like(value) for value in values]
    grown: Array = sizes(values) + 1
    return grown + sizes.linear(ones) / _within(original) if isinstance(original, Structured) else grown


def _within(affine: Affine) -> float:
    """What a step multiplies by before it is done is at most all it multiplies by, over this."""
    return affine.smallest if isinstance(affine, Structured) else 1.0
