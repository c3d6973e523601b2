"""Hybrids that leave a cell.

A hybrid of two points takes some features from one and the others from the other. Proposition 3 explains the affine
model of a cell, as if hybrids of two points of the cell had the cell's map. A cell is convex but no box, so hybrids may
lie in other cells, where the network has another map. Here it is counted how many do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.options import whole_number
from polyfold._base.types import Array, Flags, Ids
from polyfold.errors import how_many
from polyfold.explain.shapley.locators import AtlasPlaces, Places
from polyfold.program.passes.bounded import bounded_forward


@dataclass(frozen=True, eq=False, repr=False)
class Hybrids:
    """Hybrids of each input with its partners: with the other background points of its cell, or with its mean if there
    are none.

    A hybrid has at least one feature of the input and one of the partner: an input with p partners and d features has
    p * (2^d - 2). `tried[i]` of these were looked at, all of them where `complete[i]`, else drawn at random with equal
    chances. `left[i]` are proved to lie outside the closed cell (or the region, or the domain), and `unsure[i]` lie
    too near to its walls to tell.
    """

    tried: Ids
    left: Ids
    unsure: Ids
    complete: Flags

    def __repr__(self) -> str:
        return (
            f"Hybrids: {int(self.left.sum()):,} of {how_many(int(self.tried.sum()), 'hybrid')} leave the cell, "
            f"at {int(self.leaving.sum()):,} of {how_many(len(self.tried), 'input')}"
        )

    @property
    def leaving(self) -> Flags:
        """The inputs of which some hybrid leaves the cell."""
        flags: Flags = self.left > 0
        return flags


@dataclass(frozen=True, eq=False)
class LocalGame:
    """What is needed to look at hybrids later: where inputs lie, and their partners.

    Partner points of input i are points[rows of group number[i]]; `alone` are the partners of inputs without any.
    """

    places: Places
    cells: Ids
    points: Array
    group_of_point: Ids
    alone: Array

    def hybrids(self, X: Array, at_most: int, seed: int) -> Hybrids:
        """See `Shapley.hybrids`."""
        limit = whole_number("at_most", at_most, 1 << 30)
        rng = np.random.default_rng(seed)
        n = len(X)
        tried, left, unsure = (np.zeros(n, dtype=np.int64) for _ in range(3))
        complete = np.ones(n, dtype=bool)
        groups = self.places.groups(self.cells)
        for i in range(n):
            partners = _without(self.points[self.group_of_point == groups[i]], X[i])
            partners = partners if len(partners) else self.alone[i : i + 1]
            mixed, complete[i] = _mixed(X[i], partners, limit, rng)
            tried[i] = len(mixed)
            if len(mixed):
                out, near = self._outside(mixed, int(self.cells[i]))
                left[i], unsure[i] = out.sum(), near.sum()
        return Hybrids(tried, left, unsure, complete)

    def _outside(self, points: Array, cell: int) -> tuple[Flags, Flags]:
        """Which points are proved to lie outside the cell or region, and which are too near to its walls to tell."""
        places = self.places
        inside = places.inside_domain(points)
        if isinstance(places, AtlasPlaces) and places.by_region:
            groups = places.background(points)
            return groups != places.groups(np.array([cell]))[0], np.zeros(len(points), dtype=bool)
        passed = bounded_forward(places.program, places.bounded(points))
        differs = passed.pattern != places.signs(np.array([cell]))
        out = ~inside | (differs & passed.certain & ~passed.zero).any(axis=1)
        return out, ~out & (~passed.certain).any(axis=1)


def _without(points: Array, x: Array) -> Array:
    """The points but for one that is x itself."""
    same = np.flatnonzero((points == x).all(axis=1))
    return np.delete(points, same[:1], axis=0)


def _mixed(x: Array, partners: Array, limit: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """All hybrids of a point with its partners, or as many as the limit says."""
    d = len(x)
    # Beyond 62 bits there are more than any limit.
    each = 2**d - 2
    if len(partners) * each <= limit:
        masks = (np.arange(1, 2**d - 1)[:, None] >> np.arange(d) & 1).astype(bool)
        mixed = np.where(masks[None], x, partners[:, None, :])
        return mixed.reshape(-1, d), True
    masks = rng.random(size=(limit, d)) < 0.5
    # The two that are no hybrids are drawn again, until there are none.
    while len(again := np.flatnonzero(masks.all(axis=1) | ~masks.any(axis=1))):
        masks[again] = rng.random(size=(len(again), d)) < 0.5
    return np.where(masks, x, partners[rng.integers(len(partners), size=limit)]), False
