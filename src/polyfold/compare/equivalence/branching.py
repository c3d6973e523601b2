"""Branch and bound: boxes on which the difference is not yet proved to be small are cut in half, the worst first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import inf

import numpy as np

from polyfold._base.clock import OutOfTimeError, running
from polyfold._base.types import Array
from polyfold.compare.equivalence.paired_atoms import Paired
from polyfold.compare.equivalence.search import Search
from polyfold.engine.bounds.bounded_domain import BoundedDomain, Box


@dataclass(frozen=True, eq=False)
class Bounded:
    """What the differences are proved not to exceed, output by output, and over how many boxes."""

    upper: Array
    boxes: int


@np.errstate(over="ignore", invalid="ignore")
def bounds_over(paired: Paired, box: Box) -> tuple[Array, int, Array]:
    """Bounds on the sizes of all differences over a box, the axis to cut it along, and where it may be worst."""
    forms = paired.difference(box.centre, box.half)
    low, high = forms.bounds
    sizes = np.where(np.isnan(low) | np.isnan(high), inf, np.maximum(np.abs(low), np.abs(high)))
    k = int(sizes.argmax())
    slopes = np.nan_to_num(forms.G[k, : len(box.half)])
    # What the ReLUs leave unknown is not told by the axis: long sides count, too.
    axis = int((_parts_of_largest(np.abs(slopes)) + _parts_of_largest(box.half)).argmax())
    return sizes, axis, box.centre + box.half * np.sign(slopes) * np.sign(forms.c[k])


def _parts_of_largest(sizes: Array) -> Array:
    largest = float(sizes.max(initial=0.0))
    return sizes / largest if largest > 0 else sizes


def branch(
    paired: Paired,
    place: BoundedDomain,
    tolerance: Fraction,
    search: Search,
) -> Bounded:
    """Cut boxes until all are proved to stay within the tolerance, a point beyond it is found, or time is over.

    Boxes that lie outside of the domain are left out; the domain must have a box around it.
    """
    whole = place.box
    assert whole is not None
    sizes, axis, worst = bounds_over(paired, whole)
    ticket = count()
    queue = [(-float(sizes.max()), next(ticket), whole, sizes, axis, worst)]
    settled = np.zeros(len(sizes))
    boxes = 1
    while queue and not running().over:
        largest, _, box, sizes, axis, worst = queue[0]
        if largest > -inf and Fraction(-largest) <= tolerance:
            break
        heapq.heappop(queue)
        try:
            search.consider(worst)
        except OutOfTimeError:
            heapq.heappush(queue, (largest, next(ticket), box, sizes, axis, worst))
            break
        if search.largest > tolerance:
            heapq.heappush(queue, (largest, next(ticket), box, sizes, axis, worst))
            break
        for part in box.parts(axis):
            if place.misses(part):
                continue
            found, cut, there = bounds_over(paired, part)
            found = np.minimum(found, sizes)
            boxes += 1
            if found.max() < inf and Fraction(float(found.max())) <= tolerance:
                settled = np.maximum(settled, found)
            else:
                heapq.heappush(queue, (-float(found.max()), next(ticket), part, found, cut, there))
        running().tell(boxes, what="boxes")
    return Bounded(np.max([settled, *(entry[3] for entry in queue)], axis=0), boxes)
