"""Polygons as a raster: which of them holds the middle of which pixel."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.plotting.geometry.view import View


def raster(start: Ids, points: Array, view: View, columns: int, rows: int) -> Ids:
    """For every pixel (rows, columns), the lowest row first, the convex polygon that holds its middle; -1 if none does.

    Polygons do not overlap. Where a middle lies on an edge, either neighbour may have it.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]])
    >>> raster(np.array([0, 4]), square, View(np.array([0.0, 0.0]), np.array([2.0, 2.0])), 2, 2).tolist()
    [[0, -1], [0, -1]]
    """
    # In pixels, with middles at whole numbers.
    place = (points - view.lo) / (view.hi - view.lo) * [columns, rows] - 0.5
    polygon = np.repeat(np.arange(len(start) - 1), np.diff(start))
    after = np.arange(1, len(points) + 1)
    after[start[1:] - 1] = start[:-1]
    low = np.where((place[:, 1] < place[after, 1])[:, None], place, place[after])
    high = np.where((place[:, 1] < place[after, 1])[:, None], place[after], place)
    # An edge crosses the lines of middles from its lower end up to, but not including, its higher one.
    first = np.clip(np.ceil(low[:, 1]), 0, rows).astype(np.int64)
    count = np.maximum(np.clip(np.ceil(high[:, 1]), 0, rows).astype(np.int64) - first, 0)
    edge = np.repeat(np.arange(len(points)), count)
    line = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + first[edge]
    share = (line - low[edge, 1]) / (high[edge, 1] - low[edge, 1])
    x = low[edge, 0] + share * (high[edge, 0] - low[edge, 0])
    # A convex polygon is between two crossings of a line.
    order = np.lexsort((x, polygon[edge], line))
    left, right, line, owner = x[order][::2], x[order][1::2], line[order][::2], polygon[edge][order][::2]
    begin = np.clip(np.ceil(left), 0, columns).astype(np.int64)
    end = np.clip(np.ceil(right), 0, columns).astype(np.int64)
    width = np.maximum(end - begin, 0)
    found = np.full(rows * columns, -1)
    run = np.repeat(np.arange(len(width)), width)
    within = np.arange(len(run)) - np.repeat(np.cumsum(width) - width, width)
    found[(line * columns + begin)[run] + within] = owner[run]
    return found.reshape(rows, columns)
