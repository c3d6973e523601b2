"""The nearest point of a polytope {y : A y <= b} to a point x, in the norms 1, 2 and infinity.

What comes back is checked by duality: any multipliers l >= 0 of the rows make one inequality g . y <= l . b out of
them, with g = l A, and everything that satisfies it is at least (g . x - l . b) / |g| away from x, |g| being the dual
norm. So multipliers bound the distance from below whatever solver they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import PolyfoldError
from polyfold.exact.tolerances import NEAREST_POINT

# Least squares take about as many rounds as there are rows; degenerate ones take more.
_ROUNDS = 100

Solution = tuple[Array, Array]
Solver = Callable[[Array, Array, float], Solution | None]

DUAL = {1.0: inf, 2.0: 2.0, inf: 1.0}


@dataclass(frozen=True, eq=False)
class Nearest:
    """A nearest point, how far away it is, and a lower bound on how far away any is."""

    point: Array
    distance: float
    lower: float


def nearest_point(A: Array, b: Array, x: Array, p: float) -> Nearest:
    """The nearest point to x; x itself if it lies inside. Rows must have dual norm 1, so that `A x - b` are distances.

    >>> found = nearest_point(np.eye(2), np.array([0.0, 1.0]), np.array([3.0, 5.0]), 2.0)
    >>> found.point.tolist(), found.distance
    ([0.0, 1.0], 5.0)
    """
    return _nearest(A, b, x, p, _least_squares if p == 2 else _linear_program)


def roughly_nearest_point(A: Array, b: Array, x: Array, p: float) -> Nearest:
    """A point that is nearest in the norm 2, whichever is asked for; found much sooner."""
    return _nearest(A, b, x, p, _least_squares)


def _nearest(A: Array, b: Array, x: Array, p: float, solve: Solver) -> Nearest:
    beyond = A @ x - b
    scale = float(beyond.max())
    if scale <= 0:  # it lies inside
        return Nearest(x, 0.0, 0.0)
    # Seen from x, with the farthest wall that x is behind at distance one.
    found = solve(A, beyond / scale, p)
    if found is None or _misses(A, beyond / scale, found[0], p):
        raise PolyfoldError(
            f"the distance of {x.tolist()} to a cell could not be computed: so far away floats are too coarse for a "
            "cell that is so thin"
        )
    step, multipliers = found
    g = multipliers @ A
    length = float(np.linalg.norm(g, DUAL[p]))
    lower = float(multipliers @ beyond) / length if length > 0 else 0.0
    return Nearest(x + scale * step, scale * float(np.linalg.norm(step, p)), max(lower, scale))


def _misses(A: Array, beyond: Array, step: Array, p: float) -> bool:
    """Whether a step does not lead into the polytope, by more than rounding."""
    return bool(np.max(A @ step + beyond) > NEAREST_POINT * np.linalg.norm(step, p))


def _least_squares(A: Array, beyond: Array, p: float) -> Solution | None:
    """The shortest z with A z <= -beyond, by non-negative least squares (Lawson and Hanson's least distances)."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import nnls

    E = np.vstack([-A.T, beyond])
    target = np.append(np.zeros(A.shape[1]), 1.0)
    try:
        multipliers = nnls(E, target, maxiter=_ROUNDS * len(A))[0]
    except RuntimeError:  # too many rounds
        multipliers = np.zeros(len(A))
    residual = E @ multipliers - target
    if not multipliers.any() or residual[-1] == 0:
        return None  # rounding leaves no point that is inside of all rows
    step = -residual[:-1] / residual[-1]
    # The shortest step onto the walls that count, which is the same but for rounding.
    active = multipliers > 0
    again = np.linalg.lstsq(A[active], -beyond[active], rcond=None)[0]
    step = again if np.max(A @ again + beyond) <= np.max(A @ step + beyond) else step
    return step, multipliers / -residual[-1]


def _linear_program(A: Array, beyond: Array, p: float) -> Solution | None:
    """The same for the norms 1 and infinity, by HiGHS."""
    # Imported here because HiGHS takes longer to import than all of polyfold. SciPy's interface takes far longer than
    # such small programs themselves.
    import highspy

    rows, dim = A.shape
    without_end = highspy.kHighsInf
    if p == 1:
        # What is added to x, and what is taken away.
        matrix, bounds = np.column_stack([A, -A]), -beyond
        lower, cost = np.zeros(2 * dim), np.ones(2 * dim)
    else:
        # The step, and a bound on all its coordinates.
        unit, one = np.eye(dim), np.ones((dim, 1))
        matrix = np.block([[A, np.zeros((rows, 1))], [unit, -one], [-unit, -one]])
        bounds = np.append(-beyond, np.zeros(2 * dim))
        lower, cost = np.append(np.full(dim, -without_end), 0.0), np.append(np.zeros(dim), 1.0)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("presolve", "off")
    columns = len(cost)
    model.addVars(columns, lower, np.full(columns, without_end))
    model.changeColsCost(columns, np.arange(columns, dtype=np.int32), cost)
    at_row, at_column = np.nonzero(matrix)
    starts = np.searchsorted(at_row, np.arange(len(matrix))).astype(np.int32)
    model.addRows(
        len(matrix),
        np.full(len(matrix), -without_end),
        bounds,
        len(at_row),
        starts,
        at_column.astype(np.int32),
        matrix[at_row, at_column],
    )
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = model.getSolution()
    found, duals = np.array(solution.col_value), np.array(solution.row_dual)
    return found[:dim] - found[dim:] if p == 1 else found[:dim], np.maximum(-duals[:rows], 0.0)
