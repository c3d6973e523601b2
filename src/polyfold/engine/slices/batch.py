"""A part of a line or plane on its way through the network: cells by their corners, and what is affine on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.program.passes.bounded_jets import BoundedJets

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Cells:
    """Segments (two ends) or polygons (corners in order): cell i has vertex[start[i]:start[i + 1]].

    Facet k is the end `vertex[k]` of a segment, or the side of a polygon from `vertex[k]` to its next corner. `wall`
    is the gate or domain row that made it, and `form` a function of the parameters that vanishes on it, with
    coefficients that are right up to `form_error`. Further walls on it are pairs (extra_facet, extra_wall), by facet.
    """

    start: Ids
    vertex: Ids
    wall: npt.NDArray[np.int32]
    form: Array
    form_error: Array
    extra_facet: Ids
    extra_wall: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def of_corner(self) -> Ids:
        """The cell of every corner."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def walls_at(self, cell: int, corner: int) -> tuple[int, int]:
        """The two walls that meet at a corner of a polygon; -1 and the wall that a segment ends at."""
        return walls_at(self.wall, int(self.start[cell]), int(self.start[cell + 1]), corner, self.form.shape[1] - 1)

    def cut(self, found: Mapping[str, Any], first_wall: int, rows: Ids, z: BoundedJets) -> Cells:
        """The parts that `core.cut_slice` made of these cells, which have these rows of what the stage cuts at."""
        facet = found["facet"]
        old, new = facet >= 0, np.flatnonzero(facet < 0)
        wall = found["wall"] + np.int32(first_wall)
        form, form_error = self.form[facet], self.form_error[facet]
        wall[old] = self.wall[facet[old]]
        if len(new):
            owner = np.repeat(found["parent"], np.diff(found["start"]))[new]
            gate = found["wall"][new]
            form[new] = z.values[rows[owner], :, gate]
            form_error[new] = z.errors[rows[owner]] * z.scale[gate]
        first = np.searchsorted(self.extra_facet, facet)
        counts = np.where(old, np.searchsorted(self.extra_facet, facet, side="right") - first, 0)
        inherited = ragged_rows(first, counts)
        cells = Cells(
            found["start"],
            found["vertex"],
            wall,
            form,
            form_error,
            np.repeat(np.arange(len(facet)), counts),
            self.extra_wall[inherited],
        )
        return cells._with_extras(found["extra_facet"], found["extra_wall"] + np.int32(first_wall))

    def _with_extras(self, facet: Ids, wall: npt.NDArray[np.int32]) -> Cells:
        if not len(facet):
            return self
        facets, walls = np.concatenate([self.extra_facet, facet]), np.concatenate([self.extra_wall, wall])
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
            self.form[low:high],
            self.form_error[low:high],
            self.extra_facet[extras] - low,
            self.extra_wall[extras],
        )


@dataclass(frozen=True, eq=False)
class Decided:
    """Some gates on every cell: whether they are on, and whether they vanish there. Packed."""

    gates: Ids
    on: Bits
    vanishing: Bits

    def take(self, cells: Ids | slice) -> Decided:
        """On some of the cells."""
        return Decided(self.gates, self.on[cells], self.vanishing[cells])


@dataclass(frozen=True, eq=False)
class OpenStage:
    """The gates `z` of the current stage and all that it cuts at, `columns`; those before `next_gate` have cut."""

    z: BoundedJets
    columns: BoundedJets
    next_gate: int

    def take(self, rows: Ids) -> OpenStage:
        """On some of the cells."""
        z = self.z.take(rows)
        return OpenStage(z, z if self.columns is self.z else self.columns.take(rows), self.next_gate)


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells after some steps. `sources` are values that later steps still read; cell i has row rows[i] of these and of
    the open stage. `decided` are all gates so far.

    `points` are vertices, in units of the parameters; the true ones may lie `off` by so much, in every coordinate. A
    vertex's name depends only on what made it, so it is the same in every batch that has the vertex.
    """

    step: int
    cells: Cells
    names: npt.NDArray[np.uint64]
    points: Array
    off: Array
    rows: Ids
    sources: Mapping[int, BoundedJets]
    decided: tuple[Decided, ...]
    open_stage: OpenStage | None = None

    def cut(self, found: Mapping[str, Any], open_stage: OpenStage, first_wall: int, new: Iterable[Decided]) -> Batch:
        """After the gates by which `core.cut_slice` has cut the cells; `new` is what has been decided on its parts."""
        parents, next_gate = found["parent"], int(found["next_gate"])
        return replace(
            self,
            cells=self.cells.cut(found, first_wall, self.rows, open_stage.columns),
            names=np.concatenate([self.names, found["name"]]),
            points=np.concatenate([self.points, found["point"]]),
            off=np.concatenate([self.off, found["off"]]),
            rows=self.rows[parents],
            decided=(*(each.take(parents) for each in self.decided), *new),
            open_stage=replace(open_stage, next_gate=next_gate),
        )

    def signs(self, cells: Ids) -> npt.NDArray[np.bool_]:
        """Which gates are on, on some of the cells; up to the last one that has been decided."""
        gates = 1 + max((int(each.gates.max(initial=-1)) for each in self.decided), default=-1)
        return _unpacked([(each.gates, each.on[cells]) for each in self.decided], len(cells), slice(0, gates))

    def decided_of(self, gates: slice) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which of these gates are on, and which vanish; on every cell."""
        return (
            _unpacked([(each.gates, each.on) for each in self.decided], len(self.cells), gates),
            _unpacked([(each.gates, each.vanishing) for each in self.decided], len(self.cells), gates),
        )

    def halves(self) -> tuple[Batch, Batch]:
        """The first and the second half of the cells, each with what it needs."""
        middle = len(self.cells) // 2
        return self._range(0, middle), self._range(middle, len(self.cells))

    def _range(self, first: int, last: int) -> Batch:
        cells = self.cells.range(first, last)
        kept, vertex = np.unique(cells.vertex, return_inverse=True)
        shared, rows = np.unique(self.rows[first:last], return_inverse=True)
        gates = self.open_stage
        return Batch(
            step=self.step,
            cells=replace(cells, vertex=vertex.astype(np.int64)),
            names=self.names[kept],
            points=self.points[kept],
            off=self.off[kept],
            rows=rows.astype(np.int64),
            sources={k: source.take(shared) for k, source in self.sources.items()},
            decided=tuple(each.take(slice(first, last)) for each in self.decided),
            open_stage=gates and gates.take(shared),
        )


def walls_at(wall: npt.NDArray[np.int32], first: int, last: int, corner: int, dim: int) -> tuple[int, int]:
    """The same for a cell with these facets, first .. last - 1."""
    before = corner - 1 if corner > first else last - 1
    return int(wall[before]) if dim == 2 else -1, int(wall[corner])


def _unpacked(parts: list[tuple[Ids, Bits]], cells: int, wanted: slice) -> npt.NDArray[np.bool_]:
    """The bits of some gates, out of those that parts have."""
    found = np.zeros((cells, wanted.stop - wanted.start), dtype=bool)
    for gates, packed in parts:
        here = np.flatnonzero((gates >= wanted.start) & (gates < wanted.stop))
        if len(here):
            bits = np.unpackbits(packed, axis=1, count=len(gates), bitorder="little")
            found[:, gates[here] - wanted.start] = bits[:, here]
    return found


def ragged_rows(first: Ids, counts: Ids) -> Ids:
    """first[0], first[0] + 1, ... (counts[0] of them), first[1], ..."""
    ends = np.cumsum(counts)
    return np.repeat(first - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
