"""unfold: a network on a domain, as its atlas."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate
from polyfold.atlas.domain import Domain, DomainLike, resolve_domain
from polyfold.engine.check import quick_checks
from polyfold.engine.method import VERTICES, as_method_takes_it, find_cells
from polyfold.engine.progress import reporter
from polyfold.engine.slice_checks import check_decided, check_sum
from polyfold.engine.watch import Watched, check_seconds, thread_count, watched, whole_number
from polyfold.network.load import load
from polyfold.program.lower import lower
from polyfold.program.program import Program


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
        The cells found are then put together, about half a second a million; another interrupt gives them up.
        `pf.resume` goes on from there.
    threads: how many to use; None for one a processor. The result does not depend on it.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> len(pf.unfold(corner))
    4
    """
    lowered = network if isinstance(network, Program) else lower(load(network))
    where = resolve_domain(domain, lowered.input_dim)
    program = as_method_takes_it(lowered, where)
    return unfold_program(program, where, progress, max_cells, max_seconds, threads)


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
        run = watched(
            lambda leave: find_cells(program, where, workers, limit, leave, by_vertices=by_vertices),
            where,
            max_seconds,
            report,
        )
    found, method = run.result
    return atlas_of(found, program, where, method, run, workers)


def atlas_of(
    found: dict[str, Any],
    program: Program,
    where: Domain,
    method: str,
    run: Watched[Any],
    workers: int,
    seconds_before: float = 0.0,
) -> Atlas:
    """What the engine found, looked over if it is everything."""
    complete = bool(found["complete"])
    atlas = Atlas(
        program=program,
        domain=where,
        patterns=found["patterns"],
        witnesses=found["witnesses"],
        bounded=found["bounded"].astype(bool),
        facet_start=found["facet_start"],
        facet_wall=found["facet_wall"],
        neighbour=found["neighbour"],
        shared_facet=found["shared_facet"],
        shared_wall=found["shared_wall"],
        exact_witnesses={cell: _witness(numbers) for cell, numbers in found["exact_witnesses"]},
        certificate=Certificate(
            level="counted",
            complete=complete,
            method=method,
            seconds=run.seconds + seconds_before,
            threads=workers,
            network_digest=program.digest,
            domain_digest=where.digest,
            stopped_by=None if complete else run.stopped_by or "max_cells",
        ),
    )
    if not complete:
        return atlas
    more = (
        (check_decided(atlas, found["corners"], found["doubts"]), check_sum(where, found["measure"]))
        if method == VERTICES
        else ()
    )
    return quick_checks(atlas, *more)


def _witness(homogeneous: list[str]) -> tuple[Fraction, ...]:
    *numerators, denominator = (int(number, 16) for number in homogeneous)
    return tuple(Fraction(n, denominator) for n in numerators)
