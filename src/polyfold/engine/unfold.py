"""unfold: a network on a domain, as its atlas."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from polyfold._base.clock import INTERRUPT, interrupts_noted, running
from polyfold._base.progress import reporter
from polyfold._core import FoundCells, GivenUp
from polyfold.atlas.atlas import Atlas, atlas_found
from polyfold.atlas.certificate import Certificate
from polyfold.atlas.deferred_arrays import DeferredAtlas
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.engine.method import VERTICES, Cells, as_method_takes_it, find_cells
from polyfold.engine.proof.check import quick_checks
from polyfold.engine.run import Leave, Watched, check_seconds, thread_count, watched, whole_number
from polyfold.engine.slices.checks import check_decided, check_sum
from polyfold.engine.source import as_program, own_domain
from polyfold.program.program import Program

_ARRAYS = ("patterns", "witnesses", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


def unfold(
    network: Any,
    domain: DomainLike = None,
    *,
    progress: bool | Callable[[int], None] = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> Atlas:
    """Every cell of a network on a domain, exactly.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    domain: None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`, `pf.line`, `pf.plane`.
    progress: True for a progress line on standard error, or a function that is called with the number of cells so far.
    max_cells, max_seconds: stop there; the atlas then says that it is incomplete. So does an interrupt (Ctrl-C).
        The cells found are then put together when they are first asked for, about half a second a million.
        `pf.resume` goes on from there.
    threads: how many to use; None for one a processor. The result does not depend on it.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> len(pf.unfold(corner))
    4
    """
    lowered = as_program(network)
    where = resolve_domain(domain, lowered.input_dim)
    program = as_method_takes_it(lowered, where)
    return unfold_program(program, where, progress, max_cells, max_seconds, threads)


def as_atlas(source: Any, domain: DomainLike = None, *, threads: int | None = None) -> Atlas:
    """An atlas as it is; anything else is unfolded on the domain, in the time that the running clock leaves."""
    if isinstance(source, Atlas):
        own_domain(source, domain)
        return source
    left = running().left
    atlas = unfold(source, domain, max_seconds=None if left == inf else left, threads=threads)
    if not atlas.complete:
        # Nobody but the question has these cells, so that nothing is kept of them.
        if atlas.certificate.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        running().check()
    return atlas


def unfold_program(
    program: Program,
    where: Domain,
    progress: bool | Callable[[int], None] = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    *,
    by_vertices: bool | None = None,
) -> Atlas:
    """The same for a program; `by_vertices` overrules `method.py` on lines and planes, to compare both ways."""
    check_seconds(max_seconds)
    limit = -1 if max_cells is None else whole_number("max_cells", max_cells, np.iinfo(np.int32).max)
    workers = thread_count(threads)
    with reporter(progress) as report:

        def search(leave: Leave) -> tuple[Cells, str]:
            cells, method = find_cells(program, where, workers, limit, leave, by_vertices=by_vertices)
            return put_together(cells, limit, leave), method

        run = watched(search, where, max_seconds, report)
    cells, method = run.result
    left = None if max_seconds is None else max_seconds - run.seconds
    return atlas_of(cells, program, where, method, run, workers, seconds_left=left)


def put_together(cells: Cells, max_cells: int, leave: Leave) -> Cells:
    """The arrays of cells that were found, unless somebody waits: then the cells as they are, for later."""
    if isinstance(cells, dict):
        return cells
    # With a limit only cells that are put together tell whether all of them were kept.
    can_wait = max_cells < 0 or not cells.complete

    def wanted() -> bool:
        return not (can_wait and leave.in_a_hurry())

    try:
        return cells.put_together(wanted) if wanted() else cells
    except GivenUp:
        return cells


def atlas_of(
    cells: Cells,
    program: Program,
    where: Domain,
    method: str,
    run: Watched[Any],
    workers: int,
    seconds_before: float = 0.0,
    seconds_left: float | None = None,
) -> Atlas:
    """What the engine found, looked over if it is everything; exact proofs of checks may take the seconds left."""
    complete = bool(cells["complete"]) if isinstance(cells, dict) else cells.complete
    certificate = Certificate(
        level="counted",
        complete=complete,
        method=method,
        seconds=run.seconds + seconds_before,
        threads=workers,
        network_digest=program.digest,
        head=str(program.head or ""),
        domain_digest=where.digest,
        stopped_by=None if complete else run.stopped_by or "max_cells",
    )
    if not isinstance(cells, dict):
        return DeferredAtlas.of(program, where, certificate, lambda: _fields(_put_together_later(cells)))
    atlas = atlas_found(program, where, certificate, _fields(cells))
    if not complete:
        return atlas
    if method != VERTICES:
        return quick_checks(atlas)
    exact, end = cells["exact"], None if seconds_left is None else time.perf_counter() + seconds_left
    exact.may_go_on = lambda: end is None or time.perf_counter() < end
    more = (check_decided(program, cells["doubts"]), check_sum(float(cells["measures"].sum()), cells["whole"]))
    return quick_checks(atlas, *more, exact=exact)


def _fields(arrays: dict[str, Any]) -> dict[str, Any]:
    """The fields of an atlas in the core's arrays."""
    return {name: arrays[name] for name in _ARRAYS} | {
        "bounded": arrays["bounded"].astype(bool),
        "exact_witnesses": {cell: _witness(numbers) for cell, numbers in arrays["exact_witnesses"]},
    }


def _put_together_later(cells: FoundCells) -> dict[str, Any]:
    """The arrays, for somebody who now asks for them; an interrupt leaves the cells as they are."""
    interrupts: list[None] = []
    try:
        with interrupts_noted(lambda: interrupts.append(None)):
            return cells.put_together(lambda: not interrupts)
    except GivenUp:
        raise KeyboardInterrupt from None


def _witness(homogeneous: list[str]) -> tuple[Fraction, ...]:
    *numerators, denominator = (int(number, 16) for number in homogeneous)
    return tuple(Fraction(n, denominator) for n in numerators)
