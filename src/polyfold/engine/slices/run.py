"""Lines and planes through networks of any size: cells by their corners, and jets that pass the network.

On a cell of a line or plane all that the network computes is affine in one or two parameters. Stage by stage these
functions, a constant and one or two slopes each, pass the stage's affine function as rows of one batch; the cells are
then cut where gates are zero. Every sign at every corner is proved: in floats with error bounds, or exactly. See
docs/adr/0040-exact-signs-on-slices.md.

A batch that outgrows its share of memory is halved, and the first half goes through all stages before the second one
goes on. So cells get finished from the start, and what is finished when a limit or an interrupt ends the run is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polyfold import _core as core
from polyfold.domain.domain import Domain
from polyfold.engine.run import Leave
from polyfold.engine.slices.batch import Batch, Decided, OpenStage
from polyfold.engine.slices.cells import Pieces, Tally, assembled, measures, pieces
from polyfold.engine.slices.exact import ExactSlice, PausedError, in_units
from polyfold.engine.slices.settle import Doubts, signs_of
from polyfold.engine.slices.start import first_batch, units
from polyfold.engine.slices.switches import StageSwitches, jets_of, switches_of
from polyfold.engine.slices.witnesses import exact_witnesses
from polyfold.program.passes.bounded_jets import BoundedJets, affine_of, passed_on
from polyfold.program.passes.bounded_rows import last_readers
from polyfold.program.program import Program

# Floats that a batch may hold: 16 MB, much more would leave the processor's cache. Some ten halves wait while one
# goes on.
_BATCH_FLOATS = 1 << 21
# Cells of an open stage share what they hold but for their corners, some forty floats.
_CELL_FLOATS = 32


def find_slice_cells(
    program: Program, domain: Domain, max_cells: int, leave: Leave, *, pools: bool = False
) -> dict[str, Any]:
    """All cells, as the arrays of an atlas; with "doubts", and lengths or areas, "measures", of "whole".

    With `pools` those of the function: pools are switches of k ways.
    """
    search = SliceSearch(program, domain, max_cells, pools=pools)
    search.go_on(leave)
    return search.arrays()


class SliceSearch:
    """A search that can pause: `go_on` until there are enough cells, look at `arrays`, go on."""

    def __init__(self, program: Program, domain: Domain, max_cells: int, *, pools: bool = False) -> None:
        self._run = _Run(program, domain, pools)
        self._batches = self._run.batches()
        self._dim, self._max_cells = domain.dim, max_cells
        self._finished: list[Pieces] = []
        self._cells = 0
        self.complete = False

    def go_on(self, leave: Leave, enough: int = -1) -> None:
        """Search until all cells are found, or `enough` of them (if that is not negative), or a limit is reached."""
        most, run = self._max_cells, self._run
        run.exact.may_go_on = lambda: leave.keep_going(self._cells)
        for batch in self._batches:
            if batch is not None:
                self._finished.append(pieces(run.unit, batch))
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
        found = assembled(run.program, run.switches.walls, self._dim, self._finished, self._max_cells)
        return {
            **found,
            **exact_witnesses(run.exact, found),
            "complete": self.complete,
            "doubts": run.doubts,
            "exact": run.exact,
            "whole": run.whole,
        }


@dataclass(frozen=True)
class SliceCount:
    """How many cells there are, whether these are all, what was noted on the way, and the whole domain's measure."""

    cells: int
    complete: bool
    doubts: Doubts
    tally: Tally
    whole: float


def count_slice_cells(program: Program, domain: Domain, leave: Leave, *, pools: bool = False) -> SliceCount:
    """How many cells there are."""
    run, tally = _Run(program, domain, pools), Tally()
    run.exact.may_go_on = lambda: leave.keep_going(tally.cells)
    for batch in run.batches():
        if batch is not None:
            tally.add(pieces(run.unit, batch), len(run.switches.walls))
        if not leave.keep_going(tally.cells):
            break
    return SliceCount(tally.cells, not run.waiting, run.doubts, tally, run.whole)


class _Run:
    """The batches of one run, the next one on top."""

    def __init__(self, program: Program, domain: Domain, pools: bool) -> None:
        self.program = program
        self.unit = units(domain)
        self.doubts = Doubts()
        self.switches = switches_of(program, pools=pools)
        self.exact = ExactSlice(program, domain, switches=self.switches)
        self.steps = program.steps.steps
        self.last_reader = last_readers(program)
        self.waiting = [first_batch(domain, self.unit, len(self.switches.walls))]
        self.whole = float(measures(self.waiting[0]).sum())

    def batches(self) -> Iterator[Batch | None]:
        """Batches that have passed all stages, and None in between, for a look at the clock."""
        while self.waiting:
            batch = self.waiting.pop()
            if batch.step == len(self.steps):
                yield batch
                continue
            if len(batch.cells) > self._most_cells(batch) and len(batch.cells) > 1:
                self.waiting += reversed(batch.halves())
                continue
            try:
                self.waiting.append(self._step(batch))
            except PausedError:
                self.waiting.append(batch)
            yield None

    @np.errstate(over="ignore", invalid="ignore")
    def _step(self, batch: Batch) -> Batch:
        """A step without gates; or some more gates of the current stage, or the end of it."""
        step = self.steps[batch.step]
        if batch.open_stage is None:
            z = affine_of(step.affine, batch.sources, len(batch.cells), batch.points.shape[1])
            if step.stage is None:
                return replace(batch, step=batch.step + 1, sources=self._still_read(batch, z))
            columns = jets_of(self.program, self.switches.stages[step.stage], batch.step, dict(batch.sources), z)
            batch = replace(batch, open_stage=OpenStage(z, columns, 0))
        assert step.stage is not None and batch.open_stage is not None
        width = self.switches.stages[step.stage].width
        if batch.open_stage.next_gate < width:
            batch = self._cut(batch, batch.open_stage, step.stage)
        assert batch.open_stage is not None
        if batch.open_stage.next_gate < width or len(batch.cells) > self._most_cells(batch):
            return batch
        return self._leave(batch, batch.open_stage.z, step.stage)

    def _cut(self, batch: Batch, gates: OpenStage, stage: int) -> Batch:
        cells, columns, switches = batch.cells, gates.columns, self.switches.stages[stage]
        walls, first = self.switches.walls, switches.first_wall
        signs = signs_of(batch, gates, switches, self.exact, self.doubts)
        patterns: dict[int, Any] = {}

        def pattern(cell: int) -> Any:
            if cell not in patterns:
                patterns.clear()
                patterns[cell] = batch.signs(np.array([cell]))[0]
            return patterns[cell]

        def exact_sign(cell: int, wall: int, other: int, gate: int) -> int:
            return int(self.exact.sign(wall, other, pattern(cell), gate))

        def exact_place(cell: int, wall: int, other: int) -> tuple[float, ...] | None:
            place = self.exact.place(wall, other, pattern(cell))
            return None if place is None else in_units(place, self.unit)

        found = core.cut_slice(
            start=cells.start,
            vertex=cells.vertex,
            wall=cells.wall,
            form=cells.form,
            form_error=cells.form_error,
            point=batch.points,
            off=batch.off,
            name=batch.names,
            row=batch.rows,
            value=columns.values,
            error=columns.errors,
            scale=columns.scale,
            sign=signs,
            pool_first=switches.pools.first,
            pool_members=switches.pools.members,
            first_wall=first,
            first_gate=gates.next_gate,
            most_new=max(64, _BATCH_FLOATS // _CELL_FLOATS),
            exact_sign=exact_sign,
            exact_place=exact_place,
        )
        self.doubts.near_zero += found["asked"]
        self.doubts.exact += found["asked"]
        self.doubts.crooked += found["inconsistent"]
        self.doubts.leave_open(walls.gate[found["open"].astype(np.int64) + first])
        return batch.cut(found, gates, first, self._decided(switches, gates.next_gate, stage, found))

    def _decided(self, switches: StageSwitches, first: int, stage: int, found: dict[str, Any]) -> Iterator[Decided]:
        """What a cut by columns of a stage, `first` and those behind it, has decided."""
        plain, pools = switches.plain.gate, switches.pools
        last = min(int(found["next_gate"]), len(plain))
        if first < last:
            yield Decided(self.program.first_gate[stage] + plain[first:last], found["pattern"], found["vanishing"])
        winner = found["winner"].astype(np.int64)
        if winner.shape[1]:
            before = int(np.searchsorted(pools.first, first))
            numbers, on = pools.decided(slice(before, before + winner.shape[1]), winner)
            packed = np.packbits(on, axis=1, bitorder="little")
            yield Decided(numbers, packed, np.zeros_like(packed))

    def _leave(self, batch: Batch, z: BoundedJets, stage: int) -> Batch:
        """With what the stage puts out on every cell."""
        # Nothing is made of the last stage's gates: outputs are not asked for here.
        new = None
        if self.last_reader[batch.step + 1] > batch.step:
            on, vanishing = batch.decided_of(self.program.gates_of(stage))
            new = passed_on(self.program.stages[stage], z, batch.rows, on, vanishing)
        sources = {k: value.take(batch.rows) for k, value in self._still_read(batch).items()}
        return replace(
            batch,
            step=batch.step + 1,
            rows=np.arange(len(batch.cells)),
            sources=sources if new is None else {**sources, batch.step + 1: new},
            open_stage=None,
        )

    def _still_read(self, batch: Batch, new: BoundedJets | None = None) -> dict[int, BoundedJets]:
        """The values that some step behind this one reads, with the one that it puts out."""
        values = batch.sources if new is None else {**batch.sources, batch.step + 1: new}
        return {k: value for k, value in values.items() if self.last_reader[k] > batch.step}

    def _most_cells(self, batch: Batch) -> int:
        """How many cells a batch may have, by what each of them holds in this stage."""
        widths = sum(source.values.shape[2] for source in batch.sources.values())
        rows = 1 + batch.points.shape[1]
        stage = self.steps[batch.step].stage
        columns = 0 if stage is None else self.switches.stages[stage].width
        width = max(columns, len(self.steps[batch.step].affine.bias))
        most: int = max(16, _BATCH_FLOATS // (rows * (8 + widths + 2 * width)))
        return most
