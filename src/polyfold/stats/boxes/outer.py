"""The smallest boxes around cells: by their vertices, or by linear programs where there are too many vertices."""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.facet_rows import Rows, facet_rows, facets_of
from polyfold.atlas.geometry.halfspaces import domain_rows
from polyfold.domain.domain import Domain
from polyfold.errors import LimitError, PolyfoldError

# Cells whose vertices are looked at together, and cells that share one linear program.
CELLS_AT_ONCE = 1 << 12
_CELLS_A_CALL = 64
_OPTIMAL, _UNBOUNDED = 0, (3, 4)


def extents(atlas: Atlas, cells: Ids) -> tuple[Array, Array]:
    """The least and greatest coordinates (n, d) of cells, rounded; infinite where there are none."""
    lo, hi = np.empty((len(cells), atlas.dim)), np.empty((len(cells), atlas.dim))
    for first in range(0, len(cells), CELLS_AT_ONCE):
        tick()
        part = slice(first, first + CELLS_AT_ONCE)
        try:
            lo[part], hi[part] = atlas.bounding_boxes(cells[part])
        except LimitError:
            tick()  # the end of the time is another limit
            lo[part], hi[part] = by_programs(atlas, cells[part])
    return _at_the_limits(atlas, cells, lo, hi)


def _at_the_limits(atlas: Atlas, cells: Ids, lo: Array, hi: Array) -> tuple[Array, Array]:
    """The same without the roundings of vertices on the domain's boundary, where the domain's rows say better."""
    least, greatest = limits(atlas.domain)
    lo, hi = np.maximum(lo, least), np.minimum(hi, greatest)
    rows, offsets = domain_rows(atlas.domain)
    start, facets = facets_of(atlas, cells)
    owner, wall = np.repeat(np.arange(len(cells)), np.diff(start)), atlas.facet_wall[facets] - atlas.gates
    for row in np.flatnonzero((np.count_nonzero(rows, axis=1) == 1) & (np.abs(rows).sum(axis=1) == 1)):
        axis = int(np.flatnonzero(rows[row])[0])
        # The cells with a facet on this row reach as far as the row lets them.
        end = hi if rows[row, axis] > 0 else lo
        end[owner[wall == row], axis] = offsets[row] * rows[row, axis]
    return lo, hi


def limits(domain: Domain) -> tuple[Array, Array]:
    """The bounds that rows of the domain over a single parameter put on it."""
    lo, hi = np.full(domain.dim, -np.inf), np.full(domain.dim, np.inf)
    pairs = [(domain.parameter_rows, domain.parameter_offsets)]
    if not domain.is_slice:
        pairs.append((domain.input_rows, domain.input_offsets))
    for rows, offsets in pairs:
        for row, offset in zip(rows, offsets.tolist(), strict=True):
            (entries,) = np.nonzero(row)
            if len(entries) != 1:
                continue
            axis, factor = int(entries[0]), float(row[entries[0]])
            bound = offset / factor
            if abs(factor) != 1:
                bound = float(np.nextafter(bound, np.inf if factor > 0 else -np.inf))
            if factor > 0:
                hi[axis] = min(hi[axis], bound)
            else:
                lo[axis] = max(lo[axis], bound)
    return lo, hi


def by_programs(atlas: Atlas, cells: Ids) -> tuple[Array, Array]:
    """The same by linear programs, two an axis and a cell."""
    rows, ends = facet_rows(atlas, cells), np.empty((2, len(cells), atlas.dim))
    for axis in range(atlas.dim):
        for end, sign in enumerate((-1, 1)):
            ends[end, :, axis] = farthest(rows, atlas.witnesses[cells], axis, sign)[0]
    return ends[0], ends[1]


def farthest(rows: Rows, inside: Array, axis: int, sign: int) -> tuple[Array, Array]:
    """The extreme coordinate (n,) along one axis, and a multiplier (rows,) for every row that says why.

    Both are rounded. Where there is no extreme it is infinite, and the multipliers are zero.
    """
    ends, multipliers = np.full(len(rows), sign * np.inf), np.zeros(len(rows.b))
    # The solver's tolerances are absolute: make rows as long as one, and put each cell's next wall at distance one.
    norms = np.linalg.norm(rows.A, axis=1)
    A = rows.A / norms[:, None]
    slack = np.maximum(rows.b / norms - np.einsum("rd,rd->r", A, inside[rows.owner]), 0.0)
    sizes = np.full(len(rows), np.inf)
    np.minimum.at(sizes, rows.owner[slack > 0], slack[slack > 0])
    sizes[np.isinf(sizes)] = 1.0
    slack = slack / sizes[rows.owner]

    def solve(items: Ids) -> int:
        # Imported here because SciPy takes longer to import than all of polyfold.
        from scipy.optimize import linprog
        from scipy.sparse import block_diag

        parts = [np.arange(rows.start[item], rows.start[item + 1]) for item in items]
        if not all(len(part) for part in parts):
            return _UNBOUNDED[0]
        at = np.concatenate(parts)
        found = linprog(
            np.tile(-sign * np.eye(A.shape[1])[axis], len(items)),
            A_ub=block_diag([A[part] for part in parts], format="csr"),
            b_ub=slack[at],
            bounds=(None, None),
            method="highs",
        )
        if found.status == _OPTIMAL:
            ends[items] = inside[items, axis] + found.x.reshape(len(items), -1)[:, axis] * sizes[items]
            multipliers[at] = np.maximum(-found.ineqlin.marginals, 0.0) / norms[at]
        return int(found.status)

    for first in range(0, len(rows), _CELLS_A_CALL):
        tick()
        items = np.arange(first, min(first + _CELLS_A_CALL, len(rows)))
        if solve(items) == _OPTIMAL:
            continue
        # One cell without an end makes the joint program unbounded: take them one by one.
        for item in items:
            if solve(items[item - first : item - first + 1]) not in (_OPTIMAL, *_UNBOUNDED):
                raise PolyfoldError(f"the linear program for the extent of item {item} along axis {axis} failed")
    return ends, multipliers
