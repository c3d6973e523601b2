"""resume: go on with a run that was stopped."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from polyfold import _core as core
from polyfold._base.clock import OutOfTimeError, Report, tick
from polyfold._base.options import cell_limit, thread_count
from polyfold._base.question import question
from polyfold._base.when_read import replaced
from polyfold.atlas.atlas import Atlas, vouched
from polyfold.atlas.certificate import CHANGED
from polyfold.atlas.core_problem import core_problem
from polyfold.atlas.in_few_coordinates import in_few_coordinates
from polyfold.domain.points import bounded_lift, jets_around
from polyfold.engine.lifted_cells import LiftedCells
from polyfold.engine.method import GENERATORS, PROGRAMS, Cells
from polyfold.engine.run import Leave, watched
from polyfold.engine.unfold import atlas_of, put_together, unfold_program
from polyfold.errors import PolyfoldError
from polyfold.program.derive.few_coordinates import few_coordinates
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.rationals import RationalProgram

_CHUNK = 1 << 12


@question("resume")
def resume(
    source: Atlas,
    *,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Atlas:
    """Go on with an unfolding that a limit or an interrupt has stopped, even one that was saved in between.

    What is there already is not found again: whole branches of the walk in which no cell is missing are passed over.
    The result is the same as if nothing had been stopped, in the same order.

    Parameters
    ----------
    source : Atlas
        An incomplete result of `pf.unfold` or of this function; one that is complete is returned as it is.
    max_cells : int, optional
        Stop after so many more cells.
    max_seconds : float, optional
        Stop after so long; so does an interrupt (Ctrl-C).
    threads : int, optional
        How many to use (default: one per CPU). The result does not depend on it.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Atlas
        The cells of `source` and those that were found now.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> network = [(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]
    >>> part = pf.unfold(network, max_cells=2)
    >>> len(part), part.complete
    (2, False)
    >>> len(pf.resume(part))
    6
    """
    if not isinstance(source, Atlas):
        raise PolyfoldError(f"{type(source).__name__} is no atlas: give what pf.unfold or pf.open returned")
    return resumed(source, max_cells=max_cells, threads=threads)


def resumed(atlas: Atlas, *, max_cells: int | None = None, threads: int | None = None) -> Atlas:
    """The same under the clock that is running."""
    limit = cell_limit(max_cells) or -1
    workers = thread_count(threads)
    if atlas.complete:
        return atlas
    _check_resumable(atlas)
    method, program, where = atlas.certificate.method, atlas.program, atlas.domain
    if not len(atlas):
        return unfold_program(program, where, max_cells=max_cells, threads=threads)

    def go_on(leave: Leave) -> Cells:
        def keep_going(cells: int) -> bool:
            return leave.keep_going(len(atlas) + cells)

        seen = in_few_coordinates(atlas)
        problem = core_problem(seen.program, seen.domain)
        known = _known_cells(seen, problem, workers)
        found = core.find_cells(problem, method == PROGRAMS, workers, limit, keep_going, known)
        cells = found if seen is atlas else LiftedCells(found, few_coordinates(program, where))
        return put_together(cells, limit, leave)

    try:
        run = watched(go_on, where)
    except OutOfTimeError as error:  # before the first new cell
        return vouched(atlas, replaced(atlas.certificate, stopped_by=error.stopped_by))
    return atlas_of(run.result, program, where, method, run, workers, atlas.certificate.seconds)


def _check_resumable(atlas: Atlas) -> None:
    certificate = atlas.certificate
    if certificate.method not in (GENERATORS, PROGRAMS):
        raise PolyfoldError(
            f"an atlas that was found by {certificate.method!r} cannot be resumed: only runs of pf.unfold over the "
            "whole domain can"
        )
    if certificate.stopped_by == CHANGED:
        raise PolyfoldError(
            "this atlas cannot be resumed: its arrays are not those that its certificate was made for; unfold anew, or "
            "prove them with pf.certify(atlas)"
        )
    digests = (certificate.network_digest, certificate.domain_digest)
    if digests != (atlas.program.digest, atlas.domain.digest):
        raise PolyfoldError("this atlas cannot be resumed: its certificate speaks of another network or domain")
    if core.count_disorder(np.ascontiguousarray(atlas.patterns)):
        raise PolyfoldError(
            "this atlas cannot be resumed: its cells are not in the order in which pf.unfold lists them"
        )


def _known_cells(atlas: Atlas, problem: core.Problem, threads: int) -> core.KnownCells:
    return core.KnownCells.of(
        problem,
        np.ascontiguousarray(atlas.patterns),
        np.ascontiguousarray(atlas.witnesses),
        np.ascontiguousarray(atlas.bounded, dtype=np.uint8),
        atlas.facet_start,
        atlas.facet_wall,
        atlas.neighbour,
        atlas.shared_facet,
        atlas.shared_wall,
        [(cell, _homogeneous(witness)) for cell, witness in sorted(atlas.exact_witnesses.items())],
        _vanishing_gates(atlas, problem, threads),
    )


def _homogeneous(point: tuple[Fraction, ...]) -> list[str]:
    """As the engine writes exact witnesses: integers in hexadecimal, the denominator last."""
    denominator = lcm(*(x.denominator for x in point))
    return [format(int(x * denominator), "x") for x in point] + [format(denominator, "x")]


def _vanishing_gates(atlas: Atlas, problem: core.Problem, threads: int) -> list[tuple[int, int]]:
    """(cell, gate) for all gates that are zero on a whole cell: on one that is not, they have a sign at the witness."""
    patterns, witnesses = np.ascontiguousarray(atlas.patterns), np.ascontiguousarray(atlas.witnesses)
    left = np.flatnonzero(core.prove_witnesses(problem, patterns, witnesses, threads) == 0)
    vanishing: list[tuple[int, int]] = []
    exact = RationalProgram(atlas.program)
    for first in range(0, len(left), _CHUNK):
        tick()
        cells = left[first : first + _CHUNK]
        passed = bounded_forward(atlas.program, bounded_lift(atlas.domain, atlas.witnesses[cells]))
        for i, cell in enumerate(cells.tolist()):
            # A witness that only rationals know has floats that may lie in another cell.
            if passed.certain[i].all() and cell not in atlas.exact_witnesses:
                gates = np.flatnonzero(passed.zero[i]).tolist()
            else:
                tick()
                lines = exact.forward(jets_around(atlas.domain, atlas.rational_witness(cell))).preactivations
                gates = [gate for gate, line in enumerate(lines) if not any(line)]
            vanishing += [(cell, gate) for gate in gates]
    return vanishing
