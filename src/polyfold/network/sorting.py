"""Sorted values, which are continuous and piecewise linear, by a network of comparisons.

The network is Batcher's: about n (log n)^2 / 4 comparisons, each of them one gate, in layers that each compare pairs
of entries that have nothing to do with each other.
"""

from __future__ import annotations

import numpy as np

from polyfold.network import compose
from polyfold.network.builder import Site, Value
from polyfold.network.ops import Add

# 64 entries take 543 gates; who sorts more has no use for cells.
MOST_ENTRIES = 64


def layers(n: int) -> list[list[tuple[int, int]]]:
    """Pairs to compare and, where the first is larger, exchange, one layer after the other.

    >>> layers(4)
    [[(0, 1), (2, 3)], [(0, 2), (1, 3)], [(1, 2)]]
    """
    found = []
    block = 1
    while block < n:
        step = block
        while step >= 1:
            pairs = [
                (i + j, i + j + step)
                for j in range(step % block, n - step, 2 * step)
                for i in range(min(step, n - j - step))
                if (i + j) // (2 * block) == (i + j + step) // (2 * block)
            ]
            found.append(pairs)
            step //= 2
        block *= 2
    return found


def ascending(site: Site, x: Value, axis: int) -> Value:
    """The entries along an axis in ascending order; the axis comes last."""
    n = x.shape[axis]
    if n > MOST_ENTRIES:
        site.refuse(f"it sorts {n} entries; more than {MOST_ENTRIES} take too many gates")
    value = compose.rearrange(site, x, np.moveaxis(compose.positions(x.shape), axis, -1), part="turned")
    for pairs in layers(n):
        excess = np.zeros((len(pairs), n))
        for k, (low, high) in enumerate(pairs):
            excess[k, low], excess[k, high] = 1.0, -1.0
        # What the lower entry has too much goes to the higher one.
        differences = compose.linear(site, value, excess, part="difference")
        moved = compose.linear(site, compose.relu(site, differences), -excess.T, part="moved")
        value = site.emit(Add(), value, moved, part="layer")
    return value


def chosen(site: Site, x: Value, axis: int, places: list[int]) -> Value:
    """The entries along an axis that have these places in ascending order (the first is place 0)."""
    value = ascending(site, x, axis)
    where = np.moveaxis(compose.positions(value.shape)[..., places], -1, axis)
    return compose.rearrange(site, value, where, part="order")
