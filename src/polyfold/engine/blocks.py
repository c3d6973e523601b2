"""unfold_in_blocks: the cells of a network while they are found, for somebody who looks on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold._base.progress import reporter
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.engine.method import VERTICES, as_method_takes_it
from polyfold.engine.resume import resume
from polyfold.engine.run import Leave, check_seconds, thread_count, watched, whole_number
from polyfold.engine.slices.run import SliceSearch
from polyfold.engine.unfold import atlas_of, unfold_program
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program

Ids = npt.NDArray[np.int64]

_MOST_CELLS = int(np.iinfo(np.int32).max)
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
    network: Any,
    domain: DomainLike = None,
    *,
    first: int = 1000,
    progress: bool | Callable[[int], None] = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> Iterator[Block]:
    """What `pf.unfold` finds, block by block. The last block's atlas is the result of `pf.unfold`.

    Blocks grow, up to as many cells as all before it together, since every pause costs a look at what was found
    before. If a limit stops the search, the last block's atlas is not complete, as that of `pf.unfold` is not.

    Parameters
    ----------
    first: how many cells the first block has.
    network, domain, progress, max_cells, max_seconds, threads: as in `pf.unfold`; the limits are those of the whole
        run. An interrupt (Ctrl-C) ends it with what was found.

    >>> import numpy as np, polyfold as pf
    >>> three = [(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]
    >>> [(len(block), block.atlas.complete) for block in pf.unfold_in_blocks(three, first=2)]
    [(2, False), (2, False), (2, True)]
    """
    lowered = network if isinstance(network, Program) else lower(load(network))
    where = resolve_domain(domain, lowered.input_dim)
    program = as_method_takes_it(lowered, where)
    step = whole_number("first", first, _MOST_CELLS)
    most = _MOST_CELLS if max_cells is None else whole_number("max_cells", max_cells, _MOST_CELLS)
    check_seconds(max_seconds)
    if beyond_core(program, where):
        return _by_vertices(program, where, step, max_cells, progress, max_seconds, threads)
    return _by_resuming(program, where, min(step, most), most, progress, max_seconds, threads)


def _by_resuming(
    program: Program,
    where: Domain,
    step: int,
    most: int,
    progress: bool | Callable[[int], None],
    max_seconds: float | None,
    threads: int | None,
) -> Iterator[Block]:
    """Stop the engine after some cells, look at them, and resume."""
    end = None if max_seconds is None else time.perf_counter() + max_seconds
    atlas = unfold_program(program, where, progress, step, max_seconds, threads)
    yield Block(atlas, np.arange(len(atlas)))
    while atlas.certificate.stopped_by == "max_cells" and len(atlas) < most:
        left = None if end is None else end - time.perf_counter()
        if left is not None and left <= 0:
            return
        before = atlas
        more = min(len(before), most - len(before))
        atlas = resume(before, progress=progress, max_cells=more, max_seconds=left, threads=threads)
        yield Block(atlas, _not_in(before, atlas))


def _by_vertices(
    program: Program,
    where: Domain,
    step: int,
    max_cells: int | None,
    progress: bool | Callable[[int], None],
    max_seconds: float | None,
    threads: int | None,
) -> Iterator[Block]:
    """Pause the search on a line or plane when some more batches have passed the network."""
    end = None if max_seconds is None else time.perf_counter() + max_seconds
    workers = thread_count(threads)
    search = SliceSearch(program, where, -1 if max_cells is None else max_cells)
    before, seconds, enough = None, 0.0, step
    while True:
        left = None if end is None else end - time.perf_counter()
        if left is not None and left <= 0:
            return

        def go_on(leave: Leave, enough: int = enough) -> dict[str, Any]:
            search.go_on(leave, enough)
            return search.arrays()

        with reporter(progress) as report:
            run = watched(go_on, where, left, report)
        left = None if end is None else end - time.perf_counter()
        atlas = atlas_of(run.result, program, where, VERTICES, run, workers, seconds, left)
        yield Block(atlas, np.arange(len(atlas)) if before is None else _not_in(before, atlas))
        if atlas.complete or run.stopped_by is not None or (max_cells is not None and len(atlas) >= max_cells):
            return
        before, seconds, enough = atlas, atlas.certificate.seconds, step + int(_GROWTH * len(atlas))


def _not_in(before: Atlas, after: Atlas) -> Ids:
    """The cells of an atlas that another one of the same network does not have."""
    return np.flatnonzero(before.index.find(after.patterns) < 0)
