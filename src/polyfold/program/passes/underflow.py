"""What forms of a program can lose because products on the way underflow.

Bounds by sizes of terms do not see that: a product that has become zero has lost its size, too, and a later weight may
multiply up what it should have been. But what one product loses is less than the least float. So how much larger it
can become on the rest of the way bounds what is lost.
"""

from __future__ import annotations

import numpy as np

from polyfold.domain.domain import Domain
from polyfold.exact.rounding import LEAST, TINY
from polyfold.program.number_range import growth
from polyfold.program.passes.pulled_back import roundings
from polyfold.program.program import Program


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def underflow(program: Program, domain: Domain) -> float:
    """A bound on what underflow takes from any coefficient of gates' and outputs' forms over the domain's parameters.

    It holds forwards and backwards. Forwards, a loss at some value passes all later coefficients. Backwards, one in a
    row over some values is multiplied by what these are over the parameters. `growth` bounds both.
    """
    farthest = np.abs(domain.basis).max(axis=1, initial=0.0)
    total = growth(program, 1 + np.abs(domain.origin) + farthest)
    # Every coefficient is the sum of so many products at most, in each of its steps.
    products = roundings(program) * max([program.input_dim, program.output_dim, *program.steps.widths])
    return max(2 * products * total * LEAST, TINY)
