"""reduce: the same function on a domain with fewer neurons, proved."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from polyfold._base.as_found import first_hand
from polyfold._base.clock import check_seconds
from polyfold._base.progress import reporter
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.engine.bounds.bounded_domain import Place, place_of
from polyfold.engine.bounds.source_ranges import source_ranges
from polyfold.errors import PolyfoldError
from polyfold.exact.rational_arrays import nearest
from polyfold.network.load import load
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program
from polyfold.rewrite.reduction.carriers import changes
from polyfold.rewrite.reduction.draft import Change, Draft, Known, changed
from polyfold.rewrite.reduction.plans import plan
from polyfold.rewrite.reduction.result import Reduction, Step
from polyfold.rewrite.reduction.rounding_error import rounding_error
from polyfold.rewrite.stability.decide import exactly, settled
from polyfold.rewrite.stability.result import Stability

Rounding = Literal["nearest", "never"]
_WAYS = ((False, False), (True, False), (False, True), (True, True))


def reduce(
    network: Any,
    domain: DomainLike = None,
    *,
    rounding: Rounding = "nearest",
    skips: bool = False,
    stability: Stability | None = None,
    max_seconds: float | None = None,
    progress: bool | Callable[[int], None] = False,
) -> Reduction:
    """The same function on a domain with fewer neurons.

    Every step is proved, in rationals: neurons that nothing reads or that are constant, that are never active on the
    domain, that are always active and so linear, that are multiples of each other or opposite; layers that became
    linear.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    domain: None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`, `pf.line`, `pf.plane`. The smaller, the
        more can go. Outside of it the function may become another one.
    rounding: weights that are sums or products of the old ones need not be floats. "nearest" rounds them once, at the
        end, and the result says how much that can matter; "never" takes only steps after which all weights are floats.
    skips: whether linear parts may be computed by connections past a layer. They save more neurons, but what was a
        chain of layers is none any more. Connections that are there are used in any case.
    stability: what `pf.rewrite.stability` has found on this network and domain, if it was asked before; nothing more is
        looked for then.
    max_seconds: for finding out which neurons never switch; None for 60 seconds. What is not settled then, or at an
        interrupt (Ctrl-C), stays.
    progress: True for a progress line on standard error, or a function that is called with the number of neurons of
        which it is known whether they switch.

    >>> import polyfold as pf
    >>> twice = [([[1.0], [2.0], [1.0]], [0.0, 0.0, -9.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    >>> found = pf.reduce(twice, pf.box(-1, 1))
    >>> found.neurons_before, found.neurons_after, found.exact
    (3, 1, True)
    >>> print(found.steps[1])
    relu1[2]: it is 0 on the whole domain (interval arithmetic)
    """
    check_seconds(max_seconds)
    if rounding not in ("nearest", "never"):
        raise PolyfoldError(f"rounding={rounding!r} must be 'nearest' or 'never'")
    started = time.perf_counter()
    loaded = network if isinstance(network, Program) else load(network)
    program = exactly(loaded)
    place = place_of(resolve_domain(domain, program.input_dim))
    ways = _Ways(rounding == "never", skips)
    if stability is None:
        unknown = tuple((Known(),) * stage.width for stage in program.stages)
        # Gates that are turned round or carry linear parts could be ones that never switch, and would not go any more.
        first = _smaller(Draft(program, unknown), place, replace(ways, carry=False))
        with reporter(progress, "neurons settled") as report:
            stability = settled(first.draft.program, place, max_seconds, report)
    else:
        known = isinstance(stability, Stability) and (stability.network_digest, stability.domain_digest)
        if known != (program.digest, place.domain.digest):
            raise PolyfoldError("stability= must be what pf.rewrite.stability found on the same network and domain")
        if stability.hearsay:
            raise PolyfoldError(
                f"stability= was recorded {stability.hearsay}, which proves nothing: ask pf.rewrite.stability"
            )
        first = _Smaller(Draft(program, ()), ())
    draft = Draft(first.draft.program, _known(first.draft.program, stability))
    last = _smaller(draft, place, ways)
    reduced = last.draft.program
    reduction = Reduction(
        loaded,
        reduced,
        place.domain,
        tuple(stage.width for stage in program.stages),
        (*first.steps, *last.steps),
        tuple(stability.of("undecided")),
        rounding_error(reduced, place),
        time.perf_counter() - started,
    )
    return first_hand(reduction)


@dataclass(frozen=True)
class _Ways:
    """What may be done: rounding, new connections, new gates and gates turned round for linear parts."""

    only_floats: bool
    skips: bool
    carry: bool = True


@dataclass(frozen=True, eq=False)
class _Smaller:
    """A draft, and the steps that led to it."""

    draft: Draft
    steps: tuple[Step, ...]


def _known(program: ExactProgram, stability: Stability) -> tuple[tuple[Known, ...], ...]:
    sides = {"on": 1, "off": -1}
    pairs = zip(stability.behaviour, stability.proof, strict=True)
    known = [Known(sides.get(word, 0), proof) for word, proof in pairs]
    ends = np.cumsum([0, *(stage.width for stage in program.stages)]).tolist()
    return tuple(tuple(known[start:end]) for start, end in pairwise(ends))


def _smaller(draft: Draft, place: Place, ways: _Ways) -> _Smaller:
    """Change one stage after the other until nothing helps."""
    steps: list[Step] = []
    changing = True
    while changing:
        changing = False
        # Backwards, because what goes in a later stage is not read any more in an earlier one.
        for stage in reversed(range(len(draft.program.stages))):
            best = _best(draft, stage, place, ways)
            if best is not None:
                draft, changing = changed(draft, stage, best[0]), True
                steps += best[1]
    return _Smaller(draft, tuple(steps))


def _best(draft: Draft, stage: int, place: Place, ways: _Ways) -> tuple[Change, list[Step]] | None:
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
