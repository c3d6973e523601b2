"""certify: prove that an atlas is sound and complete, without trusting the engine that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.options import thread_count
from polyfold._base.question import question
from polyfold._base.types import Ids
from polyfold._base.when_read import replaced
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import CHANGED, SEEN, Certificate, Check, sealed
from polyfold.atlas.core_problem import core_problem
from polyfold.atlas.digest import arrays_digest
from polyfold.atlas.in_few_coordinates import in_few_coordinates
from polyfold.atlas.patterns import order_by_gate, pack
from polyfold.domain.domain import DomainLike
from polyfold.engine.proof.box_proof import box_proof
from polyfold.engine.proof.exact_proof import ExactProof, Fault, Kind
from polyfold.engine.run import watched
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import how_many

# With so many wrong cells somebody has seen enough.
_MOST_WRONG = 16
# So many of them are spelt out.
_MOST_NAMED = 4

_QUESTIONS: dict[Kind, str] = {
    "witness": "every cell exists: its witness is proved to lie inside",
    "facets": "the facets listed are all facets of their cells",
    "neighbour": "behind every facet lies the cell listed, or the domain's boundary",
    "bounded": "cells are marked as bounded where they are, and only there",
}

# What the core says of a cell that floats prove.
_BOUNDED, _UNBOUNDED = 1, 2


@question("certify")
def certify(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Certificate:
    """Prove that every cell of an atlas is one, and that none is missing.

    The proof looks at the network's coefficients, the domain, and the atlas's patterns, witnesses and facets, cell by
    cell: the witness lies strictly inside; the listed facets are facets, and all of them; behind each one lies the cell
    listed or the domain's boundary; the cell is bounded if it is marked so, and only then. Then the cells fill the
    domain, for it is connected and no way leads out of them.
    Floats with error bounds prove most cells, exact arithmetic the others: degenerate ones and very thin ones.

    Parameters
    ----------
    source : SourceLike
        An atlas; anything else is unfolded first.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    max_seconds : float, optional
        Stop after so long; a check then fails that says how many cells were left. An interrupt (Ctrl-C) leaves no
        certificate, for half a proof is none.
    threads : int, optional
        How many to use (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Certificate
        With level "certified". If something could not be proved the level is "counted", and the failed checks name the
        cell, the facet and the wall. `atlas.with_certificate(pf.certify(atlas))` keeps the answer.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
    >>> pf.certify(atlas).level
    'certified'
    """
    atlas = as_atlas(source, domain, threads=threads)
    workers = thread_count(threads)
    checks: list[Check] = []
    try:
        for look in (check_digests, check_whole, check_patterns):
            checks.append(look(atlas))
            tick()
        if all(check.passed for check in checks):
            checks += _prove_cells(atlas, workers)
    except OutOfTimeError:  # before the first cell
        checks.append(_stopped(len(atlas)))
    return _outcome(atlas, tuple(checks), workers)


def _outcome(atlas: Atlas, checks: tuple[Check, ...], workers: int) -> Certificate:
    """The certificate of a proof, or of what is missing from it. What was proved is complete, whoever made it."""
    if all(check.passed for check in checks):
        proved = replaced(atlas.certificate, level="certified", complete=True, stopped_by=None, checks=checks)
        return sealed(proved, atlas.program, arrays_digest(atlas, workers))
    failed = replaced(atlas.certificate, level="counted", checks=checks)
    if any(not check.passed and check.name != SEEN for check in checks):
        # A cell that is not one, or a way that leads nowhere: then the list is not all of the cells either.
        failed = replaced(failed, complete=False, stopped_by=failed.stopped_by or CHANGED)
    return sealed(failed, atlas.program, atlas.arrays_digest, recorded=atlas.certificate.source)


def check_digests(atlas: Atlas) -> Check:
    """The certificate speaks of this network and this domain: their coefficients are digested anew."""
    # A copy has not remembered any digest yet.
    found = {"network": replace(atlas.program).digest, "domain": atlas.domain.digest}
    claimed = {"network": atlas.certificate.network_digest, "domain": atlas.certificate.domain_digest}
    wrong = [
        f"the {name} has digest {found[name][:12]}, the certificate speaks of {claimed[name][:12]}"
        for name in found
        if found[name] != claimed[name]
    ]
    return Check(
        "the certificate speaks of this network and domain",
        not wrong,
        "; ".join(wrong) or ", ".join(f"{name} {digest[:12]}" for name, digest in found.items()),
    )


def check_whole(atlas: Atlas) -> Check:
    """There is a cell to start from, and no limit stopped the engine."""
    detail = how_many(len(atlas), "cell")
    if not len(atlas):
        detail = "no cell at all"
    elif atlas.certificate.cut_short:
        detail = f"incomplete, stopped by {atlas.certificate.stopped_by}: cells are missing, pf.resume finds them"
    return Check("the engine came to its end", not atlas.certificate.cut_short and len(atlas) > 0, detail)


def check_patterns(atlas: Atlas) -> Check:
    """No pattern is listed twice, not even with other bits behind the last gate."""
    ids = np.arange(len(atlas))
    detail = f"{len(atlas):,} patterns"
    odd = np.flatnonzero((pack(atlas.signs()) != atlas.patterns).any(axis=1))
    twice = np.flatnonzero(atlas.index.find(atlas.patterns) != ids) if atlas.index.repeated else odd[:0]
    if len(odd):
        detail = f"cell {odd[0]} has bits behind gate {atlas.gates - 1}"
    elif len(twice):
        detail = f"cell {twice[0]} has the pattern of cell {int(atlas.index.find(atlas.patterns[twice[:1]])[0])}"
    return Check("no pattern is listed twice", not len(odd) and not len(twice), detail)


def _prove_cells(atlas: Atlas, threads: int) -> list[Check]:
    seen = in_few_coordinates(atlas)
    proved = _in_box(seen)
    if not proved.all():
        by_core = _by_floats(seen, threads)
        if by_core is None:
            return [_stopped(int((proved == 0).sum()))]
        proved = np.where(proved == 0, by_core, proved)
    if seen is not atlas:  # a linear space leads on for ever, whatever there is across it
        proved = np.where(proved != 0, _UNBOUNDED, 0)
    left = np.flatnonzero(proved == 0)
    # Of some cells floats prove all but whether they have an end, or that it is not as marked.
    ends_unclear = np.flatnonzero((proved != 0) & (proved != np.where(atlas.bounded, _BOUNDED, _UNBOUNDED)))
    exactly = _by_integers(seen, seen is not atlas, left, ends_unclear)
    done = f"{how_many(len(atlas) - len(left), 'cell')} in floats, {exactly.proved:,} in exact arithmetic"
    answers = [
        _answer(question, [fault for fault in exactly.faults if fault.kind == kind], done)
        for kind, question in _QUESTIONS.items()
    ]
    if not exactly.unseen:
        return answers
    return [_stopped(exactly.unseen), *(answer for answer in answers if not answer.passed)]


def _stopped(unseen: int) -> Check:
    text = f"{running().limit_in_words} was over before {how_many(unseen, 'cell')} could be proved or refuted"
    return Check(SEEN, False, text)


def _answer(question: str, faults: list[Fault], done: str) -> Check:
    if not faults:
        return Check(question, True, done)
    named = "; ".join(fault.text for fault in faults[:_MOST_NAMED])
    more = f"; and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
    return Check(question, False, named + more)


def _in_box(atlas: Atlas) -> npt.NDArray[np.uint8]:
    """Which cells floats prove on a box of many dimensions; none on other domains."""
    proved, proof, clock = np.zeros(len(atlas), dtype=np.uint8), box_proof(atlas), running()
    if proof is not None:
        for cell in range(len(atlas)):
            if clock.over:
                break
            clock.tell(cell, len(atlas))
            try:
                proved[cell] = _BOUNDED if proof.proves(cell) else 0
            except OutOfTimeError:
                break
    return proved


def _by_floats(atlas: Atlas, threads: int) -> npt.NDArray[np.uint8] | None:
    """Which cells floats prove; None if time was over."""
    if atlas.program.exact_matrices is None:
        # The core's floats would speak of rounded matrices.
        return np.zeros(len(atlas), dtype=np.uint8)
    arrays = (
        np.ascontiguousarray(atlas.patterns),
        np.ascontiguousarray(atlas.witnesses),
        np.ascontiguousarray(atlas.facet_start, dtype=np.int64),
        np.ascontiguousarray(atlas.facet_wall, dtype=np.int32),
        np.ascontiguousarray(atlas.neighbour, dtype=np.int32),
        np.ascontiguousarray(atlas.shared_facet, dtype=np.int64),
        np.ascontiguousarray(atlas.shared_wall, dtype=np.int32),
        order_by_gate(atlas.patterns),
    )
    problem = core_problem(atlas.program, atlas.domain)
    run = watched(lambda leave: core.certify(problem, *arrays, threads, leave.keep_going), atlas.domain)
    if run.stopped_by == "interrupt":  # half a proof is none
        raise KeyboardInterrupt
    if run.stopped_by:
        return None
    proved = run.result
    # Floats have looked at the float witness; where there is a rational one, that is the witness.
    proved[[cell for cell in atlas.exact_witnesses if 0 <= cell < len(atlas)]] = 0
    return proved


@dataclass(frozen=True)
class _Exactly:
    """What exact arithmetic found wrong with cells, how many it proved all of, how many it had no time for."""

    faults: list[Fault]
    proved: int
    unseen: int


def _by_integers(atlas: Atlas, has_lines: bool, cells: Ids, ends_unclear: Ids) -> _Exactly:
    """All of `cells`, and of `ends_unclear` whether they are bounded."""
    if not len(cells) and not len(ends_unclear):
        return _Exactly([], 0, 0)
    clock, exact = running(), ExactProof(atlas, has_lines=has_lines)
    faults: list[Fault] = []
    wrong = proved = 0
    questions = chain(
        ((cell, exact.faults) for cell in _in_order(atlas, cells)),
        ((cell, exact.bounded_faults) for cell in _in_order(atlas, ends_unclear)),
    )
    for seen, (cell, ask) in enumerate(questions):
        if clock.over:
            return _Exactly(faults, proved, len(cells) + len(ends_unclear) - seen)
        clock.tell(len(atlas) - len(cells) - len(ends_unclear) + seen, len(atlas))
        try:
            found = ask(cell)
        except OutOfTimeError:
            return _Exactly(faults, proved, len(cells) + len(ends_unclear) - seen)
        faults += found
        wrong += bool(found)
        proved += not found and seen < len(cells)
        if wrong == _MOST_WRONG:
            break
    return _Exactly(faults, proved, 0)


def _in_order(atlas: Atlas, cells: Ids) -> Iterator[int]:
    """Cells that begin alike one after the other: they share the forms of early stages."""
    yield from cells[order_by_gate(atlas.patterns[cells])].tolist()
