"""unfold_in_blocks: the cells of a network while they are found, for somebody who looks on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import Clock, Report
from polyfold._base.notebook import InNotebooks
from polyfold._base.options import MOST_CELLS, cell_limit, thread_count, whole_number
from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.method import VERTICES, as_method_takes_it
from polyfold.engine.resume import resumed
from polyfold.engine.run import Leave, watched
from polyfold.engine.slices.run import SliceSearch
from polyfold.engine.source import SourceLike, program_anywhere
from polyfold.engine.unfold import atlas_of, unfold_program
from polyfold.program.program import Program

Timed = Callable[[Callable[[], Atlas]], Atlas]

# Where a pause only costs that arrays are put together, blocks grow by less.
_GROWTH = 1.25


@dataclass(frozen=True, eq=False)
class Block(InNotebooks):
    """Cells that were found since the last block: numbers `new` of `atlas`, which holds all that were found so far.

    Cells that come later may stand before these, so a cell's number can grow from block to block. In the last block's
    atlas it is what it is in the atlas of `pf.unfold`.
    """

    atlas: Atlas
    new: Ids

    def __len__(self) -> int:
        return len(self.new)


def unfold_in_blocks(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    first: int = 1000,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Iterator[Block]:
    """What `pf.unfold` finds, block by block. The last block's atlas is the result of `pf.unfold`.

    Blocks grow, up to as many cells as all before it together, since every pause costs a look at what was found
    before. If a limit stops the search, the last block's atlas is not complete, as that of `pf.unfold` is not.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    domain : DomainLike, optional
        None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`, `pf.line`, `pf.plane`.
    first : int
        How many cells the first block has.
    max_cells : int, optional
        Stop at so many cells of the whole run.
    max_seconds : float, optional
        Stop after so long, counted from the first block that is asked for to the end of the whole run, with the time
        that is spent on the blocks in between. An interrupt (Ctrl-C) ends it with what was found.
    threads : int, optional
        How many to use (default: one per CPU). The result does not depend on it.
    progress : bool or callable
        True for a line on standard error while a block is made, or a function that is called with `Progress` events.

    Returns
    -------
    iterator of Block
        The cells that were found since the last block, and the atlas of all that were found so far.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> three = [(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]
    >>> [(len(block), block.atlas.complete) for block in pf.unfold_in_blocks(three, first=2)]
    [(2, False), (2, False), (2, True)]
    """
    lowered, where = program_anywhere(source, domain)
    program = as_method_takes_it(lowered, where)
    step = whole_number("first", first, MOST_CELLS)
    most = cell_limit(max_cells)
    whole = Clock(max_seconds)  # refuses a limit that leaves no time at once
    thread_count(threads)

    def timed(make: Callable[[], Atlas]) -> Atlas:
        """What is made within the time that is left to the whole run."""
        with Clock(None if max_seconds is None else whole.left, progress):
            return make()

    def blocks() -> Iterator[Block]:
        nonlocal whole
        whole = Clock(max_seconds)
        by = _by_vertices if beyond_core(program, where) else _by_resuming
        for block in by(program, where, step, most, threads, timed):
            yield block
            if whole.over:
                return

    return blocks()


def _by_resuming(
    program: Program, where: Domain, step: int, max_cells: int | None, threads: int | None, timed: Timed
) -> Iterator[Block]:
    """Stop the engine after some cells, look at them, and resume."""
    most = MOST_CELLS if max_cells is None else max_cells
    atlas = timed(lambda: unfold_program(program, where, max_cells=min(step, most), threads=threads))
    yield Block(atlas, np.arange(len(atlas)))
    while atlas.certificate.stopped_by == "max_cells" and len(atlas) < most:
        before = atlas
        atlas = timed(lambda: resumed(before, max_cells=min(len(before), most - len(before)), threads=threads))  # noqa: B023  # called at once
        yield Block(atlas, _not_in(before, atlas))


def _by_vertices(
    program: Program, where: Domain, step: int, max_cells: int | None, threads: int | None, timed: Timed
) -> Iterator[Block]:
    """Pause the search on a line or plane when some more batches have passed the network."""
    workers = thread_count(threads)
    search = SliceSearch(program, where, -1 if max_cells is None else max_cells)
    before, seconds, enough = None, 0.0, step

    def go_on(leave: Leave) -> dict[str, Any]:
        search.go_on(leave, enough)
        return search.arrays()

    def more() -> Atlas:
        run = watched(go_on, where)
        return atlas_of(run.result, program, where, VERTICES, run, workers, seconds)

    while True:
        atlas = timed(more)
        yield Block(atlas, np.arange(len(atlas)) if before is None else _not_in(before, atlas))
        paused = atlas.stopped_by == "max_cells"
        if atlas.complete or not paused or (max_cells is not None and len(atlas) >= max_cells):
            return
        before, seconds, enough = atlas, atlas.certificate.seconds, step + int(_GROWTH * len(atlas))


def _not_in(before: Atlas, after: Atlas) -> Ids:
    """The cells of an atlas that another one of the same network does not have."""
    return np.flatnonzero(before.index.find(after.patterns) < 0)
