"""Lines and planes through networks of any size: only vertices travel.

All vertices of the current subdivision pass a stage as one batch; segments or polygons are then cut where gates are
zero. On a cell everything is affine, so what is known at a new vertex is blended from the two vertices that it lies
between, and no vertex passes a stage twice. See docs/adr/0011-slices-by-vertices.md.

A batch that outgrows its share of memory is halved, and the first half goes through all stages before the second one
goes on. So cells get finished from the start, and what is finished when a limit or an interrupt ends the run is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold import core
from polyfold.atlas.domain import Domain
from polyfold.engine.slice_batch import Batch, OpenStage
from polyfold.engine.slice_cells import Pieces, assembled, pieces
from polyfold.engine.slice_start import first_batch
from polyfold.engine.watch import Leave
from polyfold.exact.scaled import Scaled, last_readers, passed_on, pre_activations, signs_of, sources_of
from polyfold.program.affine import Affine
from polyfold.program.program import Program

# Floats that a batch may hold: 16 MB, much more would leave the processor's cache. Some ten halves wait while one
# goes on.
_BATCH_FLOATS = 1 << 21


@dataclass
class Doubts:
    """What floats could not decide on the way: signs at vertices, whose gates these were, and cuts."""

    signs: int = 0
    crooked: int = 0
    gates: set[int] = field(default_factory=set)

    def note(self, gates: npt.NDArray[np.int64]) -> None:
        """The gate of every sign that was taken for zero."""
        self.signs += len(gates)
        self.gates.update(gates.tolist())


def find_slice_cells(program: Program, domain: Domain, max_cells: int, leave: Leave) -> dict[str, Any]:
    """All cells, as the arrays of an atlas; with "doubts" and the sum of all lengths or areas, "measure"."""
    search = SliceSearch(program, domain, max_cells)
    search.go_on(leave)
    return search.arrays()


class SliceSearch:
    """A search that can pause: `go_on` until there are enough cells, look at `arrays`, go on."""

    def __init__(self, program: Program, domain: Domain, max_cells: int) -> None:
        self._run = _Run(program, domain, Doubts())
        self._batches = self._run.batches()
        self._dim, self._max_cells = domain.dim, max_cells
        self._finished: list[Pieces] = []
        self._cells = 0
        self.complete = False

    def go_on(self, leave: Leave, enough: int = -1) -> None:
        """Search until all cells are found, or `enough` of them (if that is not negative), or a limit is reached."""
        most, run = self._max_cells, self._run
        for batch in self._batches:
            if batch is not None:
                self._finished.append(pieces(run.program, batch))
                self._cells += len(batch.cells)
            over = 0 <= most <= self._cells and (run.waiting or self._cells > most)
            # Who waits for the first cells wants to see some of them, and not that there are none yet.
            paused = 0 <= enough <= self._cells and batch is not None and bool(run.waiting)
            if not leave.keep_going(self._cells) or over or paused:
                break
        self.complete = not run.waiting and not 0 <= most < self._cells

    def arrays(self) -> dict[str, Any]:
        """The cells found so far, as the arrays of an atlas."""
        run = self._run
        return {
            **assembled(run.program, self._dim, self._finished, self._max_cells),
            "complete": self.complete,
            "doubts": run.doubts,
        }


def count_slice_cells(program: Program, domain: Domain, leave: Leave) -> tuple[int, bool]:
    """How many cells there are, and whether these are all."""
    run = _Run(program, domain, Doubts())
    cells = 0
    for batch in run.batches():
        cells += len(batch.cells) if batch is not None else 0
        if not leave.keep_going(cells):
            return cells, not run.waiting
    return cells, True


class _Run:
    """The batches of one run, the next one on top."""

    def __init__(self, program: Program, domain: Domain, doubts: Doubts) -> None:
        self.program = program
        self.doubts = doubts
        self.steps = program.steps.steps
        self.last_reader = last_readers(program)
        self.waiting = [first_batch(domain, program.gates)]

    def batches(self) -> Iterator[Batch | None]:
        """Batches that have passed all stages, and None in between, for a look at the clock."""
        while self.waiting:
            batch = self.waiting.pop()
            if batch.step == len(self.steps):
                yield batch
                continue
            if batch.vertices > self._most_vertices(batch) and len(batch.cells) > 1:
                self.waiting += reversed(batch.halves())
                continue
            self.waiting.append(self._step(batch))
            yield None

    def _step(self, batch: Batch) -> Batch:
        """A step without gates; or some more gates of the current stage, or the end of it."""
        step = self.steps[batch.step]
        if step.stage is None:
            z = pre_activations(step.affine, batch.sources, batch.vertices)
            return replace(batch, step=batch.step + 1, sources=self._still_read(batch, z))
        gates = batch.open_stage
        if gates is None:
            batch = self._enter(batch, step.affine, step.stage)
            gates = batch.open_stage
        assert gates is not None
        first = self.program.first_gate[step.stage]
        if gates.next_gate < len(gates.z.scale):
            batch, undecided, crooked = batch.cut(gates, first, self._most_vertices(batch))
            self.doubts.note(undecided)
            self.doubts.crooked += crooked
            gates = batch.open_stage
            assert gates is not None
        return batch if gates.next_gate < len(gates.z.scale) else self._leave(batch, gates, step.stage)

    def _enter(self, batch: Batch, affine: Affine, stage: int) -> Batch:
        """With the pre-activations of the next stage, and without the values that nobody reads after it."""
        z = pre_activations(affine, batch.sources, batch.vertices)
        # A closer look goes back to what the gates are made of.
        sources = sources_of(self.program, batch.sources)
        signs, undecided = signs_of(self.program.stages[stage].affine, sources, z)
        self.doubts.note(undecided.gates + self.program.first_gate[stage])
        return replace(batch, sources=self._still_read(batch), open_stage=OpenStage(z, signs, 0))

    def _still_read(self, batch: Batch, new: Scaled | None = None) -> dict[int, Scaled]:
        """The values that some step behind this one reads, with the one that it puts out."""
        values = batch.sources if new is None else {**batch.sources, batch.step + 1: new}
        return {k: value for k, value in values.items() if self.last_reader[k] > batch.step}

    def _leave(self, batch: Batch, gates: OpenStage, stage: int) -> Batch:
        """With the patterns of the stage, the walls on facets, and what the stage puts out."""
        cells, dim = batch.cells, batch.parameters.values.shape[1]
        packed, facet, wall = core.read_slice(dim, cells.start, cells.vertex, gates.signs)
        # Nothing is made of the last stage's gates: outputs are not asked for here.
        read = self.last_reader[batch.step + 1] > batch.step
        new = passed_on(self.program.stages[stage], gates.z, gates.signs) if read else None
        return Batch(
            step=batch.step + 1,
            cells=cells.with_extras(facet, wall + np.int32(self.program.first_gate[stage])),
            names=batch.names,
            parameters=batch.parameters,
            sources=self._still_read(batch, new),
            patterns=(*batch.patterns, packed),
        )

    def _most_vertices(self, batch: Batch) -> int:
        """How many vertices a batch may have, by what each of them holds in this stage."""
        widths = sum(source.values.shape[1] for source in batch.sources.values())
        most: int = max(64, _BATCH_FLOATS // (8 + widths + 2 * len(self.steps[batch.step].affine.bias)))
        return most
