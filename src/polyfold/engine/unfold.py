"""unfold: a network on a domain, as its atlas."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from typing import Any

from polyfold._base.clock import INTERRUPT, Clock, Report, interrupts_noted, running, tick
from polyfold._base.options import cell_limit, thread_count
from polyfold._base.question import question
from polyfold._core import FoundCells, GivenUp
from polyfold.atlas.atlas import Atlas, atlas_found
from polyfold.atlas.certificate import Check, certificate_of
from polyfold.atlas.deferred_arrays import DeferredAtlas
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.lifted_cells import LiftedCells
from polyfold.engine.method import VERTICES, Cells, CellsOf, as_method_takes_it, find_cells, of_function
from polyfold.engine.none_yet import NoneYet, one_at_least
from polyfold.engine.proof.check import quick_checks
from polyfold.engine.run import Leave, Watched, watched
from polyfold.engine.slices.checks import check_decided, check_sum
from polyfold.engine.source import SourceLike, as_program_on, of_gates, own_domain, program_anywhere
from polyfold.errors import PolyfoldError
from polyfold.program.program import Program

_ARRAYS = ("patterns", "witnesses", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


@question("unfold")
def unfold(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    cells: CellsOf = "gates",
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Atlas:
    """Every cell of a network on a domain, exactly.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    domain : DomainLike, optional
        None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`, `pf.line`, `pf.plane`.
    cells : {"gates", "function"}
        Whether all gates cut; or, on lines and planes, a max-pool is one switch of k ways: a cell is where every ReLU
        has one state and every pool one winner, in whatever order the losers come.
    max_cells : int, optional
        Stop at so many cells; the atlas then says that it is incomplete, and `pf.resume` goes on from there.
    max_seconds : float, optional
        Stop after so long, in the same way; so does an interrupt (Ctrl-C). The cells found are then put together when
        they are first asked for, about half a second per million.
    threads : int, optional
        How many to use (default: one per CPU). The result does not depend on it.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Atlas
        All cells, with what is known of them: `atlas.certificate`.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> len(pf.unfold(corner))
    4
    """
    program, where = program_anywhere(source, domain)
    program = as_method_takes_it(program, where, cells)
    return unfold_program(program, where, max_cells=max_cells, threads=threads, cells_of=cells)


def as_atlas(
    source: SourceLike, domain: DomainLike = None, *, threads: int | None = None, any_cells: bool = False
) -> Atlas:
    """An atlas as it is; anything else is unfolded on the domain.

    An unfolding that the clock or an interrupt has stopped is no atlas to answer from: that is raised. Nor is one with
    cells of the function, unless the question takes `any_cells`.
    """
    if isinstance(source, Atlas):
        own_domain(source, domain)
        return source if any_cells else of_gates(source)
    program, where = as_program_on(source, domain)
    atlas = unfold_program(as_method_takes_it(program, where), where, threads=threads)
    if not atlas.complete:
        # Nobody but the question has these cells, so that nothing is kept of them.
        if atlas.certificate.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        tick()
    return atlas


def unfold_program(
    program: Program,
    where: Domain,
    *,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    by_vertices: bool | None = None,
    cells_of: CellsOf = "gates",
) -> Atlas:
    """The same for a program, under the clock that is running; with `max_seconds` it gets a share of the time.

    `by_vertices` overrules `method.py` on lines and planes, to compare both ways.
    """
    limit = cell_limit(max_cells) or -1
    workers = thread_count(threads)

    def search(leave: Leave) -> tuple[Cells, str, bool]:
        asked = NoneYet(leave, program, where)
        cells, method = find_cells(
            program, where, workers, limit, asked.leave, by_vertices=by_vertices, cells_of=cells_of
        )
        arrays = put_together(cells, limit, leave)
        # Progress is told now and then only: a few cells may have come without.
        return arrays, method, asked.found or (isinstance(arrays, dict) and len(arrays["patterns"]) > 0)

    with Clock(max_seconds) if max_seconds is not None else nullcontext():
        run = watched(search, where)
        cells, method, found = run.result
        # Where no gate is ever idle the two kinds of cells are the same.
        kind: CellsOf = "function" if of_function(program, where, cells_of) else "gates"
        is_there = () if found else one_at_least(program, where)
        return atlas_of(cells, program, where, method, run, workers, cells_of=kind, if_incomplete=is_there)


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
    *,
    cells_of: CellsOf = "gates",
    if_incomplete: tuple[Check, ...] = (),
) -> Atlas:
    """What the engine found, looked over if it is everything, as long as the clock allows."""
    complete = bool(cells["complete"]) if isinstance(cells, dict) else cells.complete
    certificate = certificate_of(
        program,
        where,
        level="counted",
        complete=complete,
        method=method,
        seconds=run.seconds + seconds_before,
        threads=workers,
        checks=() if complete else if_incomplete,
        stopped_by=None if complete else run.stopped_by or "max_cells",
    )
    if not isinstance(cells, dict):
        return DeferredAtlas.of(program, where, certificate, lambda: _fields(_put_together_later(cells)))
    atlas = atlas_found(program, where, certificate, _fields(cells) | {"cells_of": cells_of})
    if not complete:
        return atlas
    if method != VERTICES:
        return quick_checks(atlas)
    exact, clock = cells["exact"], running()
    exact.may_go_on = lambda: not clock.over
    more = (check_decided(program, cells["doubts"]), check_sum(float(cells["measures"].sum()), cells["whole"]))
    return quick_checks(atlas, *more, exact=exact)


def _fields(arrays: dict[str, Any]) -> dict[str, Any]:
    """The fields of an atlas in the core's arrays."""
    return {name: arrays[name] for name in _ARRAYS} | {
        "bounded": arrays["bounded"].astype(bool),
        "exact_witnesses": {cell: _witness(numbers) for cell, numbers in arrays["exact_witnesses"]},
    }


def _put_together_later(cells: FoundCells | LiftedCells) -> dict[str, Any]:
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


def complete_atlas(
    source: Any, domain: DomainLike, why: str, *, threads: int | None = None, max_cells: int | None = None
) -> Atlas:
    """An atlas as it is, or the cells of a source; `why` says what is wrong if some are missing.

    With `max_cells` one that has more is handed out as it is, for whoever knows what to say of that.
    """
    if isinstance(source, Atlas):
        own_domain(source, domain)
        atlas = of_gates(source)
    else:
        atlas = unfold(source, domain, max_seconds=running().limit, max_cells=max_cells, threads=threads)
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        tick()
        if max_cells is not None and atlas.certificate.stopped_by == "max_cells":
            return atlas
    if not atlas.complete:
        raise PolyfoldError(f"{why}, and {atlas.certificate.how_to_complete}")
    return atlas
