"""Walls that touch a piece in a corner only: conditions that a piece needs besides those of its facets.

A wall belongs to the side where its gate is off: a gate that cuts what the gates before it have left of the domain
gives its wall to the part where it is off. So no cell of the other part may hold the wall's points. Most do not touch
the wall, and of those that do most have a facet on it, which sees to that; but where more walls meet than a corner
takes, a cell may touch one in the corner only.
"""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import VERTEX
from polyfold.atlas.geometry.halfspaces import wall_rows
from polyfold.atlas.patterns import order_by_gate, unpack
from polyfold.exact.tolerances import NEAR_A_CORNER

# Cells in more dimensions have too many vertices: there all gates that cut are conditions.
_MOST_DIMENSIONS = 6
_CELLS_AT_ONCE = 1 << 12


def corner_conditions(atlas: Atlas) -> tuple[Ids, Ids]:
    """Pairs of a cell and a gate that is on there, whose wall it may touch without having a facet on it.

    Floats look for them, and take rather too many: such a condition holds all over a cell that does not touch the wall.
    """
    cell, gate = _cuts(atlas)
    without_facet = ~np.isin(_keys(atlas, cell, gate), _keys(atlas, *_facets_on_walls(atlas)))
    cell, gate = cell[without_facet], gate[without_facet]
    if atlas.dim > _MOST_DIMENSIONS:
        return cell, gate
    touches = np.zeros(len(cell), dtype=bool)
    for first in range(0, len(atlas), _CELLS_AT_ONCE):
        tick()
        part = slice(*np.searchsorted(cell, [first, first + _CELLS_AT_ONCE]))
        touches[part] = _touched(atlas, cell[part], gate[part])
    return cell[touches], gate[touches]


def _cuts(atlas: Atlas) -> tuple[Ids, Ids]:
    """For every cell, in order, the gates that are on there and cut: another cell parts with it there, and has it off.

    In the order of gates the cells with the same first gates come one after the other, the cells with the next one off
    first. So where two cells come one after the other, the first gate in which they differ cuts, and so do those that
    did so for the first one among the gates before that.
    """
    order = order_by_gate(atlas.patterns)
    signs = unpack(atlas.patterns[order], atlas.gates)
    differs = signs[1:] != signs[:-1]
    path: list[int] = []
    cells, gates = [], []
    for cell, gate in zip(order[1:].tolist(), differs.argmax(axis=1).tolist() if atlas.gates else [], strict=False):
        while path and path[-1] > gate:
            path.pop()
        path.append(gate)
        cells.append(np.full(len(path), cell))
        gates.append(np.array(path))
    if not cells:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    cell, gate_ = np.concatenate(cells), np.concatenate(gates)
    by_cell = np.argsort(cell, kind="stable")
    return cell[by_cell], gate_[by_cell]


def _facets_on_walls(atlas: Atlas) -> tuple[Ids, Ids]:
    """Pairs of a cell and a wall on which it has a facet."""
    cell = np.concatenate([atlas.facet_owner, atlas.facet_owner[atlas.shared_facet]])
    return cell, np.concatenate([atlas.facet_wall, atlas.shared_wall]).astype(np.int64)


def _keys(atlas: Atlas, cell: Ids, wall: Ids) -> Ids:
    return cell.astype(np.int64) * (atlas.gates + atlas.domain.rows) + wall


def _touched(atlas: Atlas, cell: Ids, gate: Ids) -> Flags:
    """Whether a cell may have a vertex on a gate's wall, cells being in order."""
    if not len(cell):
        return np.zeros(0, dtype=bool)
    distinct, item = np.unique(cell, return_inverse=True)
    found = atlas.generators(distinct)
    A, b = wall_rows(atlas, cell, gate)
    touches = np.zeros(len(cell), dtype=bool)
    for k, rows in enumerate(np.split(np.arange(len(cell)), np.searchsorted(item, np.arange(1, len(distinct))))):
        tick()
        some = slice(found.start[k], found.start[k + 1])
        vertices = found.points[some][found.kind[some] == VERTEX]
        slack = b[rows, None] - A[rows] @ vertices.T
        size = np.abs(b[rows, None]) + np.abs(A[rows]) @ np.abs(vertices).T
        touches[rows] = ~(slack > NEAR_A_CORNER * size).all(axis=1)
    return touches
