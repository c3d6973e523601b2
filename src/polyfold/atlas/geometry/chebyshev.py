"""The largest ball in each cell, by linear programs: many cells per call, since they do not touch each other."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from polyfold import _core as core
from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW
from polyfold.exact.tolerances import SOLVER_SEES
from polyfold.program.passes.beyond_floats import to_unit_size

_CELLS_A_CALL = 1 << 14
# What the core says of a program.
_FOUND, _ENDLESS, _FAILED = 0, 1, 2


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def chebyshev_balls(
    start: Ids, A: Array, b: Array, inside: Array, *, cubes: bool = False, threads: int = 1
) -> tuple[Array, Array]:
    """Centres (n, d) and radii (n,) of the largest balls in {u : A u <= b}, cell i having rows start[i]:start[i + 1].

    `inside` has a point of every cell. A cell that holds balls of any size has radius infinity and a centre of NaN.
    With cubes=True balls are cubes |u_k - centre_k| <= radius.
    """
    count = len(start) - 1
    owner = np.repeat(np.arange(count), np.diff(start))
    A, b = to_unit_size(A, b)
    # A ball touches a wall where the wall's normal points; a cube in the corner that lies that way.
    norms = np.linalg.norm(A, ord=1 if cubes else 2, axis=1)
    # The solver's tolerances are absolute: move every cell's point inside to zero, and its next wall to distance one.
    A = A / norms[:, None]
    b = b / norms
    slack = np.maximum(b - np.einsum("rd,rd->r", A, inside[owner]), 0.0)
    nearest, farthest = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(nearest, owner[slack > 0], slack[slack > 0])
    np.maximum.at(farthest, owner, slack)
    # A wall may be too far away for the solver to see it beside the nearest one.
    found = np.isfinite(nearest)
    far = found & ~((nearest > FAR_FROM_UNDERFLOW) & (nearest < FAR_FROM_OVERFLOW))
    far |= found & ~(farthest <= nearest * SOLVER_SEES)
    far[owner[~(np.isfinite(A).all(axis=1) & np.isfinite(slack))]] = True
    sizes = np.where(found & ~far, nearest, 1.0)
    slack = slack / sizes[owner]

    balls = np.full((count, A.shape[1] + 1), np.nan)
    balls[:, -1] = np.inf
    far |= _by_core(start, A, slack, far, balls, threads)
    centres, radii = inside + balls[:, :-1] * sizes[:, None], balls[:, -1] * sizes
    for item in np.flatnonzero(far):
        tick()
        rows = slice(start[item], start[item + 1])
        centres[item], radii[item] = _in_rationals(A[rows], b[rows], inside[item])
    return centres, radii


def _in_rationals(A: Array, b: Array, inside: Array) -> tuple[list[float], float]:
    """The ball in one cell {u : A u <= b}, whose rows have length one, at any scale."""
    seen = np.isfinite(A).all(axis=1) & np.isfinite(b)  # the others are zero or lie beyond all floats
    rows = [[*map(rational, row), fmpq(1)] for row in A[seen].tolist()] + [[fmpq(0)] * A.shape[1] + [fmpq(-1)]]
    bounds = [*map(rational, b[seen].tolist()), fmpq(0)]
    best = maximise([fmpq(0)] * A.shape[1] + [fmpq(1)], rows, bounds)
    if best.status == "unbounded":
        return [np.nan] * A.shape[1], np.inf
    if best.point is None:  # the rounded rows leave nothing inside
        return inside.tolist(), 0.0
    *centre, radius = map(as_float, best.point)
    return centre, radius


def _by_core(start: Ids, A: Array, slack: Array, far: Flags, balls: Array, threads: int) -> Flags:
    """Fill the balls of all cells that are not `far`, and return those whose programs the core could not settle."""
    left = np.zeros(len(balls), dtype=bool)
    A, slack = np.ascontiguousarray(A), np.ascontiguousarray(slack)
    for first in range(0, len(balls), _CELLS_A_CALL):
        tick()
        items = slice(first, min(first + _CELLS_A_CALL, len(balls)))
        rows = slice(start[items.start], start[items.stop])
        starts = np.ascontiguousarray(start[first : items.stop + 1] - rows.start, dtype=np.int64)
        found, status = core.largest_balls(starts, A[rows], slack[rows], threads)
        status[far[items]] = _ENDLESS
        balls[items][status == _FOUND] = found[status == _FOUND]
        left[items] = status == _FAILED
    return left
