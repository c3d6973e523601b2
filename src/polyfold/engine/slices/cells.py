"""Finished cells of a line or plane, put together to the arrays of an atlas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, UNEXPLORED
from polyfold.engine.slices.batch import Batch, ragged_rows
from polyfold.engine.slices.switches import Walls as SwitchWalls
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import relative
from polyfold.program.passes.bounded_jets import values_at
from polyfold.program.program import Program

Walls = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Cells of one batch. A facet's key is made of its vertices' names: its two sides have the same one. Walls are
    numbered as they were for cutting.

    Measures are in units of the parameters. A cell is `thin` if its witness is not proved to lie inside: that may need
    more digits than floats have.
    """

    patterns: npt.NDArray[np.uint8]
    witnesses: Array
    measures: Array
    start: Ids
    wall: Walls
    key: npt.NDArray[np.uint64]
    extra_facet: Ids
    extra_wall: Walls
    thin: npt.NDArray[np.bool_]


@np.errstate(over="ignore", invalid="ignore")
def pieces(unit: Array, batch: Batch) -> Pieces:
    """What an atlas needs of a batch that has passed all stages."""
    cells, names = batch.cells, batch.names[batch.cells.vertex]
    centres, following = _centres(batch), names
    if batch.points.shape[1] == 2:
        following = names[_following(batch)]
    return Pieces(
        np.packbits(batch.signs(np.arange(len(cells))), axis=1, bitorder="little"),
        centres * unit,
        measures(batch),
        cells.start,
        cells.wall,
        np.sort(np.stack([names, following], axis=1), axis=1),
        cells.extra_facet,
        cells.extra_wall,
        _thin(batch, centres),
    )


def measures(batch: Batch) -> Array:
    """Lengths or areas of the cells, in units of the parameters."""
    cells = batch.cells
    corners = batch.points[cells.vertex]
    if corners.shape[1] == 1:
        return np.abs(corners[1::2, 0] - corners[::2, 0])
    # From the cell's own centre: small cells far from zero keep their digits.
    here = corners - np.repeat(_centres(batch), np.diff(cells.start), axis=0)
    there = here[_following(batch)]
    turns = here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]
    return np.abs(np.add.reduceat(turns, cells.start[:-1])) / 2


def _centres(batch: Batch) -> Array:
    cells = batch.cells
    return np.add.reduceat(batch.points[cells.vertex], cells.start[:-1]) / np.diff(cells.start)[:, None]


def _following(batch: Batch) -> Ids:
    """The next corner around its polygon, for every corner."""
    cells = batch.cells
    following = np.arange(len(cells.vertex)) + 1
    following[cells.start[1:] - 1] = cells.start[:-1]
    return following


def _thin(batch: Batch, centres: Array) -> npt.NDArray[np.bool_]:
    """The cells whose centre, the mean of their corners, floats cannot tell from some facet."""
    cells = batch.cells
    owner, first = cells.of_corner, cells.start[:-1]
    forms = BoundedValues(cells.form, np.repeat(cells.form_error[:, None], cells.form.shape[1], axis=1))
    # The centre is as well known as the worst corner, but for a few roundings.
    off = np.maximum.reduceat(batch.off[cells.vertex], first) + relative(16)
    values, errors = values_at(forms, centres[owner], off[owner])
    thin: npt.NDArray[np.bool_] = np.logical_or.reduceat(~(np.abs(values) > errors), first)
    return thin


@dataclass
class Tally:
    """What is left of cells that were only counted. Every inner facet belongs to two cells, so in `unpaired`, where
    the facets' keys are taken exclusive-or, nothing should be left."""

    cells: int = 0
    measure: float = 0.0
    inner: int = 0
    unpaired: int = 0

    def add(self, found: Pieces, walls: int) -> None:
        """Some more cells, whose facets lie on so many walls; those behind them are rows of the domain."""
        inner = found.key[found.wall < walls]
        self.cells += len(found.patterns)
        self.measure += float(found.measures.sum())
        self.inner += len(inner)
        self.unpaired ^= int(np.bitwise_xor.reduce(_mixed(inner[:, 0]) + _mixed(inner[:, 1] + _SALT)))


_SALT = np.uint64(0x9E3779B97F4A7C15)


def _mixed(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def assembled(program: Program, walls: SwitchWalls, dim: int, finished: list[Pieces], max_cells: int) -> dict[str, Any]:
    """The arrays of an atlas, with cells in the order of their witnesses, coordinate by coordinate.

    "cut_wall" are the walls of facets as they were numbered for cutting.
    """
    found = _together(program, dim, finished)
    kept = len(found.patterns) if max_cells < 0 else min(max_cells, len(found.patterns))
    order = np.lexsort(found.witnesses[:kept].T[::-1])
    counts = np.diff(found.start)[order]
    facets = ragged_rows(found.start[order], counts)
    cut_wall, key = found.wall[facets], found.key[facets]
    partner = _partners(key, cut_wall < len(walls))
    wall = _gates(program, walls, cut_wall)
    owner = np.repeat(np.arange(kept), counts)
    neighbour = np.where(partner >= 0, owner[partner], UNEXPLORED)
    neighbour[wall >= program.gates] = DOMAIN_BOUNDARY
    shared_facet, shared_wall = _shared(found, facets, wall, _gates(program, walls, found.extra_wall), partner)
    return {
        "patterns": np.ascontiguousarray(found.patterns[order]),
        "witnesses": found.witnesses[order],
        "bounded": np.ones(kept, dtype=bool),
        "facet_start": np.concatenate([[0], np.cumsum(counts)]),
        "facet_wall": wall,
        "cut_wall": cut_wall,
        "neighbour": neighbour.astype(np.int32),
        "shared_facet": shared_facet,
        "shared_wall": shared_wall,
        "exact_witnesses": {},
        "thin": np.flatnonzero(found.thin[order]),
        "measures": found.measures[:kept][order],
    }


def _together(program: Program, dim: int, finished: list[Pieces]) -> Pieces:
    if not finished:
        return Pieces(
            np.zeros((0, (program.gates + 7) // 8), dtype=np.uint8),
            np.zeros((0, dim)),
            np.zeros(0),
            np.zeros(1, dtype=np.int64),
            np.zeros(0, dtype=np.int32),
            np.zeros((0, 2), dtype=np.uint64),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=bool),
        )
    before = np.cumsum([0, *(len(each.wall) for each in finished)])
    return Pieces(
        np.concatenate([each.patterns for each in finished]),
        np.concatenate([each.witnesses for each in finished]),
        np.concatenate([each.measures for each in finished]),
        np.concatenate([[0], *(each.start[1:] + first for each, first in zip(finished, before, strict=False))]),
        np.concatenate([each.wall for each in finished]),
        np.concatenate([each.key for each in finished]),
        np.concatenate([each.extra_facet + first for each, first in zip(finished, before, strict=False)]),
        np.concatenate([each.extra_wall for each in finished]),
        np.concatenate([each.thin for each in finished]),
    )


def _partners(key: npt.NDArray[np.uint64], inner: npt.NDArray[np.bool_]) -> Ids:
    """The other facet with the same key, where there is exactly one; else -1."""
    partner = np.full(len(key), -1)
    at = np.flatnonzero(inner)
    order = at[np.lexsort(key[at].T)]
    same = (key[order[1:]] == key[order[:-1]]).all(axis=1)
    # A pair: equal to the next one, which is not equal to the one behind it, nor this one to the one before it.
    bounded = np.concatenate([[False], same, [False]])
    pair = np.flatnonzero(same & ~bounded[:-2] & ~bounded[2:])
    partner[order[pair]], partner[order[pair + 1]] = order[pair + 1], order[pair]
    return partner


def _gates(program: Program, walls: SwitchWalls, cut_wall: Walls) -> Walls:
    """Walls as an atlas numbers them: by gates, rows of the domain behind these."""
    inner = cut_wall < len(walls)
    found = cut_wall - np.int32(len(walls) - program.gates)
    found[inner] = walls.gate[cut_wall[inner]]
    return found


def _shared(found: Pieces, facets: Ids, wall: Walls, extras: Walls, partner: Ids) -> tuple[Ids, Walls]:
    """Further walls of facets: a gate may vanish on one side altogether, then only the other side knows of it."""
    place = np.full(len(found.wall), -1)
    place[facets] = np.arange(len(facets))
    facet, extra = place[found.extra_facet], extras
    facet, extra = facet[facet >= 0], extra[facet >= 0]
    paired = partner[facet] >= 0
    facet, extra = np.concatenate([facet, partner[facet[paired]]]), np.concatenate([extra, extra[paired]])
    facet, extra = facet[extra != wall[facet]], extra[extra != wall[facet]]
    pairs = np.unique(np.stack([facet, extra.astype(np.int64)], axis=1), axis=0)
    return np.ascontiguousarray(pairs[:, 0]), pairs[:, 1].astype(np.int32)
