"""Facet-vertex incidence: a cell is its vertices and a matrix that says which facet holds which vertex.

Layer by layer, each cell is split by each gate that has both signs among its vertices. Vertices are adjacent if they
share d - 1 facets; where a gate has different signs at two adjacent ones, a new vertex lies between them.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Layers = list[tuple[Floats, Floats]]


class Cell(NamedTuple):
    """Vertices (v, d), the values of the current layer at them (v, n), and incidence (facets, v) of zeros and ones."""

    vertices: Floats
    values: Floats
    incidence: npt.NDArray[np.float32]


def count_cells(layers: Layers, lower: Floats, upper: Floats) -> int:
    """How many cells the network has on the box."""
    corners = np.array(list(product([0, 1], repeat=len(lower))))
    incidence = np.concatenate([corners.T == 0, corners.T == 1]).astype(np.float32)
    vertices = np.where(corners, upper, lower)
    count, waiting = 0, [(Cell(vertices, vertices, incidence), 0)]
    while waiting:
        cell, layer = waiting.pop()
        if layer == len(layers) - 1:
            count += 1
            continue
        W, b = layers[layer]
        for part in split_by_layer(cell._replace(values=cell.values @ W.T + b)):
            # ReLU: on a part every gate has one sign, so that the rounded zeros of cut vertices do no harm.
            waiting.append((part._replace(values=np.maximum(part.values, 0.0)), layer + 1))
    return count


def split_by_layer(cell: Cell) -> list[Cell]:
    """The parts of a cell on which every gate of the layer has one sign."""
    parts = [cell]
    for gate in np.flatnonzero((cell.values > 0).any(axis=0) & (cell.values < 0).any(axis=0)):
        parts = [piece for part in parts for piece in split(part, int(gate))]
    return parts


def split(cell: Cell, gate: int) -> list[Cell]:
    """One cell or two: the sides of a gate."""
    z = cell.values[:, gate]
    above, below = np.flatnonzero(z > 0), np.flatnonzero(z < 0)
    if not len(above) or not len(below):
        return [cell]
    if len(above) + len(below) < len(z):
        raise ValueError("a gate vanishes at a vertex: not in general position")
    shared = cell.incidence[:, above].T @ cell.incidence[:, below]
    i, j = np.nonzero(shared == cell.vertices.shape[1] - 1)
    i, j = above[i], below[j]
    share = (z[i] / (z[i] - z[j]))[:, None]
    vertices = cell.vertices[i] + share * (cell.vertices[j] - cell.vertices[i])
    values = cell.values[i] + share * (cell.values[j] - cell.values[i])
    values[:, gate] = 0.0
    on_both = cell.incidence[:, i] * cell.incidence[:, j]
    pieces = []
    for side in (above, below):
        incidence = np.concatenate([cell.incidence[:, side], on_both], axis=1)
        touched = cell.incidence[:, side].any(axis=1)  # a facet that only the wall would keep is gone
        wall = np.concatenate([np.zeros(len(side)), np.ones(len(i))]).astype(np.float32)
        pieces.append(
            Cell(
                np.concatenate([cell.vertices[side], vertices]),
                np.concatenate([cell.values[side], values]),
                np.concatenate([incidence[touched], wall[None]]),
            )
        )
    return pieces
