"""Signs of gates at the corners of a line's or plane's cells: floats first, tighter bounds next, exact numbers last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from polyfold import core
from polyfold.engine.slice_batch import Batch, OpenStage
from polyfold.engine.slice_exact import ExactSlice, Place, sign_at
from polyfold.exact.bounded import BoundedValues
from polyfold.exact.bounded_jets import BoundedJets, closer, signs_at
from polyfold.exact.scaled import NEGATIVE, OPEN, POSITIVE, ZERO
from polyfold.program.affine import Affine

Ids = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass
class Doubts:
    """What floats could not decide on the way, and what stayed open for good: signs, the gates of these, and cuts."""

    near_zero: int = 0
    exact: int = 0
    open: int = 0
    crooked: int = 0
    gates: set[int] = field(default_factory=set)

    def leave_open(self, gates: Ids) -> None:
        """The gate of every sign that counts as zero without being proved to be."""
        self.open += len(gates)
        self.gates.update(gates.tolist())

    @property
    def none_left(self) -> bool:
        """Whether every sign is proved."""
        return not self.open and not self.crooked


@dataclass(frozen=True, eq=False)
class _Questions:
    """Signs that are asked for: of gates (of the stage) at vertices, each at a corner of some cell."""

    cell: Ids
    corner: Ids
    gate: Ids

    def take(self, some: Ids | npt.NDArray[np.bool_]) -> _Questions:
        return _Questions(self.cell[some], self.corner[some], self.gate[some])

    def __len__(self) -> int:
        return len(self.gate)


def signs_of(
    batch: Batch, gates: OpenStage, affine: Affine, sources: Mapping[int, BoundedJets], first_gate: int,
    exact: ExactSlice, doubts: Doubts,
) -> Bytes:
    """Signs of the stage's gates from the next one on, at all corners; `affine` makes them of the program's sources."""
    z = gates.z
    signs, corner, gate = core.corner_signs(
        batch.cells.start, batch.cells.vertex, batch.points, batch.off, batch.rows, z.values, z.errors, z.scale,
        gates.next_gate,
    )  # fmt: skip
    if not len(gate):
        return signs
    # All cells around a vertex agree on a sign: it is asked for once.
    pairs = np.stack([batch.cells.vertex[corner], gate.astype(np.int64)], axis=1)
    _, first, question = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    asked = _Questions(batch.cells.of_corner[corner[first]], corner[first], gate[first].astype(np.int64))
    found = _by_tighter_bounds(batch, asked, affine, sources)
    left = np.flatnonzero(found == OPEN)
    found[left] = _exactly(batch, asked.take(left), first_gate, exact)
    signs[corner, gate - gates.next_gate] = found[question.ravel()]
    doubts.near_zero += len(asked)
    doubts.exact += len(left)
    doubts.leave_open(asked.gate[found == OPEN] + first_gate)
    return signs


def _by_tighter_bounds(
    batch: Batch, asked: _Questions, affine: Affine, sources: Mapping[int, BoundedJets]
) -> Bytes:
    found = np.full(len(asked), OPEN)
    rows, place = np.unique(batch.rows[asked.cell], return_inverse=True)
    for part, forms in closer(affine, sources, rows):
        here = np.flatnonzero((place >= part.start) & (place < part.stop))
        at, gate = place[here] - part.start, asked.gate[here]
        vertex = batch.cells.vertex[asked.corner[here]]
        chosen = BoundedValues(forms.values[at, :, gate], forms.errors[at, :, gate])
        values, errors = signs_at(chosen, batch.points[vertex], batch.off[vertex])
        clear = np.where(values > 0, POSITIVE, NEGATIVE)
        found[here] = np.where(np.abs(values) > errors, clear, np.where(errors == 0, ZERO, OPEN))
    return found


def _exactly(batch: Batch, asked: _Questions, first_gate: int, exact: ExactSlice) -> Bytes:
    found = np.full(len(asked), OPEN)
    cells, place = np.unique(asked.cell, return_inverse=True)
    patterns = batch.signs(cells)
    places: dict[int, Place | None] = {}
    for gate in np.unique(asked.gate).tolist():
        of_gate = np.flatnonzero(asked.gate == gate)
        rows, row_of = np.unique(place[of_gate], return_inverse=True)
        for form in exact.forms(gate + first_gate, patterns[rows]):
            for item in of_gate[np.isin(row_of, form.cells)].tolist():
                if form.vanishes:
                    found[item] = ZERO
                    continue
                vertex = int(batch.cells.vertex[asked.corner[item]])
                if vertex not in places:
                    walls = batch.cells.walls_at(int(asked.cell[item]), int(asked.corner[item]))
                    places[vertex] = exact.place(*walls, patterns[place[item]])
                if (at := places[vertex]) is not None:
                    found[item] = sign_at(form, at)
    return found
