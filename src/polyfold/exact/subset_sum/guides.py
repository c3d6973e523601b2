"""Floats that propose: a combination of equations that no 0/1 variables can satisfy, or variables that satisfy all.

Both are checked in integers by whoever asked, so nothing here has to be right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from polyfold._base.apart import apart
from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.float_programs import highs_options, linear_program
from polyfold.exact.rational import rational

Equations = Sequence[Sequence[int]]

# Parts of an integer program that are looked at: what is not found by then hardly ever is.
_MOST_NODES = 10_000


def contradiction(equations: Equations, targets: Sequence[int], nonempty: bool) -> list[fmpq] | None:
    """Factors y for which y.(equations) cannot be y.targets, in the opinion of a linear program."""
    M, t, scales = _in_floats(equations, targets)
    rows, columns = M.shape
    if nonempty:
        # y.M_j >= 1 for all j: then no sum over some of the M_j is zero.
        found = linear_program(np.zeros(rows), A_ub=-M.T, b_ub=-np.ones(columns), bounds=(None, None))
    else:
        # The largest y.t - sum_j u_j with u_j >= max(0, y.M_j), which is what any choice of variables can reach.
        objective = np.concatenate([-t, np.ones(columns)])
        below = np.hstack([M.T, -np.eye(columns)])
        bounds = [(-1, 1)] * rows + [(0, None)] * columns
        found = linear_program(objective, A_ub=below, b_ub=np.zeros(columns), bounds=bounds)
    if found.x is None:
        return None
    return [rational(y) / scale for y, scale in zip(found.x[:rows].tolist(), scales, strict=True)]


def proposal(equations: Equations, targets: Sequence[int], nonempty: bool) -> list[int] | None:
    """Variables that satisfy all equations as far as an integer program in floats can tell."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    M, t, _ = _in_floats(equations, targets)
    columns = M.shape[1]
    constraints = [LinearConstraint(M, t, t)]
    if nonempty:
        constraints.append(LinearConstraint(np.ones((1, columns)), 1, np.inf))
    options = {"node_limit": _MOST_NODES, **highs_options()}
    found = apart(
        lambda: milp(
            np.zeros(columns),
            integrality=np.ones(columns),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options=options,
        )
    )
    tick()
    return None if found.x is None else [round(value) for value in found.x.tolist()]


def _in_floats(equations: Equations, targets: Sequence[int]) -> tuple[Array, Array, list[int]]:
    """Every equation divided by its largest number, so that all fit into floats."""
    scales = [max(abs(value) for value in (*row, target)) for row, target in zip(equations, targets, strict=True)]
    M = np.array([[value / scale for value in row] for row, scale in zip(equations, scales, strict=True)])
    t = np.array([target / scale for target, scale in zip(targets, scales, strict=True)])
    return M, t, scales
