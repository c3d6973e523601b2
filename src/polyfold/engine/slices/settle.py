"""Signs of gates at the corners of a line's or plane's cells: floats first, tighter bounds next, exact numbers last."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.types import Ids
from polyfold.engine.slices.batch import Batch, OpenStage
from polyfold.engine.slices.exact import ExactSlice, SlicePoint, sign_at, signs_of_many
from polyfold.engine.slices.switches import Columns, StageSwitches, held_values
from polyfold.exact.bounded_values import BoundedValues
from polyfold.program.passes.bounded_jets import BoundedJets, closer, values_at
from polyfold.program.passes.bounded_rows import NEGATIVE, OPEN, POSITIVE, ZERO
from polyfold.program.program import Program

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


def signs_of(batch: Batch, gates: OpenStage, switches: StageSwitches, exact: ExactSlice, doubts: Doubts) -> Bytes:
    """Signs of what the stage cuts at, from the next gate on, at all corners."""
    z = gates.columns
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
    found = np.full(len(asked), OPEN)
    for part in switches.parts:
        here = np.flatnonzero(np.isin(asked.gate, part.column))
        if len(here):
            order = np.argsort(part.column)
            place = part.gate[order][np.searchsorted(part.column[order], asked.gate[here])]
            found[here] = _by_tighter_bounds(batch, gates.z, part, asked.take(here), place, exact.program)
    left = np.flatnonzero(found == OPEN)
    found[left] = _exactly(batch, asked.take(left), switches.first_wall, exact)
    signs[corner, gate - gates.next_gate] = found[question.ravel()]
    doubts.near_zero += len(asked)
    doubts.exact += len(left)
    doubts.leave_open(exact.walls.gate[asked.gate[found == OPEN] + switches.first_wall])
    return signs


def _by_tighter_bounds(
    batch: Batch, z: BoundedJets, part: Columns, asked: _Questions, gates: Ids, program: Program
) -> Bytes:
    """Questions about some columns, which are these gates of their stage."""
    found = np.full(len(asked), OPEN)
    rows, place = np.unique(batch.rows[asked.cell], return_inverse=True)
    # A closer look goes back to what the gates are made of.
    values = {v: value.take(rows) for v, value in batch.sources.items()}
    values = held_values(program, part, batch.step, values, z.take(rows))
    sources = {k: values[v] for k, v in enumerate(program.steps.value_of_source) if v in values}
    for some, forms in closer(program.stages[part.stage].affine, sources, np.arange(len(rows))):
        here = np.flatnonzero((place >= some.start) & (place < some.stop))
        at, gate = place[here] - some.start, gates[here]
        vertex = batch.cells.vertex[asked.corner[here]]
        chosen = BoundedValues(forms.values[at, :, gate], forms.errors[at, :, gate])
        values_here, errors = values_at(chosen, batch.points[vertex], batch.off[vertex])
        clear = np.where(values_here > 0, POSITIVE, NEGATIVE)
        found[here] = np.where(np.abs(values_here) > errors, clear, np.where(errors == 0, ZERO, OPEN))
    return found


def _exactly(batch: Batch, asked: _Questions, first_wall: int, exact: ExactSlice) -> Bytes:
    """Of a cell about which much is asked, all gates at once; of the others gate by gate, for many cells at once."""
    found = np.full(len(asked), OPEN)
    cells, place = np.unique(asked.cell, return_inverse=True)
    questions = _Exactly(batch, asked, first_wall, exact, batch.signs(cells), place)
    # What is held belongs to the question: other gates of a pool are other cells, so to speak.
    hold = exact.walls.hold[asked.gate + first_wall]
    alike, group = np.unique(np.stack([place, hold]), axis=1, return_inverse=True)
    much = np.bincount(group.ravel(), minlength=alike.shape[1]) >= _MUCH
    for number in np.flatnonzero(much).tolist():
        items = np.flatnonzero(group.ravel() == number)
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
    first_wall: int
    exact: ExactSlice
    patterns: npt.NDArray[np.bool_]
    row: Ids
    places: dict[int, SlicePoint | None] = field(default_factory=dict)

    def on_one_cell(self, items: Ids) -> Bytes:
        """Answers to questions about one cell, with the same held; OPEN where all gates together are too much."""
        walls, program = self.exact.walls, self.exact.program
        asked = self.first_wall + self.asked.gate[items]
        signs = walls.under(int(asked[0]), self.patterns[self.row[items[0]]])
        gates = walls.gate[asked]
        stage = int(np.searchsorted(program.first_gate, gates[0], side="right")) - 1
        numbers = self.exact.stage(stage, signs)
        found = np.full(len(items), OPEN)
        if numbers is None:
            return found
        numbers = numbers.entries(gates - program.first_gate[stage])
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
        wall, walls = gate + self.first_wall, self.exact.walls
        for form in self.exact.forms(int(walls.gate[wall]), walls.under(wall, self.patterns[rows])):
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
