"""Signs of gates at the corners of a line's or plane's cells: floats first, tighter bounds next, exact numbers last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.types import Ids
from polyfold.engine.slices.batch import Batch, OpenStage
from polyfold.engine.slices.exact import ExactSlice, SlicePoint, sign_at, signs_of_many
from polyfold.exact.bounded_values import BoundedValues
from polyfold.program.affine import Affine
from polyfold.program.passes.bounded_jets import BoundedJets, closer, values_at
from polyfold.program.passes.bounded_rows import NEGATIVE, OPEN, POSITIVE, ZERO

Bytes = npt.NDArray[np.uint8]

# From so many signs on it is quicker to compute all gates of a stage on a cell.
_MUCH = 32


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
    batch: Batch,
    gates: OpenStage,
    affine: Affine,
    sources: Mapping[int, BoundedJets],
    first_gate: int,
    exact: ExactSlice,
    doubts: Doubts,
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


def _by_tighter_bounds(batch: Batch, asked: _Questions, affine: Affine, sources: Mapping[int, BoundedJets]) -> Bytes:
    found = np.full(len(asked), OPEN)
    rows, place = np.unique(batch.rows[asked.cell], return_inverse=True)
    for part, forms in closer(affine, sources, rows):
        here = np.flatnonzero((place >= part.start) & (place < part.stop))
        at, gate = place[here] - part.start, asked.gate[here]
        vertex = batch.cells.vertex[asked.corner[here]]
        chosen = BoundedValues(forms.values[at, :, gate], forms.errors[at, :, gate])
        values, errors = values_at(chosen, batch.points[vertex], batch.off[vertex])
        clear = np.where(values > 0, POSITIVE, NEGATIVE)
        found[here] = np.where(np.abs(values) > errors, clear, np.where(errors == 0, ZERO, OPEN))
    return found


def _exactly(batch: Batch, asked: _Questions, first_gate: int, exact: ExactSlice) -> Bytes:
    """Of a cell about which much is asked, all gates at once; of the others gate by gate, for many cells at once."""
    found = np.full(len(asked), OPEN)
    cells, place = np.unique(asked.cell, return_inverse=True)
    questions = _Exactly(batch, asked, first_gate, exact, batch.signs(cells), place)
    much = np.bincount(place, minlength=len(cells)) >= _MUCH
    for row in np.flatnonzero(much).tolist():
        items = np.flatnonzero(place == row)
        found[items] = questions.on_one_cell(items)
    left = np.flatnonzero(found == OPEN)
    for gate in np.unique(asked.gate[left]).tolist():
        items = left[asked.gate[left] == gate]
        found[items] = questions.of_one_gate(gate, items)
    return found


@dataclass(frozen=True, eq=False)
class _Exactly:
    """Questions about cells with these patterns; `row` is that of every question."""

    batch: Batch
    asked: _Questions
    first_gate: int
    exact: ExactSlice
    patterns: npt.NDArray[np.bool_]
    row: Ids
    places: dict[int, SlicePoint | None] = field(default_factory=dict)

    def on_one_cell(self, items: Ids) -> Bytes:
        """Answers to questions about one cell; OPEN where all gates together are too much."""
        stage = int(np.searchsorted(self.exact.program.first_gate, self.first_gate, side="right")) - 1
        numbers = self.exact.stage(stage, self.patterns[self.row[items[0]]])
        found = np.full(len(items), OPEN)
        if numbers is None:
            return found
        numbers = numbers.entries(self.asked.gate[items])
        found[~numbers.nonzero.any(axis=0)] = ZERO
        for corner in np.unique(self.asked.corner[items]).tolist():
            at = np.flatnonzero((self.asked.corner[items] == corner) & (found == OPEN))
            place = self._place(int(items[at[0]])) if len(at) else None
            if place is not None:
                found[at] = signs_of_many(numbers.entries(at), place)
        return found

    def of_one_gate(self, gate: int, items: Ids) -> Bytes:
        """Answers to questions about one gate of the stage."""
        found = np.full(len(items), OPEN)
        rows, row_of = np.unique(self.row[items], return_inverse=True)
        for form in self.exact.forms(gate + self.first_gate, self.patterns[rows]):
            for k in np.flatnonzero(np.isin(row_of, form.cells)).tolist():
                place = None if form.vanishes else self._place(int(items[k]))
                if form.vanishes or place is not None:
                    found[k] = ZERO if place is None else sign_at(form, place)
        return found

    def _place(self, item: int) -> SlicePoint | None:
        corner = int(self.asked.corner[item])
        vertex = int(self.batch.cells.vertex[corner])
        if vertex not in self.places:
            walls = self.batch.cells.walls_at(int(self.asked.cell[item]), corner)
            self.places[vertex] = self.exact.place(*walls, self.patterns[self.row[item]])
        return self.places[vertex]
