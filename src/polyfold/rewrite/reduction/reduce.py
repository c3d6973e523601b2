"""reduce: the same function on a domain with fewer neurons, proved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import inf
from typing import Literal

import numpy as np

from polyfold._base.clock import MAX_SECONDS, Clock, OutOfTimeError, Report, running, unwatched
from polyfold._base.evidence import NOTHING_KNOWN
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold.atlas.evidence import proof_without_atlas
from polyfold.domain.domain import DomainLike
from polyfold.engine.bounds.bounded_domain import BoundedDomain, place_of
from polyfold.engine.bounds.source_ranges import source_ranges
from polyfold.engine.source import SourceLike, domain_of
from polyfold.errors import PolyfoldError
from polyfold.exact.rational_arrays import nearest
from polyfold.network.graph import Network
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program
from polyfold.rewrite.reduction.carriers import changes
from polyfold.rewrite.reduction.draft import Change, Draft, Known, changed
from polyfold.rewrite.reduction.plans import plan
from polyfold.rewrite.reduction.result import Reduction, Step
from polyfold.rewrite.reduction.rounding_error import rounding_error
from polyfold.rewrite.stability.decide import as_read, exactly, settled
from polyfold.rewrite.stability.result import Stability

Rounding = Literal["nearest", "never"]
_WAYS = ((False, False), (True, False), (False, True), (True, True))
# Seconds in which a network is read though there is no time at all.
_TO_READ = 0.1
# Of the time, what is kept for writing the network that is left, beside what it took to read it.
_PART_FOR_WRITING = 0.05
# Of what is left then, what goes to the search for neurons that never switch.
_PART_FOR_STABILITY = 0.7


@question("rewrite.reduce")
def reduce(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    rounding: Rounding = "nearest",
    skips: bool = False,
    stability: Stability | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Reduction:
    """The same function on a domain with fewer neurons.

    Every step is proved, in rationals: neurons that nothing reads or that are constant, that are never active on the
    domain, that are always active and so linear, that are multiples of each other or opposite; layers that became
    linear.

    Parameters
    ----------
    source : SourceLike
        A model.
    domain : DomainLike, optional
        Where the function has to stay the same: all of R^d, or a box, a polytope or a slice; an atlas has its own. The
        smaller, the more can go. Outside of it the function may become another one.
    rounding : "nearest" or "never"
        Weights that are sums or products of the old ones need not be floats. "nearest" rounds them once, at the end,
        and the result says how much that can matter; "never" takes only steps after which all weights are floats.
    skips : bool
        Whether linear parts may be computed by connections past a layer. They save more neurons, but what was a chain
        of layers is none any more. Connections that are there are used in any case.
    stability : Stability, optional
        What `pf.rewrite.stability` has found on this network and domain, if it was asked before; nothing more is looked
        for then.
    max_seconds : float, optional
        The limit. What was not found by then, or at Ctrl-C, stays: the result is what was reached, or the network as it
        was. LimitError if it cannot even be read by then.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: of how many neurons it
        is known whether they switch.

    Returns
    -------
    Reduction
        The smaller network, all steps with their proofs, and what rounding may have changed. It can be given wherever a
        model can.

    Examples
    --------
    >>> import polyfold as pf
    >>> twice = [([[1.0], [2.0], [1.0]], [0.0, 0.0, -9.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    >>> found = pf.reduce(twice, pf.box(-1, 1))
    >>> found.neurons_before, found.neurons_after, found.exact
    (3, 1, True)
    >>> print(found.steps[1])
    relu1[2]: it is 0 on the whole domain (interval arithmetic)
    >>> bool(pf.equivalent(twice, found, pf.box(-1, 1)))
    True
    """
    if rounding not in ("nearest", "never"):
        raise PolyfoldError(f"rounding={rounding!r} must be 'nearest' or 'never'")
    clock = running()
    before, program, place = _read(source, domain)
    work = _Work(program, place, _Ways(rounding == "never", skips), _fitting(stability, program, place))
    # What was read has to be written again, which takes about as long.
    left = clock.left * (1 - _PART_FOR_WRITING) - clock.seconds
    with clock.noting_interrupts():
        try:
            with Clock(None if left == inf else max(left, 0.01)):
                work.run()
        except OutOfTimeError as error:
            work.stopped_by = error.stopped_by
        with unwatched():
            reduced = work.draft.program
            found = Reduction(
                before,
                reduced,
                place.domain,
                tuple(stage.width for stage in program.stages),
                tuple(work.steps),
                tuple(work.undecided),
                rounding_error(reduced, place),
            )
            evidence = proof_without_atlas(program, place.domain, "every step is proved in rationals", work.stopped_by)
            known = min(found.difference, found.relative_difference) < inf
            return answered(found, evidence if known else NOTHING_KNOWN, stopped_by=work.stopped_by)


def _read(source: SourceLike, domain: DomainLike) -> tuple[Network | Program, ExactProgram, BoundedDomain]:
    """The network, its own numbers and the domain. These alone are a result, the network as it was: so they may take as
    long as a limit may be overrun."""

    def read() -> tuple[Network | Program, ExactProgram, BoundedDomain]:
        before = as_read(source)
        program = exactly(before)
        return before, program, place_of(domain_of(source, domain, program.input_dim))

    try:
        return read()
    except OutOfTimeError as error:
        if error.stopped_by != MAX_SECONDS:
            raise
        with suppress(OutOfTimeError), unwatched(), Clock(_TO_READ):
            return read()
        raise


def _fitting(stability: Stability | None, program: ExactProgram, place: BoundedDomain) -> Stability | None:
    """What somebody has found before, if it is of this program here."""
    if stability is None:
        return None
    known = isinstance(stability, Stability) and (stability.network_digest, stability.domain_digest)
    if known != (program.digest, place.domain.digest):
        raise PolyfoldError("stability= must be what pf.rewrite.stability found on the same network and domain")
    if stability.hearsay:
        raise PolyfoldError(
            f"stability= was recorded {stability.hearsay}, which proves nothing: ask pf.rewrite.stability"
        )
    return stability


class _Work:
    """A program on the way to a smaller one; whatever stops it leaves one that is proved to be the same."""

    def __init__(self, program: ExactProgram, place: BoundedDomain, ways: _Ways, stability: Stability | None) -> None:
        self._place, self._ways, self._stability = place, ways, stability
        self.draft = Draft(program, tuple((Known(),) * stage.width for stage in program.stages))
        self.steps: list[Step] = []
        self.undecided: list[str] = [str(origin) for stage in program.stages for origin in stage.origins]
        self.stopped_by: str | None = None

    def run(self) -> None:
        stability = self._stability
        if stability is None:
            # Gates that are turned round or carry linear parts could be ones that never switch, and would not go any
            # more.
            self._smaller(replace(self._ways, carry=False))
            self.undecided = [str(origin) for stage in self.draft.program.stages for origin in stage.origins]
            half = running().left * _PART_FOR_STABILITY
            with Clock(None if half == inf else half):
                stability = settled(self.draft.program, self._place)
            self.stopped_by = stability.stopped_by
        self.undecided = stability.of("undecided")
        self.draft = Draft(self.draft.program, _known(self.draft.program, stability))
        self._smaller(self._ways)

    def _smaller(self, ways: _Ways) -> None:
        """Change one stage after the other until nothing helps."""
        changing = True
        while changing:
            changing = False
            # Backwards, because what goes in a later stage is not read any more in an earlier one.
            for stage in reversed(range(len(self.draft.program.stages))):
                best = _best(self.draft, stage, self._place, ways)
                if best is not None:
                    self.draft, changing = changed(self.draft, stage, best[0]), True
                    self.steps += best[1]


@dataclass(frozen=True)
class _Ways:
    """What may be done: rounding, new connections, new gates and gates turned round for linear parts."""

    only_floats: bool
    skips: bool
    carry: bool = True


def _known(program: ExactProgram, stability: Stability) -> tuple[tuple[Known, ...], ...]:
    sides = {"on": 1, "off": -1}
    pairs = zip(stability.behaviour, stability.proof, strict=True)
    known = [Known(sides.get(word, 0), proof) for word, proof in pairs]
    ends = np.cumsum([0, *(stage.width for stage in program.stages)]).tolist()
    return tuple(tuple(known[start:end]) for start, end in pairwise(ends))


def _best(draft: Draft, stage: int, place: BoundedDomain, ways: _Ways) -> tuple[Change, list[Step]] | None:
    """The change after which a stage has fewest gates, if it has fewer than before."""
    width = draft.program.stages[stage].width
    ranges = cache(lambda: source_ranges(draft.program, place, stage))
    best: tuple[Change, list[Step]] | None = None
    for fold_straight, join_opposites in _WAYS:
        planned = plan(
            draft, stage, fold_straight=fold_straight, join_opposites=join_opposites, only_floats=ways.only_floats
        )
        for change, steps in changes(draft, stage, planned, ranges, skips=ways.skips, carry=ways.carry):
            if ways.only_floats and not changed(draft, stage, change).program.in_floats:
                continue
            fewer = change.gates.width < (width if best is None else best[0].gates.width)
            if fewer and _has_floats(changed(draft, stage, change).program, stage):
                best = change, steps
    return best


def _has_floats(program: ExactProgram, stage: int) -> bool:
    """Whether no coefficient of a stage or behind it is too large for floats: there would be no network."""
    arrays = (array for rows in program.affines[stage:] for array in (rows.bias, *rows.terms.values()))
    return all(bool(np.isfinite(nearest(array)).all()) for array in arrays)
