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
import numpy.typing as npt

from polyfold.errors import PolyfoldError

Array = npt.NDArray[np.float64]

Solution = tuple[Array, Array]

DUAL = {1.0: inf, 2.0: 2.0, inf: 1.0}
_OPTIMAL = 0


@dataclass(frozen=True, eq=False)
class Nearest:
    """A nearest point, how far away it is, and a lower bound on how far away any is."""

    point: Array
    distance: float
    lower: float


def nearest_point(A: Array, b: Array, x: Array, p: float) -> Nearest:
    """The nearest point to one outside. Rows must have dual norm one, so that `A x - b` are distances.

    >>> found = nearest_point(np.eye(2), np.array([0.0, 1.0]), np.array([3.0, 5.0]), 2.0)
    >>> found.point.tolist(), found.distance
    ([0.0, 1.0], 5.0)
    """
    return _nearest(A, b, x, p, _least_squares if p == 2 else _linear_program)


def roughly_nearest_point(A: Array, b: Array, x: Array, p: float) -> Nearest:
    """A point that is nearest in the norm 2, whichever is asked for; found much sooner."""
    return _nearest(A, b, x, p, _least_squares)


def _nearest(A: Array, b: Array, x: Array, p: float, solve: Callable[[Array, Array, float], Solution]) -> Nearest:
    beyond = A @ x - b
    scale = float(beyond.max())
    # Seen from x, with the farthest wall that x is behind at distance one.
    step, multipliers = solve(A, beyond / scale, p)
    g = multipliers @ A
    length = float(np.linalg.norm(g, DUAL[p]))
    lower = float(multipliers @ beyond) / length if length > 0 else 0.0
    return Nearest(x + scale * step, scale * float(np.linalg.norm(step, p)), max(lower, scale))


def _least_squares(A: Array, beyond: Array, p: float) -> Solution:
    """The shortest z with A z <= -beyond, by non-negative least squares (Lawson and Hanson's least distances)."""
    from scipy.optimize import nnls

    E = np.vstack([-A.T, beyond])
    target = np.append(np.zeros(A.shape[1]), 1.0)
    multipliers = nnls(E, target)[0]
    residual = E @ multipliers - target
    if residual[-1] == 0:
        raise PolyfoldError("the nearest point of a cell could not be found, please report this")
    step = -residual[:-1] / residual[-1]
    # The shortest step onto the walls that count, which is the same but for rounding.
    active = multipliers > 0
    again = np.linalg.lstsq(A[active], -beyond[active], rcond=None)[0]
    step = again if np.max(A @ again + beyond) <= np.max(A @ step + beyond) else step
    return step, multipliers / -residual[-1]


def _linear_program(A: Array, beyond: Array, p: float) -> Solution:
    """The same for the norms 1 and infinity: z and bounds on its coordinates, or one on all of them."""
    from scipy.optimize import linprog

    rows, dim = A.shape
    bounds = np.eye(dim) if p == 1 else np.ones((dim, 1))
    unit, nothing = np.eye(dim), np.zeros((rows, bounds.shape[1]))
    found = linprog(
        np.append(np.zeros(dim), np.ones(bounds.shape[1])),
        A_ub=np.block([[A, nothing], [unit, -bounds], [-unit, -bounds]]),
        b_ub=np.concatenate([-beyond, np.zeros(2 * dim)]),
        bounds=(None, None),
        method="highs",
    )
    if found.status != _OPTIMAL:
        raise PolyfoldError(f"the linear program for the nearest point of a cell failed: {found.message}")
    return found.x[:dim], np.maximum(-found.ineqlin.marginals[:rows], 0.0)
