"""The largest ball in each cell, by linear programs: many cells a call, since they do not touch each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import block_diag

from polyfold.errors import PolyfoldError

Array = npt.NDArray[np.float64]

_CELLS_A_CALL = 256


def chebyshev_balls(start: npt.NDArray[np.int64], A: Array, b: Array) -> tuple[Array, Array]:
    """Centres (n, d) and radii (n,) of the largest balls in {u : A u <= b}, cell i having rows start[i]:start[i + 1].

    A cell that holds balls of any size has radius infinity and a centre of NaN.
    """
    count, d = len(start) - 1, A.shape[1]
    centres, radii = np.full((count, d), np.nan), np.full(count, np.inf)
    norms = np.linalg.norm(A, axis=1)
    for first in range(0, count, _CELLS_A_CALL):
        items = np.arange(first, min(first + _CELLS_A_CALL, count))
        solved = _solve(items, start, A, b, norms, d)
        if solved is not None:
            centres[items], radii[items] = solved
            continue
        # One unbounded cell makes the joint program unbounded: take them one by one.
        for item in items:
            alone = _solve(np.array([item]), start, A, b, norms, d)
            if alone is not None:
                centres[item], radii[item] = alone[0][0], alone[1][0]
    return centres, radii


def _solve(
    items: npt.NDArray[np.int64], start: npt.NDArray[np.int64], A: Array, b: Array, norms: Array, d: int
) -> tuple[Array, Array] | None:
    blocks = [np.column_stack([A[s:e], norms[s:e]]) for s, e in zip(start[items], start[items + 1], strict=True)]
    if any(len(block) == 0 for block in blocks):
        return None
    offsets = np.concatenate([b[s:e] for s, e in zip(start[items], start[items + 1], strict=True)])
    cost = np.tile([0.0] * d + [-1.0], len(items))
    bounds = ([(None, None)] * d + [(0, None)]) * len(items)
    found = linprog(cost, A_ub=block_diag(blocks, format="csr"), b_ub=offsets, bounds=bounds, method="highs")
    if found.status == 3 or (found.status == 4 and len(items) == 1):
        return None
    if found.status not in (0, 4):
        raise PolyfoldError(f"the linear program for cells {items[0]} to {items[-1]} failed: {found.message}")
    if found.status == 4:
        return None
    solution = found.x.reshape(len(items), d + 1)
    return solution[:, :d], solution[:, d]
