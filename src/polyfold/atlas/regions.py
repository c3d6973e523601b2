"""Linear regions: cells that share one affine map and are connected through facets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import running
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.errors import how_many
from polyfold.program.passes.influence import influence_of_gates


@dataclass(frozen=True, eq=False)
class Regions(Rows):
    """The linear regions of an atlas.

    Attributes
    ----------
    atlas : Atlas
        The cells that were merged.
    label : array of int, shape (cells,)
        The region of every cell; regions are numbered by their first cells.
    """

    atlas: Atlas
    label: Ids

    def __len__(self) -> int:
        return int(self.label.max()) + 1 if len(self.label) else 0

    def __repr__(self) -> str:
        return f"Regions: {len(self):,} of {how_many(len(self.atlas), 'cell')}; {self.evidence}"

    @cached_property
    def cells(self) -> list[Ids]:
        """The cells of every region."""
        order = np.argsort(self.label, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.label))[:-1]) if len(order) else []

    @cached_property
    def first_cell(self) -> Ids:
        """A cell of every region: its map is the region's."""
        return np.array([cells[0] for cells in self.cells], dtype=np.int64)

    def maps(self) -> tuple[Array, Array]:
        """(A, c) of every region."""
        return self.atlas.maps(self.first_cell)

    def rows(self) -> dict[str, Any]:
        """One row per region: how many cells it has, its first one, and whether it is bounded."""
        bounded = np.ones(len(self), dtype=bool)
        np.logical_and.at(bounded, self.label, self.atlas.bounded)
        return {
            "region": np.arange(len(self)),
            "cells": np.bincount(self.label, minlength=len(self)),
            "first_cell": self.first_cell,
            "bounded": bounded,
        }

    def facts(self) -> dict[str, Any]:
        return {"regions": len(self), "cells": len(self.atlas), "label": self.label}

    def ask_instead(self) -> str:
        return "compare their number, len(regions)"


def merged(atlas: Atlas) -> Regions:
    """The linear regions of the cells that an atlas lists. Equality of maps is decided exactly."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    owner = atlas.facet_owner
    inner = np.flatnonzero(atlas.neighbour > owner)
    same = inner[_same_map(atlas, owner[inner], atlas.neighbour[inner].astype(np.int64))]
    links = coo_matrix((np.ones(len(same)), (owner[same], atlas.neighbour[same])), shape=(len(atlas), len(atlas)))
    _, label = connected_components(links, directed=False)
    _, first, renumbered = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return answered(Regions(atlas, rank[renumbered]), evidence_of(atlas))


def _same_map(atlas: Atlas, here: Ids, there: Ids) -> Flags:
    """Whether neighbouring cells have exactly the same map over the domain's parameters."""
    same, open_ = np.zeros(len(here), dtype=bool), np.zeros(len(here), dtype=bool)
    widest = max([atlas.program.input_dim, *atlas.program.steps.widths])

    def by_flips(part: slice) -> None:
        same[part], open_[part] = _by_flips(atlas, here[part], there[part])

    in_chunks(len(here), 8 * widest + 4 * atlas.gates, by_flips)
    # What the gates that flip do not tell: first whether floats can tell the maps apart.
    left = np.flatnonzero(open_)

    def by_maps(part: slice) -> None:
        open_[left[part]] = _close(atlas, here[left[part]], there[left[part]])

    in_chunks(len(left), 12 * atlas.outputs * (widest + 1) + atlas.gates, by_maps)
    left = np.flatnonzero(open_)
    if len(left):
        exact, clock = ExactMaps(atlas), running()
        for done, i in enumerate(left):
            clock.check()
            clock.tell(done, len(left), "pairs of cells compared exactly")
            same[i] = exact[here[i]] == exact[there[i]]
    return same


def _by_flips(atlas: Atlas, here: Ids, there: Ids) -> tuple[Flags, Flags]:
    """(the maps are the same, that is still open), from what the outputs hear of the gates that flip.

    On every way to an output, look at the last gate that flips. If no output hears it past the others that flip, all
    ways through it add nothing on either side. If only one gate flips and an output hears it, the maps differ: by a
    multiple of the gate's own value, which is not zero everywhere, since else the gate would not flip.
    """
    program, signs = atlas.program, atlas.signs(here)
    flips = signs != atlas.signs(there)
    pair, gate = np.nonzero(flips)
    stage = np.searchsorted(program.first_gate, gate, side="right") - 1
    unheard, surely = np.ones(len(here), dtype=bool), np.zeros(len(here), dtype=bool)
    for s in np.unique(stage):
        at = np.flatnonzero(stage == s)
        rows = pair[at]
        found = influence_of_gates(program, signs[rows], gate[at], flips[rows])
        unheard[rows[((found.values != 0) | (found.errors != 0)).any(axis=1)]] = False
        # An overflow proves nothing.
        bent = (program.stages[s].slope_on != program.stages[s].slope_off)[gate[at] - program.first_gate[s]]
        clear = (np.abs(found.values) > found.errors) & np.isfinite(found.values)
        surely[rows[clear.any(axis=1) & bent]] = True
    different = surely & (flips.sum(axis=1) == 1)
    return unheard, ~unheard & ~different


def _close(atlas: Atlas, here: Ids, there: Ids) -> Flags:
    """Whether floats cannot tell the maps of two cells apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        one, other = (bounded_maps(atlas, cells) for cells in (here, there))
        clear = np.abs(one.values - other.values) > one.errors + other.errors
        apart: Flags = np.any(clear, axis=(1, 2))
    return ~apart
