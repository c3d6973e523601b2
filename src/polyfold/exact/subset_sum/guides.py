"""Floats that propose: a combination of equations that no 0/1 variables can satisfy, or variables that satisfy all.

Both are checked in integers by whoever asked, so nothing here has to be right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.exact.rational import rational

Array = npt.NDArray[np.float64]
Equations = Sequence[Sequence[int]]


def contradiction(equations: Equations, targets: Sequence[int], nonempty: bool, seconds: float) -> list[fmpq] | None:
    """Factors y for which y.(equations) cannot be y.targets, in the opinion of a linear program."""
    from scipy.optimize import linprog

    M, t, scales = _in_floats(equations, targets)
    rows, columns = M.shape
    options = {"time_limit": seconds}
    if nonempty:
        # y.M_j >= 1 for all j: then no sum over some of the M_j is zero.
        found = linprog(np.zeros(rows), A_ub=-M.T, b_ub=-np.ones(columns), bounds=(None, None), options=options)
    else:
        # The largest y.t - sum_j u_j with u_j >= max(0, y.M_j), which is what any choice of variables can reach.
        objective = np.concatenate([-t, np.ones(columns)])
        below = np.hstack([M.T, -np.eye(columns)])
        bounds = [(-1, 1)] * rows + [(0, None)] * columns
        found = linprog(objective, A_ub=below, b_ub=np.zeros(columns), bounds=bounds, options=options)
    if found.x is None:
        return None
    return [rational(y) / scale for y, scale in zip(found.x[:rows].tolist(), scales, strict=True)]


def proposal(equations: Equations, targets: Sequence[int], nonempty: bool, seconds: float) -> list[int] | None:
    """Variables that satisfy all equations as far as an integer program in floats can tell."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    M, t, _ = _in_floats(equations, targets)
    columns = M.shape[1]
    constraints = [LinearConstraint(M, t, t)]
    if nonempty:
        constraints.append(LinearConstraint(np.ones((1, columns)), 1, np.inf))
    found = milp(
        np.zeros(columns),
        integrality=np.ones(columns),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": seconds},
    )
    return None if found.x is None else [round(value) for value in found.x.tolist()]


def _in_floats(equations: Equations, targets: Sequence[int]) -> tuple[Array, Array, list[int]]:
    """Every equation divided by its largest number, so that all fit into floats."""
    scales = [max(abs(value) for value in (*row, target)) for row, target in zip(equations, targets, strict=True)]
    M = np.array([[value / scale for value in row] for row, scale in zip(equations, scales, strict=True)])
    t = np.array([target / scale for target, scale in zip(targets, scales, strict=True)])
    return M, t, scales
