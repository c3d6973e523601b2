"""Inputs at which a wrong reading shows: corners of boxes, and both sides of gates that others leave on one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyfold._base.types import Array
from polyfold.network.graph import Network, Node
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify

# How far beyond a gate's wall, and how far in front of it, as parts of the way there.
_AROUND = (0.95, 1.05)
_ROUNDS = 2
# Farther away no gate is looked for.
_FARTHEST = 1e6
BENDS = (Rectify, Clamp, Maximum, Minimum)


def corners(dimension: int, count: int, *, seed: int = 1) -> Array:
    """The origin, all ones, corners of the boxes [0, 1], [-1, 1] and their like of other sizes, and multiples of axes.

    >>> corners(2, 3).tolist()
    [[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0]]
    """
    rng = np.random.default_rng(seed)
    found: list[Array] = [np.zeros((1, dimension)), np.ones((1, dimension)), -np.ones((1, dimension))]
    each = -(-max(0, count - 3) // 3)
    sizes: Array = 10.0 ** rng.integers(-3, 4, size=(each, 1)).astype(np.float64)
    found.append(rng.integers(0, 2, size=(each, dimension)).astype(np.float64))
    found.append(rng.choice([-1.0, 1.0], size=(each, dimension)) * sizes)
    axes = np.zeros((each, dimension))
    axes[np.arange(each), rng.integers(0, dimension, size=each)] = sizes[:, 0] * rng.choice([-1.0, 1.0], size=each)
    found.append(axes)
    return np.concatenate(found)[:count]


def both_sides(network: Network, points: Array, count: int) -> Array:
    """At most so many points on either side of gates that are on at all of the given points, or off at all of them.

    A gate is looked for along the line through two of the points, as if it were affine there; what is found is better
    than nothing, and nothing is said of gates that are not.
    """
    found = [np.zeros((0, points.shape[1]))]
    seen = points
    for _ in range(_ROUNDS):
        new = _across(network, seen, count - sum(len(part) for part in found))
        if not len(new):
            break
        found.append(new)
        seen = np.concatenate([seen, new])
    return np.concatenate(found)


def _across(network: Network, points: Array, count: int) -> Array:
    starts: list[int] = []
    ends: list[int] = []
    ways: list[float] = []
    wanted = max(0, count // len(_AROUND))
    for levels in _levels(network, points):
        one_sided = np.flatnonzero((levels > 0).all(axis=0) | (levels <= 0).all(axis=0))
        for gate in one_sided[: wanted - len(starts)]:
            height = levels[:, gate]
            near, far = int(np.abs(height).argmin()), int(np.abs(height).argmax())
            if height[near] == height[far]:
                continue
            starts.append(near)
            ends.append(far)
            ways.append(height[near] / (height[near] - height[far]))
        if len(starts) >= wanted:
            break
    steps = np.array(ways)[:, None] * (points[ends] - points[starts])
    rows = np.concatenate([points[starts] + part * steps for part in _AROUND]) if starts else points[:0]
    return np.asarray(rows[(np.abs(rows) <= _FARTHEST).all(axis=1)])


def _levels(network: Network, points: Array) -> Iterator[Array]:
    """What decides gates, above or below zero: (points, gates), one array after the other."""
    bending: dict[str, list[Node]] = {}
    for node in network.nodes:
        if isinstance(node.op, BENDS):
            for name in dict.fromkeys(node.inputs):
                bending.setdefault(name, []).append(node)
    # Only a maximum needs a value again, when its other one is there.
    waiting: dict[str, Array] = {}
    for name, value in network.walk(points):
        flat = value.reshape(len(points), -1)
        for node in bending.get(name, ()):
            if isinstance(node.op, Clamp):
                yield from (flat - bound for bound in (node.op.low, node.op.high) if np.isfinite(bound))
            elif isinstance(node.op, Rectify):
                yield flat
            elif node.name in waiting:
                other = waiting.pop(node.name)
                if other.shape == flat.shape:
                    yield flat - other
            else:
                waiting[node.name] = flat


def where_numbers_fit(network: Network, rows: Array, largest: float) -> Array:
    """The rows at which no number on the way is larger than that."""
    fits = np.ones(len(rows), dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        for _, value in network.walk(rows):
            fits &= (np.abs(value.reshape(len(rows), -1)) <= largest).all(axis=1)
    return rows[fits]
