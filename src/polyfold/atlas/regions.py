"""Linear regions: cells that share one affine map and are connected through facets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.apart import apart_if_wanted
from polyfold._base.chunks import in_chunks
from polyfold._base.clock import running
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import core_problem, stays_structured
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.errors import how_many
from polyfold.program.derive.exact_matrices import exact_blocks
from polyfold.program.derive.few_coordinates import few_coordinates
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
        first: Ids = np.unique(self.label, return_index=True)[1].astype(np.int64)
        return first

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


def merged(atlas: Atlas, threads: int | None = None) -> Regions:
    """The linear regions of the cells that an atlas lists. Equality of maps is decided exactly."""
    said = _by_core(atlas, atlas.certificate.threads if threads is None else threads)
    if said is None:
        open_ = np.flatnonzero(atlas.neighbour > atlas.facet_owner)
        same = open_[:0]
    else:
        open_ = np.flatnonzero((said == _OPEN) & (atlas.neighbour > atlas.facet_owner))
        same = np.flatnonzero(said == _AGREE)
    there = atlas.neighbour[open_].astype(np.int64)
    same = np.concatenate([same, open_[_same_map(atlas, atlas.facet_owner[open_], there)]])
    return answered(Regions(atlas, _connected(atlas, same)), evidence_of(atlas))


# What the core says of a facet between two cells; of the others it says that they are open.
_OPEN, _AGREE = 0, 2


def _by_core(atlas: Atlas, threads: int) -> npt.NDArray[np.uint8] | None:
    """What floats prove of the maps on both sides of every facet; None where there are no exact matrices for them."""
    program, domain = atlas.program, atlas.domain
    if stays_structured(program) or atlas.by_facets or program.exact_matrices is None:
        return None
    # Where walls do not lead, maps of two cells differ by nothing.
    few = few_coordinates(program, domain)
    outputs = exact_blocks(few.program.output, [few.program.input_dim, *(stage.width for stage in program.stages)])
    if outputs is None:
        return None
    problem = core_problem(few.program, few.domain)
    return apart_if_wanted(
        lambda wanted: core.compare_maps(
            problem,
            program.output_dim,
            [block.source for block in outputs],
            [np.ascontiguousarray(block.weight) for block in outputs],
            np.ascontiguousarray(atlas.patterns),
            atlas.facet_start,
            atlas.facet_wall,
            atlas.neighbour,
            threads,
            wanted,
        )
    )


def _connected(atlas: Atlas, facets: Ids) -> Ids:
    """The part of every cell that is connected through these facets; parts are numbered by their first cells."""
    if not len(facets):
        return np.arange(len(atlas))
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    here, there = atlas.facet_owner[facets], atlas.neighbour[facets]
    links = coo_matrix((np.ones(len(facets)), (here, there)), shape=(len(atlas), len(atlas)))
    _, label = connected_components(links, directed=False)
    _, first, renumbered = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[renumbered]


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
