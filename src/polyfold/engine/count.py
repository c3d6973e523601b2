"""count: how many cells and faces a network has on a domain, without keeping any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polyfold.atlas.domain import Domain, DomainLike, resolve_domain
from polyfold.atlas.generators import count_faces
from polyfold.engine.method import as_method_takes_it, count_cells
from polyfold.engine.progress import reporter
from polyfold.engine.watch import check_seconds, thread_count, watched
from polyfold.errors import PolyfoldError
from polyfold.network.html_table import InNotebooks
from polyfold.network.load import load
from polyfold.program.lower import lower
from polyfold.program.program import Program


@dataclass(frozen=True)
class Count(InNotebooks):
    """Numbers of cells and faces. `complete` is False where a limit or an interrupt stopped the count."""

    cells: int
    complete: bool
    method: str
    seconds: float
    threads: int
    stopped_by: str | None
    program: Program = field(repr=False)
    domain: Domain = field(repr=False)

    @cached_property
    def f_vector(self) -> tuple[int, ...]:
        """Numbers of faces of dimension 0, 1, ..., d, each counted once; the last one is `cells`.

        Unbounded faces count, faces at infinity do not. Counted when first asked for: cells are then walked through
        one by one, with about 3^d faces each.
        """
        if not self.complete:
            raise PolyfoldError("the faces of what was not counted to its end cannot be counted: count without limits")
        return count_faces(self.program, self.domain, self.threads)


def count(
    network: Any,
    domain: DomainLike = None,
    *,
    progress: bool | Callable[[int], None] = False,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> Count:
    """How many cells a network has on a domain, several times faster than `pf.unfold` and in next to no memory.

    Cells of the last layer are not even made: the sections that the layer's folds make of the cells before it are
    counted, of which there are far fewer. Options are those of `pf.unfold`.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.count(corner, pf.box(-1, 1))
    >>> found.cells, found.f_vector
    (4, (9, 12, 4))
    """
    lowered = network if isinstance(network, Program) else lower(load(network))
    where = resolve_domain(domain, lowered.input_dim)
    program = as_method_takes_it(lowered, where)
    check_seconds(max_seconds)
    workers = thread_count(threads)
    with reporter(progress) as report:
        run = watched(lambda leave: count_cells(program, where, workers, leave), where, max_seconds, report)
    (cells, complete), method = run.result
    stopped_by = None if complete else run.stopped_by
    return Count(cells, complete, method, run.seconds, workers, stopped_by, program, where)
