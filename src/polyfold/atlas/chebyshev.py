"""The largest ball in each cell, by linear programs: many cells a call, since they do not touch each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.errors import PolyfoldError

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

_CELLS_A_CALL = 256
_OPTIMAL, _UNBOUNDED = 0, (3, 4)


def chebyshev_balls(start: Ids, A: Array, b: Array, inside: Array, *, cubes: bool = False) -> tuple[Array, Array]:
    """Centres (n, d) and radii (n,) of the largest balls in {u : A u <= b}, cell i having rows start[i]:start[i + 1].

    `inside` has a point of every cell. A cell that holds balls of any size has radius infinity and a centre of NaN.
    With cubes=True balls are cubes |u_k - centre_k| <= radius.
    """
    count = len(start) - 1
    owner = np.repeat(np.arange(count), np.diff(start))
    # The solver's tolerances are absolute: move every cell's point inside to zero, and its next wall to distance one.
    # A ball touches a wall where the wall's normal points; a cube in the corner that lies that way.
    norms = np.linalg.norm(A, ord=1 if cubes else 2, axis=1)
    A = A / norms[:, None]
    slack = np.maximum(b / norms - np.einsum("rd,rd->r", A, inside[owner]), 0.0)
    sizes = np.full(count, np.inf)
    np.minimum.at(sizes, owner[slack > 0], slack[slack > 0])
    sizes[np.isinf(sizes)] = 1.0
    slack = slack / sizes[owner]

    balls = np.full((count, A.shape[1] + 1), np.nan)
    balls[:, -1] = np.inf
    for first in range(0, count, _CELLS_A_CALL):
        items = np.arange(first, min(first + _CELLS_A_CALL, count))
        if _solve(items, start, A, slack, balls) != _OPTIMAL:
            # One unbounded cell makes the joint program unbounded: take them one by one.
            for item in items:
                if _solve(np.array([item]), start, A, slack, balls) not in (_OPTIMAL, *_UNBOUNDED):
                    raise PolyfoldError(f"the linear program for the largest ball in item {item} failed")
    return inside + balls[:, :-1] * sizes[:, None], balls[:, -1] * sizes


def _solve(items: Ids, start: Ids, A: Array, b: Array, balls: Array) -> int:
    """The solver's status for some cells, whose rows all have length one; where it is optimal, fills their balls."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog
    from scipy.sparse import block_diag

    rows = [slice(start[item], start[item + 1]) for item in items]
    if any(part.start == part.stop for part in rows):
        return _UNBOUNDED[0]
    d = A.shape[1]
    found = linprog(
        np.tile([0.0] * d + [-1.0], len(items)),
        A_ub=block_diag([np.column_stack([A[part], np.ones(len(A[part]))]) for part in rows], format="csr"),
        b_ub=np.concatenate([b[part] for part in rows]),
        bounds=([(None, None)] * d + [(0, None)]) * len(items),
        method="highs",
    )
    if found.status == _OPTIMAL:
        balls[items] = found.x.reshape(len(items), d + 1)
    return int(found.status)
