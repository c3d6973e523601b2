"""Cells as inequalities A u <= b over the domain's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.distinct import distinct
from polyfold._base.inputs import one_of
from polyfold._base.types import Array, Ids, Signs
from polyfold.atlas.patterns import pack, unpack
from polyfold.errors import PolyfoldError, how_many
from polyfold.program.passes.beyond_floats import rounded_up_to_scale
from polyfold.program.passes.jets import has_short_jets, parameter_walls
from polyfold.program.passes.pulled_back import gate_forms

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas
    from polyfold.domain.domain import Domain


@dataclass(frozen=True, eq=False, repr=False)
class Halfspaces:
    """Cell i of the list is {u : A[s:e] u <= b[s:e]} with s, e = start[i], start[i + 1].

    Row r comes from wall[r]; walls are numbered as in the atlas: gates first, then domain rows.
    """

    start: Ids
    A: Array
    b: Array
    wall: Ids

    def __len__(self) -> int:
        return len(self.start) - 1

    def __repr__(self) -> str:
        return f"Halfspaces: {how_many(len(self.b), 'row')} of {how_many(len(self), 'cell')}"

    def __getitem__(self, item: int) -> tuple[Array, Array]:
        item = one_of(item, len(self), "item", "the list")
        rows = slice(self.start[item], self.start[item + 1])
        return self.A[rows], self.b[rows]


def halfspaces(atlas: Atlas, ids: Ids, minimal: bool) -> Halfspaces:
    """See `Atlas.halfspaces`."""
    if minimal:
        starts, stops = atlas.facet_start[ids], atlas.facet_start[ids + 1]
        counts = stops - starts
        offset = np.concatenate([[0], np.cumsum(counts)])
        facets = np.repeat(starts - offset[:-1], counts) + np.arange(offset[-1])
        cells, walls = np.repeat(ids, counts), atlas.facet_wall[facets].astype(np.int64)
        A, b = wall_rows(atlas, cells, walls, atlas.neighbour[facets].astype(np.int64))
    else:
        if atlas.of_function:
            raise PolyfoldError(
                "cells of the function have no row for every gate, since some are idle: ask for minimal=True, or "
                "unfold with cells='gates'"
            )
        count = atlas.gates + atlas.domain.rows
        offset = np.arange(len(ids) + 1) * count
        cells, walls = np.repeat(ids, count), np.tile(np.arange(count), len(ids))
        A, b = wall_rows(atlas, cells, walls)
    return Halfspaces(offset, A, b, walls)


def wall_rows(atlas: Atlas, cells: Ids, walls: Ids, neighbours: Ids | None = None) -> tuple[Array, Array]:
    """The inequality a . u <= b that wall walls[i] puts on cell cells[i].

    It is the gate's own form, unless that lies beyond float64: then a multiple by a power of two. Where cells are the
    function's, whom a pool's winner is compared with is told by the cell across, neighbours[i].
    """
    A, b = np.zeros((len(cells), atlas.dim)), np.zeros(len(cells))
    program, domain = atlas.program, atlas.domain

    def pushed(part: slice) -> None:
        these = some[part]
        at = on_gates[slice(*np.searchsorted(cells[on_gates], [these[0], these[-1] + 1]))]
        signs, rows = atlas.signs(these), np.searchsorted(these, cells[at])
        linear, constant = parameter_walls(program, domain, signs, rows, walls[at], rounded_up_to_scale)
        side = np.where(signs[rows, walls[at]], -1.0, 1.0)
        A[at], b[at] = linear * side[:, None], -constant * side

    def met(part: slice) -> None:
        assert neighbours is not None
        at = on_gates[part]
        signs = met_signs(atlas, cells[at], neighbours[at])
        patterns, rows = np.unique(pack(signs), axis=0, return_inverse=True)
        order = np.argsort(rows.ravel(), kind="stable")
        some, gates = unpack(patterns, program.gates), walls[at][order]
        linear, constant = parameter_walls(program, domain, some, rows.ravel()[order], gates, rounded_up_to_scale)
        side = np.where(signs[order, gates], -1.0, 1.0)
        A[at[order]], b[at[order]] = linear * side[:, None], -constant * side

    def pulled(part: slice) -> None:
        at = on_gates[part]
        signs = atlas.signs(cells[at])
        linear, constant = gate_forms(program, signs, walls[at], rounded_up_to_scale)
        side = np.where(signs[np.arange(len(at)), walls[at]], -1.0, 1.0)
        A[at], b[at] = _over_parameters(domain, linear * side[:, None], -constant * side)

    on_gates = np.flatnonzero(walls < program.gates)
    if neighbours is not None and atlas.of_function:
        _refuse_open(atlas, walls, neighbours)
        in_chunks(len(on_gates), 2 * program.gates, met)
    elif has_short_jets(domain):
        on_gates = on_gates[np.argsort(cells[on_gates], kind="stable")]
        some = distinct(cells[on_gates])
        in_chunks(len(some), program.gates, pushed)
    else:
        in_chunks(len(on_gates), program.gates + program.input_dim, pulled)
    at = np.flatnonzero(walls >= program.gates)
    rows_A, rows_b = domain_rows(domain)
    A[at], b[at] = rows_A[walls[at] - program.gates], rows_b[walls[at] - program.gates]
    return A, b


def met_signs(atlas: Atlas, cells: Ids, neighbours: Ids) -> Signs:
    """Patterns under which the walls towards these neighbours are affine: what is idle is as it is across."""
    signs = atlas.signs(cells)
    if not atlas.of_function:
        return signs
    return signs | (
        atlas.signs(np.maximum(neighbours, 0)) & atlas.program.pools.idle(signs) & (neighbours >= 0)[:, None]
    )


def _refuse_open(atlas: Atlas, walls: Ids, neighbours: Ids) -> None:
    pools = atlas.program.pools
    open_ = np.isin(walls, pools.gate) & (neighbours < 0)
    if open_.any():
        raise PolyfoldError(
            f"{how_many(int(open_.sum()), 'facet')} of cells of the function lead to cells that were not found, which "
            f"would tell where these facets lie, and {atlas.certificate.how_to_complete}"
        )


def domain_rows(domain: Domain) -> tuple[Array, Array]:
    """All domain rows as A u <= b over the parameters."""
    A, b = _over_parameters(domain, domain.input_rows, domain.input_offsets)
    return np.concatenate([A, domain.parameter_rows]), np.concatenate([b, domain.parameter_offsets])


def _over_parameters(domain: Domain, A: Array, b: Array) -> tuple[Array, Array]:
    return (A @ domain.basis, b - A @ domain.origin) if domain.is_slice else (A, b)
