"""Few colours for many regions, so that neighbours differ."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from polyfold._base.types import Ids
from polyfold.atlas.regions import Regions


def map_colours(regions: Regions) -> Ids:
    """A number for every region, as small as the neighbours before it allow; regions that share a facet differ.

    Those with fewest neighbours are coloured last: in the plane six numbers are enough.
    """
    label, atlas = regions.label, regions.atlas
    inner = np.flatnonzero(atlas.neighbour >= 0)
    pairs = np.stack([label[atlas.facet_owner[inner]], label[atlas.neighbour[inner]]], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    start = np.searchsorted(pairs[:, 0], np.arange(len(regions) + 1))
    around = [pairs[start[k] : start[k + 1], 1].tolist() for k in range(len(regions))]
    colour = np.full(len(regions), -1)
    for region in _fewest_last(around):
        taken = {int(colour[other]) for other in around[region]}
        colour[region] = next(k for k in range(len(taken) + 1) if k not in taken)
    return colour


def _fewest_last(around: list[list[int]]) -> list[int]:
    """Regions so that each has few neighbours among those before it: whoever has fewest left is put last."""
    left = [len(others) for others in around]
    queue = [(count, region) for region, count in enumerate(left)]
    heapify(queue)
    found: list[int] = []
    placed = [False] * len(around)
    while queue:
        count, region = heappop(queue)
        # Whose number went down since is in the queue again.
        if placed[region] or count != left[region]:
            continue
        placed[region] = True
        found.append(region)
        for other in around[region]:
            if not placed[other]:
                left[other] -= 1
                heappush(queue, (left[other], other))
    return found[::-1]
