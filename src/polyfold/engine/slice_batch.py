"""A part of a line or plane on its way through the network: cells by their vertices, and what is known at those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold import core
from polyfold.exact.scaled import Scaled, Signs

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Segments (two ends) or polygons (corners in order): cell i has vertex[start[i]:start[i + 1]].

    Facet k is the end `vertex[k]` of a segment, or the side of a polygon from `vertex[k]` to its next corner. `wall`
    is the gate or domain row that made it; further walls on it are pairs (extra_facet, extra_wall), by facet.
    """

    start: Ids
    vertex: Ids
    wall: npt.NDArray[np.int32]
    extra_facet: Ids
    extra_wall: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start) - 1

    def cut(self, found: Mapping[str, Any], first_gate: int) -> Cells:
        """The parts that `core.cut_slice` made of these cells."""
        old, facet = found["facet"] >= 0, found["facet"]
        wall = found["wall"] + np.int32(first_gate)
        wall[old] = self.wall[facet[old]]
        first = np.searchsorted(self.extra_facet, facet)
        counts = np.where(old, np.searchsorted(self.extra_facet, facet, side="right") - first, 0)
        rows = ragged_rows(first, counts)
        extra_facet = np.repeat(np.arange(len(facet)), counts)
        return Cells(found["start"], found["vertex"], wall, extra_facet, self.extra_wall[rows])

    def with_extras(self, facet: Ids, wall: npt.NDArray[np.int32]) -> Cells:
        """The same with more walls on facets; those that made them are not extra."""
        further = self.wall[facet] != wall
        if not further.any():
            return self
        facets = np.concatenate([self.extra_facet, facet[further]])
        walls = np.concatenate([self.extra_wall, wall[further]])
        order = np.argsort(facets, kind="stable")
        return replace(self, extra_facet=facets[order], extra_wall=walls[order])

    def range(self, first: int, last: int) -> Cells:
        """Cells first .. last - 1."""
        low, high = self.start[first], self.start[last]
        extras = slice(*np.searchsorted(self.extra_facet, [low, high]))
        return Cells(
            self.start[first : last + 1] - low,
            self.vertex[low:high],
            self.wall[low:high],
            self.extra_facet[extras] - low,
            self.extra_wall[extras],
        )


@dataclass(frozen=True, eq=False)
class OpenStage:
    """The gates of the current stage at all vertices; those before `next_gate` have cut the cells already."""

    z: Scaled
    signs: Signs
    next_gate: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells after some steps. `sources` are values that later steps still read; `patterns` are packed stage by stage.

    Everything but the cells has a row a vertex. A vertex's name depends only on what made it, so it is the same in
    every batch that has the vertex.
    """

    step: int
    cells: Cells
    names: npt.NDArray[np.uint64]
    parameters: Scaled
    sources: Mapping[int, Scaled]
    patterns: tuple[npt.NDArray[np.uint8], ...]
    open_stage: OpenStage | None = None

    @property
    def vertices(self) -> int:
        return len(self.names)

    def cut(self, open_stage: OpenStage, first_gate: int, most_new: int) -> tuple[Batch, Ids, int]:
        """After some more gates; the gate of every undecided sign, and how many cuts would have been crooked."""
        z = open_stage.z
        found = core.cut_slice(
            dim=self.parameters.values.shape[1],
            start=self.cells.start,
            vertex=self.cells.vertex,
            name=self.names,
            value=z.values,
            sign=open_stage.signs,
            doubt=z.errors,
            scale=z.scale,
            first_wall=first_gate,
            first_gate=open_stage.next_gate,
            most_new=most_new,
        )
        parents = found["parent"]
        after = Batch(
            step=self.step,
            cells=self.cells.cut(found, first_gate),
            names=np.concatenate([self.names, found["name"]]),
            parameters=_blended(self.parameters, found),
            sources={k: _blended(source, found) for k, source in self.sources.items()},
            patterns=tuple(each[parents] for each in self.patterns),
            open_stage=OpenStage(
                replace(
                    z,
                    values=np.concatenate([z.values, found["value"]]),
                    errors=np.concatenate([z.errors, found["doubt"]]),
                ),
                np.concatenate([open_stage.signs, found["sign"]]),
                int(found["next_gate"]),
            ),
        )
        return after, found["undecided"].astype(np.int64) + first_gate, int(found["inconsistent"])

    def halves(self) -> tuple[Batch, Batch]:
        """The first and the second half of the cells, each with the vertices that it needs."""
        middle = len(self.cells) // 2
        return self._range(0, middle), self._range(middle, len(self.cells))

    def _range(self, first: int, last: int) -> Batch:
        cells = self.cells.range(first, last)
        kept, vertex = np.unique(cells.vertex, return_inverse=True)
        gates = self.open_stage
        return Batch(
            step=self.step,
            cells=replace(cells, vertex=vertex.astype(np.int64)),
            names=self.names[kept],
            parameters=self.parameters.take(kept),
            sources={k: source.take(kept) for k, source in self.sources.items()},
            patterns=tuple(each[first:last] for each in self.patterns),
            open_stage=gates and OpenStage(gates.z.take(kept), gates.signs[kept], gates.next_gate),
        )


def ragged_rows(first: Ids, counts: Ids) -> Ids:
    """first[0], first[0] + 1, ... (counts[0] of them), first[1], ..."""
    ends = np.cumsum(counts)
    return np.repeat(first - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


def _blended(rows: Scaled, found: Mapping[str, Any]) -> Scaled:
    values, errors = core.blend_rows(rows.values, rows.errors, found["low"], found["high"], found["share"])
    return replace(rows, values=np.concatenate([rows.values, values]), errors=np.concatenate([rows.errors, errors]))
