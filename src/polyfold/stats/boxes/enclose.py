"""Boxes that are proved to hold cells, in spite of all rounding.

On a cell {u : a_i . u <= b_i} and for any multipliers l >= 0, a coordinate u_k is at most l . b + |e_k - l A| . |u|.
The multipliers at the farthest vertex make the last term small, and a bounded cell bounds |u| in turn: with all
coordinates at most M times some weights, M <= level + left M, so M <= level / (1 - left). So vertices only propose.
Sides that floats do not prove closely are found by exact linear programs.
"""

from __future__ import annotations

from math import inf

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.facet_rows import ExactRows, Rows, facet_rows
from polyfold.atlas.geometry.generators import VERTEX
from polyfold.errors import LimitError
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import LEAST, TINY, relative
from polyfold.exact.tolerances import SNUG
from polyfold.stats.boxes.outer import CELLS_AT_ONCE, farthest, limits

# Bounds are put into each other so often; after that they hardly get smaller.
_ROUNDS = 3


@np.errstate(invalid="ignore")
def enclosing(atlas: Atlas, cells: Ids, lo: Array, hi: Array) -> tuple[Array, Array]:
    """Boxes proved to hold cells whose extents were found as lo and hi. What cannot be proved is infinite."""
    proved_lo, proved_hi = np.empty_like(lo), np.empty_like(hi)
    limit_lo, limit_hi = limits(atlas.domain)
    for first in range(0, len(cells), CELLS_AT_ONCE):
        tick()
        part = slice(first, first + CELLS_AT_ONCE)
        below, above = _in_floats(atlas, cells[part], lo[part], hi[part])
        proved_lo[part], proved_hi[part] = np.maximum(below, limit_lo), np.minimum(above, limit_hi)
    sides = hi - lo
    room = SNUG * np.where(np.isfinite(sides), sides, np.maximum(1.0, np.where(np.isfinite(hi), abs(hi), abs(lo))))
    loose_lo = np.isfinite(lo) & ~(lo - proved_lo <= room)
    loose_hi = np.isfinite(hi) & ~(proved_hi - hi <= room)
    if (loose_lo | loose_hi).any() and ExactRows.reach(atlas):
        exact = ExactRows(atlas)
        for i in np.flatnonzero((loose_lo | loose_hi).any(axis=1)):
            tick()
            A, b = exact.inequalities(np.array(atlas.facets(int(cells[i]))))
            start = atlas.rational_witness(int(cells[i]))
            for axis in np.flatnonzero(loose_lo[i]).tolist():
                proved_lo[i, axis] = max(proved_lo[i, axis], -_largest(A, b, start, axis, -1))
            for axis in np.flatnonzero(loose_hi[i]).tolist():
                proved_hi[i, axis] = min(proved_hi[i, axis], _largest(A, b, start, axis, 1))
    return proved_lo, proved_hi


def _largest(A: list[list[fmpq]], b: list[fmpq], start: tuple[fmpq, ...], axis: int, sign: int) -> float:
    """A float that sign * u[axis] does not exceed."""
    found = maximise([fmpq(sign if k == axis else 0) for k in range(len(start))], A, b, start=start)
    if found.value is None:
        return inf
    value = as_float(found.value)
    return value if value == inf or rational(value) >= found.value else float(np.nextafter(value, inf))


@np.errstate(all="ignore")
def _in_floats(atlas: Atlas, cells: Ids, lo: Array, hi: Array) -> tuple[Array, Array]:
    """Proved bounds of bounded cells; of others infinite ones."""
    ends = np.full((2, len(cells), atlas.dim), inf)
    bounded = np.flatnonzero(atlas.bounded[cells])
    if len(bounded):
        rows = facet_rows(atlas, cells[bounded])
        level, left = _proposed(atlas, cells[bounded], rows)
        weights = np.maximum(np.abs(lo[bounded]), np.abs(hi[bounded]))
        # Nothing but finite positive numbers is needed of weights.
        weights = np.where(np.isfinite(weights) & (weights > 0), weights, 1.0)
        ends[:, bounded] = _closed(level, left, weights)
    return -ends[0], ends[1]


def _closed(level: Array, left: Array, weights: Array) -> Array:
    """Bounds (2, n, d) on -u and u, from sign * u <= level + left . |u|."""
    rounding = relative(2 * weights.shape[1] + 16)
    up = 1 + rounding
    share = (left @ weights[:, :, None])[..., 0] / weights * up
    most = (np.abs(level) / weights).max(axis=(0, 2)) * up
    whole = share.max(axis=(0, 2)) * up
    reach = np.where(whole < 0.5, most / (1 - whole) * up * up, inf)[:, None] * weights * up
    for _ in range(_ROUNDS):
        ends = level + (left @ reach[:, :, None])[..., 0] * up
        ends = ends + rounding * np.abs(ends) + TINY
        reach = np.minimum(reach, np.where(np.isnan(ends), inf, np.abs(ends)).max(axis=0))
    return np.where(np.isnan(ends), inf, ends)


def _proposed(atlas: Atlas, cells: Ids, rows: Rows) -> tuple[Array, Array]:
    """(level (2, n, d), left (2, n, d, d)) with -u and u at most level + left . |u|, for multipliers from the vertices
    that lie farthest out, or from linear programs."""
    dim = atlas.dim
    level, left = np.empty((2, len(cells), dim)), np.empty((2, len(cells), dim, dim))
    try:
        corners = atlas.generators(cells)
    except LimitError:
        tick()  # the end of the time is another limit
        widest = int(np.diff(rows.start).max())
        at = rows.start[:-1, None] + np.arange(widest)
        there = at < rows.start[1:, None]
        at = np.where(there, at, 0)
        for end, sign in enumerate((-1, 1)):
            for axis in range(dim):
                multipliers = farthest(rows, atlas.witnesses[cells], axis, sign)[1][at] * there
                level[end, :, axis], left[end, :, axis] = _what_they_prove(rows, at, multipliers, axis, sign)
        return level, left
    vertex = corners.kind == VERTEX
    for end, sign in enumerate((-1, 1)):
        for axis in range(dim):
            height = np.where(vertex, sign * corners.points[:, axis], -inf)
            order = np.lexsort((height, corners.owner))
            best = order[corners.start[1:] - 1]
            places = corners.facet_start[best][:, None] + np.arange(dim)
            there = places < corners.facet_start[best + 1][:, None]
            facet = corners.facet[np.minimum(places, len(corners.facet) - 1)]
            at = np.where(there, rows.start[:-1, None] + facet, 0)
            multipliers = _solved(rows.A[at] * there[..., None], sign * np.eye(dim)[axis]) * there
            level[end, :, axis], left[end, :, axis] = _what_they_prove(rows, at, multipliers, axis, sign)
    return level, left


def _solved(A: Array, direction: Array) -> Array:
    """l >= 0 with sum of l_i a_i = direction, as far as there is one."""
    system = np.swapaxes(A, 1, 2)
    singular = ~(np.abs(np.linalg.det(system)) > 0)
    system = np.where(singular[:, None, None], np.eye(A.shape[1]), system)
    found = np.linalg.solve(system, np.broadcast_to(direction, (len(A), len(direction)))[..., None])[..., 0]
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)


def _what_they_prove(rows: Rows, at: Ids, multipliers: Array, axis: int, sign: int) -> tuple[Array, Array]:
    """For any multipliers (n, f) >= 0 of rows `at`: sign * u[axis] <= level + left . |u|, all roundings included."""
    A, b, A_error, b_error = rows.A[at], rows.b[at], rows.A_error[at], rows.b_error[at]
    direction = sign * np.eye(A.shape[2])[axis]
    rounding = relative(2 * (at.shape[1] + A.shape[2]) + 16)
    size = np.abs(direction) + np.einsum("nf,nfd->nd", multipliers, np.abs(A))
    left = np.abs(direction - np.einsum("nf,nfd->nd", multipliers, A)) + rounding * size
    left = (left + np.einsum("nf,nfd->nd", multipliers, A_error)) * (1 + rounding) + 8 * at.shape[1] * LEAST
    level = np.einsum("nf,nf->n", multipliers, b)
    doubt = np.einsum("nf,nf->n", multipliers, b_error + rounding * np.abs(b))
    return level + doubt * (1 + rounding) + TINY + relative(4) * np.abs(level), left
