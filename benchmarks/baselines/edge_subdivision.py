"""Edge subdivision: keep the vertices and edges of the complex, and split the edges gate by gate.

No cell is ever held. A wall is a gate's fold or a side of the box. A vertex lies on d walls, an edge on d - 1, a
2-face on d - 2; the sign vector over all walls (0 on the wall, sides of the box: +1 inside) names each of them. A gate
cuts the edges at whose ends it has different signs. The cut points on one 2-face's boundary are the ends of a new edge.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]
Layers = list[tuple[Floats, Floats]]


def count_cells(layers: Layers, lower: Floats, upper: Floats) -> int:
    """How many cells the network has on the box."""
    d = len(lower)
    rng = np.random.default_rng(0)
    names = rng.integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, 2 * d + sum(len(b) for _, b in layers))
    values, edges, signs = box(lower, upper)
    points = values
    for W, b in layers[:-1]:
        values = values @ W.T + b
        for gate in range(len(b)):
            ends = values[edges]
            cut = np.flatnonzero((ends[:, 0, gate] > 0) != (ends[:, 1, gate] > 0))
            split, wall = edges[cut], signs.shape[1]
            share = (ends[cut, 0, gate] / (ends[cut, 0, gate] - ends[cut, 1, gate]))[:, None]
            # Every gate of the layer is affine along an edge: cut points need no evaluation of their own.
            points = np.concatenate([points, between(points[split], share)])
            middle = between(values[split], share)
            middle[:, gate] = 0.0
            values = np.concatenate([values, middle])
            edge_signs = on_edges(signs, split)
            new = np.arange(len(signs), len(signs) + len(cut))
            pairs = new[meet_in_faces(edge_signs, names, 2 * d)]
            signs = np.concatenate([signs, edge_signs])
            signs = np.column_stack([signs, np.sign(values[:, gate]).astype(np.int8)])
            if (signs[: new[0] if len(new) else None, wall] == 0).any():
                raise ValueError("a gate vanishes at a vertex: not in general position")
            halves = np.concatenate([np.column_stack([split[:, 0], new]), np.column_stack([new, split[:, 1]])])
            edges = np.concatenate([np.delete(edges, cut, axis=0), halves, pairs])
        values = np.maximum(values, 0.0)
    return morse_count(points, edges, signs)


def box(lower: Floats, upper: Floats) -> tuple[Floats, Integers, Signs]:
    """Corners, edges and signs of the box; side k is the lower one of coordinate k, side d + k the upper one."""
    d = len(lower)
    at_upper = np.array(list(product([0, 1], repeat=d)), dtype=np.int8)
    corner = np.arange(2**d)
    edges = [np.column_stack([corner, corner ^ (1 << k)])[(corner >> k) & 1 == 0] for k in range(d)]
    return (
        np.where(at_upper, upper, lower),
        np.concatenate(edges).astype(np.int64),
        np.column_stack([at_upper, 1 - at_upper]),
    )


def between(ends: Floats, share: Floats) -> Floats:
    return ends[:, 0] + share * (ends[:, 1] - ends[:, 0])


def on_edges(signs: Signs, edges: Integers) -> Signs:
    """The signs on edges: a wall that only one end lies on has the other end's sign."""
    first, second = signs[edges[:, 0]], signs[edges[:, 1]]
    return np.where(first == 0, second, first)


def meet_in_faces(edge_signs: Signs, names: Integers, sides: int) -> Integers:
    """Pairs of cut edges that bound a 2-face together.

    Leaving one of an edge's d - 1 walls to either side gives the 2-faces around it; a side of the box is left inward
    only. A 2-face's key is the sum of its signs times random 64-bit names. A convex 2-face is cut at two of its edges.
    """
    if not len(edge_signs):
        return np.zeros((0, 2), dtype=np.int64)
    key = edge_signs.astype(np.int64) @ names[: edge_signs.shape[1]]
    edge, wall = np.nonzero(edge_signs == 0)
    gates = wall >= sides
    keys = np.concatenate([key[edge] + names[wall], key[edge[gates]] - names[wall[gates]]])
    owner = np.concatenate([edge, edge[gates]])
    order = np.argsort(keys)
    found = order[:-1][keys[order[:-1]] == keys[order[1:]]]
    partner = order[1:][keys[order[:-1]] == keys[order[1:]]]
    if len(keys) != 2 * len(found):
        raise ValueError("a 2-face is not cut at two edges: not in general position")
    return np.column_stack([owner[found], owner[partner]])


def morse_count(points: Floats, edges: Integers, signs: Signs) -> int:
    """Each cell has one lowest vertex in a generic direction; count the cells at their lowest vertices.

    A cell at a vertex is a choice of one edge for each of the vertex's d walls: the edge that leaves this wall. It has
    its lowest point there if all of them rise.
    """
    d = points.shape[1]
    # No edge may be level: the seed is one that nobody makes networks with, or a wall could have this very normal.
    height = points @ np.random.default_rng(271_828).normal(size=d)
    low, high = np.where(height[edges[:, 0]] < height[edges[:, 1]], edges.T, edges.T[::-1])
    walls = np.nonzero(signs == 0)[1].reshape(-1, d)
    left = ~(walls[low][:, :, None] == walls[high][:, None, :]).any(axis=2)
    rising = np.zeros((len(points), d), dtype=np.int64)
    np.add.at(rising, (low, left.argmax(axis=1)), 1)
    # The alternating sum of the numbers of k-faces, e_k(rising), is 1 for a ball.
    if (1 - rising).prod(axis=1).sum() != 1:
        raise ValueError("the Euler characteristic is not 1: the complex is damaged")
    return int(rising.prod(axis=1).sum())
