"""Points spread over polygons, so that from anywhere in a picture one of them is near, in the polygon one points at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids


def middles(start: Ids, points: Array) -> Array:
    """The means of polygons' corners, which lie inside convex ones."""
    count = np.diff(start)
    if not len(count):
        return np.empty((0, points.shape[1]))
    sums: Array = np.add.reduceat(points, start[:-1], axis=0)
    return sums / count[:, None]


def spread(start: Ids, points: Array, across: int) -> tuple[Ids, Array]:
    """Points strictly inside convex polygons, and the polygon of each: first the middles of all polygons, then those
    points that lie in them of a lattice with `across` points along either side of the picture.

    >>> owner, at = spread(np.array([0, 4]), np.array([[0.0, 0], [4, 0], [4, 4], [0, 4]]), 2)
    >>> owner.tolist(), at.tolist()
    ([0, 0, 0, 0, 0], [[2.0, 2.0], [1.0, 1.0], [1.0, 3.0], [3.0, 1.0], [3.0, 3.0]])
    """
    centres = middles(start, points)
    owners, found = [np.arange(len(centres))], [centres]
    if len(centres):
        lo, hi = points.min(axis=0), points.max(axis=0)
        step = (hi - lo) / across
        least = np.minimum.reduceat(points, start[:-1], axis=0)
        most = np.maximum.reduceat(points, start[:-1], axis=0)
        # Lattice point k of an axis is lo + (k + 1/2) step.
        first = np.ceil((least - lo) / step - 0.5).astype(np.int64)
        last = np.floor((most - lo) / step - 0.5).astype(np.int64)
        for item in np.flatnonzero((last >= first).all(axis=1)):
            (i0, j0), (i1, j1) = first[item].tolist(), last[item].tolist()
            i, j = np.meshgrid(np.arange(i0, i1 + 1), np.arange(j0, j1 + 1), indexing="ij")
            at = lo + (np.stack([i.ravel(), j.ravel()], axis=1) + 0.5) * step
            at = at[_inside(points[start[item] : start[item + 1]], at)]
            owners.append(np.full(len(at), item))
            found.append(at)
    return np.concatenate(owners), np.concatenate(found)


def _inside(corners: Array, at: Array) -> npt.NDArray[np.bool_]:
    """Which points lie to the left of all edges, or to the right of all of them."""
    edge = np.roll(corners, -1, axis=0) - corners
    away = at[:, None, :] - corners
    side = edge[:, 0] * away[..., 1] - edge[:, 1] * away[..., 0]
    return np.asarray(np.all(side > 0, axis=1) | np.all(side < 0, axis=1))
