"""Sorted values, which are continuous and piecewise linear, by a network of comparisons.

Only neighbours are compared, in odd and even layers by turns, and only what is in the wrong order is exchanged. So
equal entries keep their order, as torch's sort leaves it; networks with fewer comparisons than n (n - 1) / 2 lose it.
"""

from __future__ import annotations

import numpy as np

from polyfold.network.ops.linear import Add
from polyfold.network.read.builder import Site, Value
from polyfold.network.read.compose import ops as compose

# 64 entries take 2,016 gates; who sorts more has no use for cells.
MOST_ENTRIES = 64


def layers(n: int) -> list[list[tuple[int, int]]]:
    """Pairs to compare and, where they are in the wrong order, exchange, one layer after the other.

    >>> layers(4)
    [[(0, 1), (2, 3)], [(1, 2)], [(0, 1), (2, 3)], [(1, 2)]]
    """
    pairs = [[(first, first + 1) for first in range(turn % 2, n - 1, 2)] for turn in range(n)]
    return [layer for layer in pairs if layer]


def ordered(site: Site, x: Value, axis: int, *, descending: bool) -> Value:
    """The entries along an axis in order; the axis comes last."""
    n = x.shape[axis]
    if n > MOST_ENTRIES:
        site.refuse(f"it sorts {n} entries; more than {MOST_ENTRIES} take too many gates")
    value = compose.rearrange(site, x, np.moveaxis(compose.positions(x.shape), axis, -1), part="turned")
    for pairs in layers(n):
        excess = np.zeros((len(pairs), n))
        for k, (first, second) in enumerate(pairs):
            excess[k, first], excess[k, second] = (-1.0, 1.0) if descending else (1.0, -1.0)
        # What is too much in one place goes to the other.
        differences = compose.linear(site, value, excess, part="difference")
        moved = compose.linear(site, compose.relu(site, differences), -excess.T, part="moved")
        value = site.emit(Add(), value, moved, part="layer")
    return value


def chosen(site: Site, x: Value, axis: int, places: list[int], *, descending: bool = False) -> Value:
    """The entries along an axis that have these places in order (the first is place 0)."""
    value = ordered(site, x, axis, descending=descending)
    where = np.moveaxis(compose.positions(value.shape)[..., places], -1, axis)
    return compose.rearrange(site, value, where, part="order")
