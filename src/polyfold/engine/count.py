"""count: how many cells and faces a network has on a domain, without keeping any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from polyfold._base.as_found import first_hand
from polyfold._base.clock import Report
from polyfold._base.evidence import Evidence
from polyfold._base.options import thread_count
from polyfold._base.question import question
from polyfold._base.result import Value
from polyfold._base.when_read import replaced
from polyfold.atlas.certificate import Certificate, believed, certificate_of, sealed
from polyfold.atlas.core_problem import beyond_core
from polyfold.atlas.geometry.generators import count_faces
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.method import CellsOf, Counted, as_method_takes_it, count_cells, of_function
from polyfold.engine.none_yet import NoneYet, one_at_least
from polyfold.engine.run import Leave, watched
from polyfold.engine.source import SourceLike, program_anywhere
from polyfold.engine.unfold import unfold_program
from polyfold.errors import PolyfoldError, how_many
from polyfold.network.head import head_json
from polyfold.program.program import Program


@dataclass(frozen=True, repr=False)
class Count(Value):
    """Numbers of cells and faces. `complete` is False where a limit or an interrupt stopped the count: then there are
    at least so many cells.

    `certificate` says what is known of the number, in the words of an atlas's: "counted" (the engine came to its end,
    or was stopped), or "checked" (and checks that would fail on a wrong number have passed). Which checks there are
    depends on the method; see docs/unfold.md. The evidence, what stopped the count and how long it took are those of
    the certificate; `int(count)` and `float(count)` are the number of cells.
    """

    cells: int
    certificate: Certificate
    program: Program
    domain: Domain
    cells_of: CellsOf = "gates"

    def __post_init__(self) -> None:
        said = believed(self.certificate, self.program.digest, self.domain, lambda: _counted(self.cells))
        object.__setattr__(self, "certificate", said)

    def __repr__(self) -> str:
        return f"Count({'' if self.complete else 'at least '}{how_many(self.cells, 'cell')}: {self.certificate})"

    @property
    def value(self) -> int:
        """The number of cells."""
        return self.cells

    def __int__(self) -> int:
        return self.cells

    @property
    def evidence(self) -> Evidence:
        """What is known of the number."""
        return first_hand(replaced(self.certificate.evidence, domain=self.domain))

    @property
    def complete(self) -> bool:
        return self.certificate.complete

    @property
    def method(self) -> str:
        return self.certificate.method

    @property
    def seconds(self) -> float:
        return self.certificate.seconds

    @property
    def threads(self) -> int:
        return self.certificate.threads

    @property
    def stopped_by(self) -> str | None:
        return self.certificate.stopped_by

    def facts(self) -> dict[str, Any]:
        """The number and its certificate; without faces, which take their time."""
        certificate = self.certificate
        return {
            "cells": self.cells,
            "cells_of": self.cells_of,
            "certificate": certificate.level,
            "of": certificate.of,
            "recorded": certificate.source,
            "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in certificate.checks],
            "method": certificate.method,
            "threads": certificate.threads,
            "head": head_json(self.program.head),
            "network_digest": certificate.network_digest,
            "domain_digest": certificate.domain_digest,
        }

    @cached_property
    def f_vector(self) -> tuple[int, ...]:
        """Numbers of faces of dimension 0, 1, ..., d, each counted once; the last one is `cells`.

        Unbounded faces count, faces at infinity do not. Counted when first asked for: cells are then walked through
        one by one, with about 3^d faces each.
        """
        if not self.complete:
            raise PolyfoldError("the faces of what was not counted to its end cannot be counted: count without limits")
        if self.cells_of == "function" or beyond_core(self.program, self.domain):
            return unfold_program(self.program, self.domain, cells_of=self.cells_of).f_vector()
        return count_faces(self.program, self.domain, self.threads)


@question("count")
def count(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    cells: CellsOf = "gates",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Count:
    """How many cells a network has on a domain, several times faster than `pf.unfold` and in next to no memory.

    Cells of the last layer are not even made: the sections that the layer's folds make of the cells before it are
    counted, of which there are far fewer.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    domain : DomainLike, optional
        None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`, `pf.line`, `pf.plane`.
    cells : {"gates", "function"}
        Which cells, as in `pf.unfold`: with "function" a max-pool is one switch of k ways, on lines and planes.
    max_seconds : float, optional
        Stop after so long, with the cells counted so far; so does an interrupt (Ctrl-C).
    threads : int, optional
        How many to use (default: one per CPU). The result does not depend on it.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Count
        The number of cells, `count.cells`, and what is known of it, `count.certificate`.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.count(corner, pf.box(-1, 1))
    >>> found.cells, found.f_vector, found.certificate.level
    (4, (9, 12, 4), 'checked')
    """
    lowered, where = program_anywhere(source, domain)
    program = as_method_takes_it(lowered, where, cells)
    workers = thread_count(threads)

    def search(leave: Leave) -> Counted:
        return count_cells(program, where, workers, NoneYet(leave, program, where).leave, cells_of=cells)

    run = watched(search, where)
    counted = run.result
    if not counted.complete and not counted.cells:
        checks = one_at_least(program, where)
        counted = replace(counted, cells=len(checks), checks=checks)
    passed = bool(counted.checks) and all(check.passed for check in counted.checks)
    certificate = certificate_of(
        program,
        where,
        level="checked" if passed and counted.complete else "counted",
        complete=counted.complete,
        method=counted.method,
        seconds=run.seconds,
        threads=workers,
        checks=counted.checks,
        stopped_by=None if counted.complete else run.stopped_by,
    )
    kind: CellsOf = "function" if of_function(program, where, cells) else "gates"
    return first_hand(Count(counted.cells, sealed(certificate, program, _counted(counted.cells)), program, where, kind))


def _counted(cells: int) -> str:
    """What a certificate of a count is tied to, in place of arrays."""
    return how_many(cells, "cell")
