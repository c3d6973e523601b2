"""unfold: a network on a domain, as its atlas."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate
from polyfold.atlas.domain import Domain, DomainLike, resolve_domain
from polyfold.atlas.problem import core_problem
from polyfold.core import FlatDomain, TooLarge
from polyfold.engine.check import quick_checks
from polyfold.engine.interrupts import interrupts_noted
from polyfold.engine.method import find_cells
from polyfold.engine.progress import Progress, reporter
from polyfold.errors import DomainError, LimitError
from polyfold.network.load import load
from polyfold.program.lower import lower
from polyfold.program.program import Program

MOST_THREADS = 1024


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
    domain: None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`.
    progress: True for a progress line on standard error, or a function that is called with the number of cells so far.
    max_cells, max_seconds: stop there; the atlas then says that it is incomplete. So does an interrupt (Ctrl-C).
    threads: how many to use; None for one a processor. The result does not depend on it.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> len(pf.unfold(corner))
    4
    """
    program = network if isinstance(network, Program) else lower(load(network))
    where = resolve_domain(domain, program.input_dim)
    limit = _limit(max_cells, max_seconds)
    workers = worker_threads(threads)
    with reporter(progress) as report:
        return _run(program, where, limit, max_seconds, workers, report)


def _run(
    program: Program,
    domain: Domain,
    max_cells: int,
    max_seconds: float | None,
    threads: int,
    report: Progress,
) -> Atlas:
    started = time.perf_counter()
    stopped_by: list[str] = []
    raised: list[BaseException] = []

    def keep_going(cells: int) -> bool:
        # Called from the engine now and then, in this thread. Nothing may be raised into the engine.
        try:
            report(cells)
            if max_seconds is not None and time.perf_counter() - started > max_seconds:
                stopped_by.append("max_seconds")
        except KeyboardInterrupt:
            stopped_by.append("interrupt")
        except BaseException as error:
            raised.append(error)
        return not stopped_by and not raised

    try:
        with interrupts_noted(lambda: stopped_by.append("interrupt")):
            found, method = find_cells(core_problem(program, domain), domain, threads, max_cells, keep_going)
    except FlatDomain as error:
        reason = "is empty" if str(error) == "empty" else "has no interior: its cells would all be flat"
        raise DomainError(f"the domain, {domain.describe()}, {reason}") from None
    except TooLarge as error:
        raise LimitError(str(error)) from None
    if raised:
        raise raised[0]
    complete = bool(found["complete"])
    atlas = Atlas(
        program=program,
        domain=domain,
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
            seconds=time.perf_counter() - started,
            threads=threads,
            network_digest=program.digest,
            domain_digest=domain.digest,
            stopped_by=None if complete else (stopped_by[0] if stopped_by else "max_cells"),
        ),
    )
    return quick_checks(atlas) if complete else atlas


def _witness(homogeneous: list[str]) -> tuple[Fraction, ...]:
    *numerators, denominator = (int(number, 16) for number in homogeneous)
    return tuple(Fraction(n, denominator) for n in numerators)


def _limit(max_cells: int | None, max_seconds: float | None) -> int:
    if max_seconds is not None and not (isinstance(max_seconds, Real) and max_seconds > 0):
        raise LimitError(f"max_seconds={max_seconds!r} leaves no time: give a positive number or None")
    if max_cells is None:
        return -1
    return _whole_number("max_cells", max_cells, np.iinfo(np.int32).max)


def worker_threads(threads: int | None) -> int:
    """How many threads to use: those asked for, or one a processor."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _whole_number("threads", threads, MOST_THREADS)


def _whole_number(name: str, value: Any, most: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        raise LimitError(f"{name}={value!r} must be a whole number between 1 and {most:,}, or None")
    return int(value)
