"""Which gates an input lies on the wall of: floats with error bounds, rationals where they cannot tell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpq_mat

from polyfold.atlas.domain import resolve_domain
from polyfold.atlas.location import vanishing
from polyfold.engine.exact_cell import ExactCells, affordable, coefficients
from polyfold.exact.bounded import bounded_forward, exact_values
from polyfold.exact.evaluate import RationalProgram
from polyfold.exact.rational import rational
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Signs = npt.NDArray[np.bool_]

# One pass in rationals through so many coefficients takes about a second.
_MOST_COEFFICIENTS = 1_000_000


def gates_at_zero(program: Program, X: Array) -> tuple[Signs, list[Ids]]:
    """Patterns (n, gates) at inputs, and for each input the gates that are zero there but not all around it.

    Gates that floats cannot tell from zero are looked at in rationals; in networks too large for that they are listed.
    """
    passed = bounded_forward(program, exact_values(X))
    signs, at_zero = passed.pattern.copy(), ~passed.certain
    rows = np.flatnonzero(passed.zero.any(axis=1))
    if len(rows):
        at_zero[rows] |= passed.zero[rows] & ~vanishing(program, exact_values(X[rows]))
    unsure = np.flatnonzero((~passed.certain).any(axis=1))
    if len(unsure) and coefficients(program) <= _MOST_COEFFICIENTS:
        exact = RationalProgram(program)
        for i in unsure:
            point = [rational(x) for x in X[i].tolist()]
            found = exact.forward(fmpq_mat(len(point), 1, point))
            signs[i] = found.pattern
            zero = np.array([value == 0 for (value,) in found.preactivations], dtype=bool)
            at_zero[i] &= zero
            if zero.any():
                _drop_vanishing(program, signs[i], at_zero[i])
    return signs, [np.flatnonzero(row) for row in at_zero]


def _drop_vanishing(program: Program, signs: Signs, at_zero: Signs) -> None:
    """Take out the gates that vanish under the whole pattern, where that is affordable to know."""
    domain = resolve_domain(None, program.input_dim)
    if affordable(program, domain):
        forms = ExactCells(program, domain).forms.under(tuple(signs.tolist()))
        for gate in np.flatnonzero(at_zero):
            at_zero[gate] = any(forms.rows[gate])
