"""The frames of a film strip: the data after each truncation in a plane that is the same for all, with what comes next.

In two dimensions the plane is the input space itself, and a frame also has the walls of the map that acts next, its
base point, the parts that it keeps and collapses, and in the last frame the parts in which each output wins. In more
dimensions the plane is spanned by the first two principal components of all states taken together, through their mean;
walls and parts do not project to anything that could be drawn, so there are points only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polyfold._base.types import Array
from polyfold.layers.interpret import Interpretation
from polyfold.layers.result import Truncation

# Room around the points, as a part of the picture's width and height.
_ROOM = 0.06


@dataclass(frozen=True, eq=False)
class Frame:
    """The data behind so many truncations.

    `points` (n, 2); `base` (2,) of the map that acts next, None in the last frame. In two dimensions `walls` are its
    gates' segments (k, 2, 2), `kept` and `collapsed` the corners of S+ and S- inside the picture (empty if they lie
    outside), and in the last frame `winners` the corners of where each output wins.
    """

    title: str
    points: Array
    base: Array | None
    walls: Array
    kept: Array
    collapsed: Array
    winners: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Film:
    """All frames, the projection (origin (dim,), basis (dim, 2)) and the picture's limits (x0, x1, y0, y1).

    `share` is the part of the variance of all states that the plane shows: 1 in one and two dimensions.
    `class_of_output` says which class each output stands for, going by the points for which it wins: the number of the
    class that most of them have, -1 if it wins for none. Of one output that is "at most 0" and "above 0".
    """

    frames: tuple[Frame, ...]
    origin: Array
    basis: Array
    share: float
    extent: tuple[float, float, float, float]
    class_of_output: tuple[int, ...]


def film(found: Truncation, seen: Interpretation) -> Film:
    """The frames for data that has been interpreted."""
    origin, basis, share = _plane(seen.states)
    points = [(state - origin) @ basis for state in seen.states]
    everything = np.concatenate(points)
    low, high = everything.min(axis=0), everything.max(axis=0)
    size = np.maximum(high - low, 0.1 * max(float((high - low).max()), 0.1))
    low, high = (low + high - size) / 2 - _ROOM * size, (low + high + size) / 2 + _ROOM * size
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    flat = found.dim == 2
    titles = ["input", *(f"behind layer {k}, {name!r}" for k, name in enumerate(seen.names, 1))]
    nothing = np.zeros((0, 2))
    frames = []
    for k, (title, shown) in enumerate(zip(titles, points, strict=True)):
        base, walls, kept, collapsed = None, np.zeros((0, 2, 2)), nothing, nothing
        winners: tuple[Array, ...] = ()
        if k < len(found.maps):
            tau = found.maps[k]
            base = (tau.base - origin) @ basis
            if flat:
                walls = _segments(corners, tau.weight, tau.bias)
                kept, collapsed = (_clipped(corners, sign * tau.weight, sign * tau.bias) for sign in (1, -1))
        elif flat:
            winners = _winners(corners, found.output_weight, found.output_bias)
        frames.append(Frame(title, shown, base, walls, kept, collapsed, winners))
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    return Film(tuple(frames), origin, basis, share, extent, _class_of_output(found, seen))


def _class_of_output(found: Truncation, seen: Interpretation) -> tuple[int, ...]:
    outputs = seen.states[-1] @ found.output_weight.T + found.output_bias
    if outputs.shape[1] == 1:
        outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=1)
    best = outputs.argmax(axis=1)
    members = [np.bincount(seen.labels[best == k], minlength=1) for k in range(outputs.shape[1])]
    return tuple(int(counts.argmax()) if counts.any() else -1 for counts in members)


def _plane(states: tuple[Array, ...]) -> tuple[Array, Array, float]:
    dim = states[0].shape[1]
    if dim <= 2:
        return np.zeros(dim), np.eye(dim, 2), 1.0
    everything = np.concatenate(states)
    origin = everything.mean(axis=0)
    _, sizes, directions = np.linalg.svd(everything - origin, full_matrices=False)
    basis = np.zeros((dim, 2))
    basis[:, : min(2, len(directions))] = directions[:2].T
    # A direction and its opposite are the same component: the larger entries shall be positive.
    largest = np.abs(basis).argmax(axis=0)
    basis *= np.where(basis[largest, [0, 1]] < 0, -1.0, 1.0)
    total = float((sizes**2).sum())
    return origin, basis, float((sizes[:2] ** 2).sum()) / total if total else 1.0


def _clipped(corners: Array, rows: Array, offsets: Array) -> Array:
    """The corners of the part of a convex polygon in which all rows @ x + offsets >= 0."""
    polygon = corners
    for row, offset in zip(rows, offsets, strict=True):
        if not len(polygon):
            break
        value = polygon @ row + offset
        found = []
        for (here, there), (a, b) in zip(pairwise([*polygon, polygon[0]]), pairwise([*value, value[0]]), strict=True):
            if a >= 0:
                found.append(here)
            if min(a, b) < 0 < max(a, b):
                found.append(here + (there - here) * (a / (a - b)))
        polygon = np.array(found).reshape(-1, 2)
    return polygon


def _segments(corners: Array, rows: Array, offsets: Array) -> Array:
    """Where the lines row @ x + offset = 0 cross a convex polygon, those that do: (k, 2, 2)."""
    found = []
    for row, offset in zip(rows, offsets, strict=True):
        value = corners @ row + offset
        ends = []
        for k in range(len(corners)):
            a, b = value[k], value[(k + 1) % len(corners)]
            if (a < 0) != (b < 0):
                ends.append(corners[k] + (corners[(k + 1) % len(corners)] - corners[k]) * (a / (a - b)))
        if len(ends) == 2:
            found.append(ends)
    return np.array(found).reshape(-1, 2, 2)


def _winners(corners: Array, weight: Array, bias: Array) -> tuple[Array, ...]:
    """Where each output is the largest; of one output, where it is at most 0 and where it is at least 0."""
    if len(weight) == 1:
        return _clipped(corners, -weight, -bias), _clipped(corners, weight, bias)
    others = [np.delete(np.arange(len(weight)), k) for k in range(len(weight))]
    return tuple(_clipped(corners, weight[k] - weight[rest], bias[k] - bias[rest]) for k, rest in enumerate(others))
