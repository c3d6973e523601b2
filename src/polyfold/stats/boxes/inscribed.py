"""The largest boxes inside polytopes, by volume: a convex program, solved by Newton steps along its central path.

A box with centre c and half sides h lies in {u : A u <= b} if A c + |A| h <= b. The sum of log h is concave, so with a
barrier for the rows there is one best box at every stage of the path, and its distance from the best log volume of all
is at most the number of rows over the path's parameter. Many polytopes go along their paths together.
"""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.geometry.facet_rows import Rows
from polyfold.exact.tolerances import LOG_VOLUME

# Numbers that a batch of polytopes may take: larger batches leave the processor's cache.
_NUMBERS = 1 << 21
# How much farther along the path it goes at once, how near to the path is near enough for that, and when to give up.
_FARTHER, _NEAR, _MOST_STEPS = 16.0, 0.1, 400
# Parts of the way to the nearest wall that are tried in each step.
_PARTS = np.array([0.99, 0.7, 0.4, 0.15, 0.03])


def largest_boxes(rows: Rows, inside: Array, sides: Array) -> tuple[Array, Array]:
    """Centres and half sides (n, d) of boxes as large as fit, in floats; NaN where floats see no room at the points
    `inside`. `sides` are the sides of boxes around the polytopes, all finite."""
    centres, halves = np.full_like(inside, np.nan), np.full_like(inside, np.nan)
    counts, dim = np.diff(rows.start), inside.shape[1]
    # Polytopes with about as many rows go together: each is filled up with rows that always hold.
    order = np.argsort(counts, kind="stable")
    first = 0
    while first < len(order):
        step = max(1, _NUMBERS // max(1, 4 * dim * int(counts[order[first]])))
        items = order[first : first + step]
        first += len(items)
        centres[items], halves[items] = _batch(rows, items, inside[items], sides[items])
    return centres, halves


@np.errstate(all="ignore")
def _batch(rows: Rows, items: Ids, inside: Array, sides: Array) -> tuple[Array, Array]:
    A, slack, there = _filled_up(rows, items, inside, sides)
    room = np.where(there, slack / np.abs(A).sum(axis=2), np.inf).min(axis=1)
    count, dim = inside.shape
    c, h = np.zeros((count, dim)), np.broadcast_to(room[:, None] / 2, (count, dim)).copy()
    usable = np.flatnonzero(np.isfinite(room) & (room > 0))
    path = _Path(A[usable], slack[usable], there[usable], h[usable])
    path.follow()
    c[usable], h[usable] = path.c, path.h
    h[~(np.isfinite(room) & (room > 0))] = np.nan
    return inside + c * sides, h * sides


def _filled_up(rows: Rows, items: Ids, inside: Array, sides: Array) -> tuple[Array, Array, Flags]:
    """Rows (n, most rows, d) of length one, seen from inside and with boxes of sides one around, and their slacks."""
    counts = np.diff(rows.start)[items]
    at = rows.start[items][:, None] + np.arange(int(counts.max(initial=1)))
    there = at < rows.start[items + 1][:, None]
    at = np.where(there, at, rows.start[items][:, None])
    A, b = rows.A[at], rows.b[at]
    slack = b - np.einsum("nrd,nd->nr", A, inside)
    A = A * sides[:, None, :]
    norms = np.linalg.norm(A, axis=2)
    A, slack = A / norms[..., None], slack / norms
    return np.where(there[..., None], A, 0.0), np.where(there, slack, 1.0), there


class _Path:
    """Polytopes on their way along their central paths."""

    def __init__(self, A: Array, slack: Array, there: Flags, h: Array) -> None:
        self.G = np.concatenate([A, np.abs(A)], axis=2)
        self.slack, self.rows = slack, there.sum(axis=1)
        self.c, self.h = np.zeros_like(h), h.copy()

    def follow(self) -> None:
        dim = self.h.shape[1]
        t = np.ones(len(self.h))
        end = np.maximum(1.0, self.rows / LOG_VOLUME)
        left = np.arange(len(t))
        for _ in range(_MOST_STEPS):
            tick()
            if not len(left):
                return
            z = np.concatenate([self.c[left], self.h[left]], axis=1)
            z, near, stuck = _step(self.G[left], self.slack[left], t[left], z)
            self.c[left], self.h[left] = z[:, :dim], z[:, dim:]
            done = stuck | (near & (t[left] >= end[left]))
            t[left] = np.where(near, np.minimum(t[left] * _FARTHER, end[left]), t[left])
            left = left[~done]


def _step(G: Array, slack: Array, t: Array, z: Array) -> tuple[Array, Flags, Flags]:
    """One Newton step for -t sum log h - sum log s: where it leads, whether it was near the path, and where it ends."""
    dim = z.shape[1] // 2
    s, h = slack - np.einsum("nrk,nk->nr", G, z), z[:, dim:]
    # The Hessian is M' M and the gradient M' r. Near the end of a path M' M is beyond floats, M is not.
    root = np.sqrt(t)[:, None]
    M = np.concatenate([G / s[..., None], np.zeros((len(z), dim, 2 * dim))], axis=1)
    M[:, -dim:, dim:] = (root / h)[..., None] * np.eye(dim)
    r = np.concatenate([np.ones_like(s), np.broadcast_to(-root, h.shape)], axis=1)
    direction, solved = _newton(M, r)
    decrement = np.square(np.einsum("nrk,nk->nr", M, direction)).sum(axis=1)
    ds, dh = -np.einsum("nrk,nk->nr", G, direction), direction[:, dim:]
    longest = np.minimum(np.where(ds < 0, s / -ds, np.inf).min(axis=1), np.where(dh < 0, h / -dh, np.inf).min(axis=1))
    tries = np.minimum(longest[:, None] * _PARTS, 1.0)
    # How much lower each of them is; of two large values the difference would be lost in rounding.
    rates = -t[:, None] * np.log1p(tries[:, :, None] * (dh / h)[:, None]).sum(axis=2)
    rates -= np.log1p(tries[:, :, None] * (ds / s)[:, None]).sum(axis=2)
    rates = np.where(np.isnan(rates), np.inf, rates)
    best = rates.argmin(axis=1)
    good = solved & (rates.min(axis=1) < 0)
    length = np.where(good, tries[np.arange(len(z)), best], 0.0)
    near = solved & (decrement < _NEAR)
    # Where rounding leaves no way down the path has come as far as floats go.
    return np.where(good[:, None], z + length[:, None] * direction, z), near, ~good & ~near


def _newton(M: Array, r: Array) -> tuple[Array, Flags]:
    """The x with M x nearest to -r, with all columns of M of length one first."""
    scale = 1 / np.linalg.norm(M, axis=1)
    scaled = M * scale[:, None, :]
    usable = np.isfinite(scaled).all(axis=(1, 2))
    q, upper = np.linalg.qr(np.where(usable[:, None, None], scaled, 0.0))
    usable &= (np.einsum("nkk->nk", upper) != 0).all(axis=1)
    upper = np.where(usable[:, None, None], upper, np.eye(upper.shape[1]))
    found = -np.linalg.solve(upper, np.einsum("nrk,nr->nk", q, r)[..., None])[..., 0] * scale
    return np.where(usable[:, None], found, 0.0), usable
