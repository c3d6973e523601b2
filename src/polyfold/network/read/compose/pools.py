"""A table of maxima seen as what exporters can write: a max pool, or groups of maxima of equally many entries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from polyfold.errors import ShapeError
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.windows import Pool, members_of_windows

Indices = npt.NDArray[np.int64]


def pool_of(members: Indices, shape: Shape) -> Pool | None:
    """The max pool over a value (channels, *space) that has this table of members; None if there is none.

    >>> pool = pool_of(members_of_windows((2, 5), Pool((3,), (2,), ((1, 1),), (1,)).entries((5,))), (2, 5))
    >>> pool.kernel, pool.stride, pool.padding
    ((3,), (2,), ((1, 1),))
    """
    if members.ndim != len(shape) + 1 or len(shape) < 2 or members.shape[0] != shape[0] or not members.size:
        return None
    axes = [_axis(members, shape, axis) for axis in range(1, len(shape))]
    kernel, stride, before, after, dilation = zip(*axes, strict=True)
    pool = Pool(kernel, stride, tuple(zip(before, after, strict=True)), dilation)
    return pool if min(before) >= 0 and has_members(pool, members, shape) else None


def has_members(pool: Pool, members: Indices, shape: Shape) -> bool:
    """Whether a pool over a value of this shape has exactly this table."""
    try:
        return np.array_equal(members_of_windows(shape, pool.entries(shape[1:])), members)
    except ShapeError:
        return False


def _axis(members: Indices, shape: Shape, axis: int) -> tuple[int, int, int, int, int]:
    """Kernel, stride, padding before and after, dilation along one axis, if there is a pool at all."""
    line: list[int | slice] = [0] * (members.ndim - 1)
    line[axis] = slice(None)
    along = np.unravel_index(np.maximum(members[tuple(line)], 0), shape)[axis]
    windows = [np.unique(row[table >= 0]) for row, table in zip(along, members[tuple(line)], strict=True)]
    kernel = max(map(len, windows))
    longest = next(window for window in windows if len(window) == kernel)
    dilation = int(longest[1] - longest[0]) if kernel > 1 else 1
    # The ends of windows move with the stride unless they stick out: then their beginnings do.
    moves = [int(b[k] - a[k]) for a, b in pairwise(windows) for k in (0, -1)]
    stride = max([1, *moves])
    reach = dilation * (kernel - 1)
    before = reach - int(windows[0][-1])
    after = max(0, stride * (len(windows) - 1) + reach + 1 - shape[axis] - before)
    return kernel, stride, before, after, dilation


@dataclass(frozen=True, eq=False)
class ByCount:
    """Maxima sorted by how many entries each is of: `groups` of (maxima, members), and where each maximum ends up.

    No member is listed twice, so that nothing is compared with itself.
    """

    groups: tuple[Indices, ...]
    order: Indices


def by_count(members: Indices) -> ByCount:
    """The maxima of a table without absent members.

    >>> parts = by_count(np.array([[0, 1], [2, -1], [3, 4]]))
    >>> [group.tolist() for group in parts.groups], parts.order.tolist()
    ([[[2]], [[0, 1], [3, 4]]], [1, 0, 2])
    """
    rows = members.reshape(size(members.shape[:-1]), -1)
    present = np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)
    counts = (rows >= 0).sum(axis=1)
    places = [np.flatnonzero(counts == count) for count in np.unique(counts)]
    groups = tuple(present[place, : counts[place[0]]] for place in places)
    order = np.argsort(np.concatenate(places), kind="stable")
    return ByCount(groups, order.reshape(members.shape[:-1]))
