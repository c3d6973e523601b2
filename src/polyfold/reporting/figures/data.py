"""Data in a few numbers: ranges of the columns, a box around them, and rows that stand for the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.engine.cells.local import local
from polyfold.program.program import Program

# A box around data reaches this part of their extent farther on each side.
_MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class Columns:
    """Least, middle and greatest value of every column."""

    least: Array
    median: Array
    greatest: Array

    @property
    def extent(self) -> Array:
        """How far each column reaches from its least to its greatest value."""
        return self.greatest - self.least


def columns(X: Array) -> Columns:
    """The ranges of the columns of X."""
    return Columns(X.min(axis=0), np.median(X, axis=0), X.max(axis=0))


def box_around(X: Array) -> tuple[Array, Array]:
    """(lo, hi): a box with all rows of X in its inside, a tenth of each column's extent beyond them.

    Beyond a column without extent it is a tenth of the widest one's; if there is none with any, it is 1.

    >>> [side.tolist() for side in box_around(np.array([[0.0, 5.0], [10.0, 5.0]]))]
    [[-1.0, 4.0], [11.0, 6.0]]
    """
    ranges = columns(X)
    extent = ranges.extent
    widest = float(extent.max()) or 1.0 / _MARGIN
    around = _MARGIN * np.where(extent > 0, extent, widest)
    return ranges.least - around, ranges.greatest + around


def examples(label: Ids, nearness: Array | None, count: int) -> Ids:
    """Rows that stand for others: from each class in turn the next nearest to a change, or the first ones.

    >>> examples(np.array([0, 0, 1]), np.array([0.5, 0.1, 0.9]), 2).tolist()
    [1, 2]
    """
    order = np.arange(len(label)) if nearness is None else np.argsort(nearness, kind="stable")
    queues = [[row for row in order.tolist() if label[row] == one] for one in np.unique(label).tolist()]
    found: list[int] = []
    for turn in range(max(map(len, queues), default=0)):
        found += [queue[turn] for queue in queues if turn < len(queue)]
    return np.array(found[:count], dtype=np.int64)


def most_telling(program: Program, X: Array) -> tuple[int, int]:
    """Two features that move the outputs most over the rows of X, in the features' order.

    A feature counts by the mean size of its slopes around the rows, times its standard deviation; of two that count
    the same the first is meant.
    """
    slopes = np.abs(local(program, X, settle=False).A).max(axis=1).mean(axis=0)
    order = np.argsort(-slopes * X.std(axis=0), kind="stable")
    one, other = sorted(order[:2].tolist())
    return one, other
