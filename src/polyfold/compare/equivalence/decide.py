"""equivalent: whether two networks are the same function on a domain, decided exactly or bounded.

The cheapest proof first: one common form, a point where they differ, a bound over the whole domain, every cell of both,
and at last a domain cut into boxes.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from polyfold._base.as_found import first_hand
from polyfold._base.clock import Clock, OutOfTimeError, Report, running, tick, unwatched
from polyfold._base.evidence import NOTHING_KNOWN, THE_NETWORK, Evidence
from polyfold._base.options import thread_count, whole_number
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.when_read import replaced
from polyfold._base.words import in_digits
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate, Check
from polyfold.atlas.core_problem import beyond_core
from polyfold.atlas.evidence import evidence_from
from polyfold.compare.equivalence.atoms import Atoms
from polyfold.compare.equivalence.branching import Bounded, bounds_over, branch
from polyfold.compare.equivalence.by_cells import cell_by_cell, too_many_to_list
from polyfold.compare.equivalence.given import check_shapes, compared, hint_for, same_steps
from polyfold.compare.equivalence.models import Models
from polyfold.compare.equivalence.paired_atoms import Paired
from polyfold.compare.equivalence.result import Difference, Equivalence, Said
from polyfold.compare.equivalence.rows import Rows
from polyfold.compare.equivalence.search import Search
from polyfold.compare.equivalence.sides import MOST_RATIONALS, Sides, side_of
from polyfold.compare.equivalence.with_heads import compare_models
from polyfold.domain.domain import DomainLike
from polyfold.engine.bounds.bounded_domain import BoundedDomain, place_of
from polyfold.engine.source import SourceLike, domain_of
from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.roots import ROOT_BITS
from polyfold.program.coefficients import coefficients
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.program import Program

# Without a limit: how long to look for the exact maximum once the verdict is known, to write both networks in one form,
# and to list cells before boxes are tried; if neither decides, each gets more in turn.
_SECONDS_FOR_THE_MAXIMUM = 10.0
_SECONDS_FOR_ONE_FORM = 30.0
_SECONDS_FOR_A_ROUND, _LONGER = 30.0, 4
# How long to look for points that differ.
_SECONDS_FOR_POINTS = 5.0
# Atoms times what they are combinations of, over which forms are carried.
_MOST_ENTRIES = 10_000_000
_ROUNDED = "numbers that are no floats were rounded, and no proof that has room for that was found"


@question("compare.equivalent")
def equivalent(
    source: SourceLike,
    other: SourceLike,
    domain: DomainLike = None,
    *,
    tolerance: Any = 0,
    max_seconds: float | None = None,
    max_cells: int | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Equivalence:
    """Decide whether two networks are the same function on a domain, or differ nowhere by more than a tolerance.

    The functions are those that the networks' float weights define in real arithmetic, with the heads that the models
    end in (softmax, sigmoid, argmax): outputs are compared behind these. "equal" and "different" are proved. The
    result is true if they are equal and false if they differ. "unknown", which a limit can lead to, is neither: as a
    truth value it raises UnknownError, so look at `word` where there may be too little time.

    Parameters
    ----------
    source, other : SourceLike
        Models whose inputs and outputs agree in number; nothing else needs to.
    domain : DomainLike, optional
        Where to look: all of R^d, or a box, a polytope or a slice; an atlas has its own.
    tolerance : float, Fraction or Decimal
        How much outputs may differ, each by itself: a number >= 0, taken as it is. Behind a head it is one on the
        model's outputs: bounds on scores bound these, but scores that differ by more decide nothing.
    max_seconds : float, optional
        The limit; what is not decided by then is "unknown". Without one, at most 10 s go to the exact maximum once the
        verdict is known.
    max_cells : int, optional
        List at most so many cells of both networks together.
    threads : int, optional
        How many to use (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many cells or boxes
        were looked at.

    Returns
    -------
    Equivalence
        The verdict, its proof, and what is known of the largest difference.

    Examples
    --------
    >>> import polyfold as pf
    >>> absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]  # relu(x) + relu(-x)
    >>> another = [([[2.0]], [0.0]), ([[1.0]], [0.0])]                     # relu(2 x)
    >>> bool(pf.equivalent(absolute, absolute[:1] + [([[1.0, 1.0]], [0.0])]))
    True
    >>> result = pf.equivalent(absolute, another, pf.box(-1, 3))
    >>> result.word, result.max_difference, result.point
    ('different', Fraction(3, 1), (Fraction(3, 1),))
    """
    thread_count(threads)
    if max_cells is not None:
        whole_number("max_cells", max_cells, 2**31 - 1)
    within = _tolerance(tolerance)
    one, two = compared(source), compared(other)
    check_shapes(one, two)
    # What stands for irrational numbers is drawn anew, the same for both networks.
    salt = secrets.token_bytes(16)
    matrices = coefficients(one.program) + coefficients(two.program) <= MOST_RATIONALS
    first, second = (side_of(each.network, each.program, salt, matrices=matrices) for each in (one, two))
    # Floats that overflow or become NaN prove nothing wherever they are used, and are no news to anybody.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        where = domain_of(source if isinstance(source, Atlas) else other, domain, one.program.input_dim)
        place = place_of(where if not isinstance(other, Atlas) else domain_of(other, where, one.program.input_dim))
        alike = same_steps(one, two)

        def ask(rows: Rows, allowed: Fraction) -> _Decision:
            return _Decision(Sides(first, second, rows, place), allowed, max_cells, threads, alike)

        if first.program.head is None and second.program.head is None:
            found = ask(Rows.plain(one.program.output_dim), within).run()
        else:
            models = Models((first, second), place, max_cells, threads, alike)
            found = compare_models(models, within, ask, _ROUNDED)
        with unwatched():
            whole = found if found.word == "equal" else replace(found, hint=hint_for(one, two, found))
            return answered(whole, _evidence(found, first.program, place), stopped_by=found.stopped_by)


def _evidence(found: Equivalence, program: Program, place: BoundedDomain) -> Evidence:
    """What proves a verdict: a certificate of cells, or what the method says. Bounds have room for all roundings."""
    if found.word == "unknown":
        return found.evidence
    rounding = found.evidence.rounding
    if found.certificate is not None and (evidence := evidence_from(found.certificate)).proved:
        return first_hand(replaced(evidence, rounding=rounding))
    digests = (program.digest, place.domain.digest, "")
    proved = Evidence(*digests, None, True, None, THE_NETWORK, proof=found.method, rounding=rounding)
    return first_hand(replace(proved, domain=place.domain))


def _tolerance(tolerance: Any) -> Fraction:
    try:
        if isinstance(tolerance, bool) or not isinstance(tolerance, Real | Decimal):
            raise TypeError
        found = Fraction(*tolerance.as_integer_ratio())  # type: ignore[union-attr]
    except (TypeError, ValueError, OverflowError):
        raise PolyfoldError(f"tolerance={tolerance!r} must be a finite number, 0 or larger") from None
    if found < 0:
        raise PolyfoldError(f"tolerance={tolerance!r} must be a finite number, 0 or larger")
    return found


class _Decision:
    """What is known so far, and what to try next."""

    def __init__(
        self,
        sides: Sides,
        tolerance: Fraction,
        max_cells: int | None,
        threads: int | None,
        alike: bool,
    ) -> None:
        self._sides, self._rows, self._place, self._tolerance = sides, sides.rows, sides.place, tolerance
        self._first, self._second = (side.program for side in sides.both)
        self._max_cells, self._threads = max_cells, threads
        self._given_seconds = running().limit
        self._known = [Difference(Fraction(0), inf)] * len(self._rows)
        self._paired: Paired | None = None
        self._certificate: Certificate | None = None
        self._method = "nothing decided it"
        self._stopped_by: str | None = None
        self._no_bounds: str | None = None
        self._equal_but_rounded: str | None = None
        self._alike = alike

    def one_form(self) -> Equivalence | None:
        """The proof by one common form, if there is one."""
        return self._result() if self._one_form() else None

    def run(self) -> Equivalence:
        """Try one proof after the other; what is known when the time is over is the answer."""
        try:
            self._try_all()
        except OutOfTimeError as error:
            self._stopped_by = error.stopped_by
        with unwatched():
            return self._result()

    def _try_all(self) -> None:
        if self._one_form():
            return
        self._search = Search(self._sides, self._tolerance)
        try:
            self._search.run(Clock(min(running().left / 4, _SECONDS_FOR_POINTS)))
        finally:
            self._learn(self._search.found, "a point where they differ, computed exactly")
        self._bound()
        if self._verdict == "unknown" and self._can_branch and self._given_seconds is None:
            self._in_turn()
            return
        self._look_at_cells(self._seconds_for_cells)
        if self._verdict == "unknown" and self._can_branch:
            self._branch(inf)

    @property
    def _can_branch(self) -> bool:
        """Whether smaller boxes may decide: without a tolerance no float bound is small enough."""
        return self._paired is not None and self._place.box is not None and bool(self._tolerance)

    @property
    def _seconds_for_cells(self) -> float:
        if self._verdict == "equal" or (self._verdict == "different" and self._given_seconds is None):
            return _SECONDS_FOR_THE_MAXIMUM
        return running().left / 2 if self._verdict == "unknown" and self._can_branch else inf

    def _in_turn(self) -> None:
        """Cells and boxes in turn, each longer than before: nobody knows which of them decides."""
        seconds, cells = _SECONDS_FOR_A_ROUND, True
        while self._verdict == "unknown":
            if cells:
                self._look_at_cells(seconds)
                # Whatever else stopped it will do so again.
                cells = self._stopped_by == "max_seconds"
            if self._verdict == "unknown":
                self._branch(seconds if cells else inf)
            seconds *= _LONGER
            tick()

    # -- what is known

    @property
    def _verdict(self) -> Said:
        if any(one.largest > self._tolerance for one in self._known):
            return "different"
        return "equal" if all(one.upper <= self._tolerance for one in self._known) else "unknown"

    def _learn(self, found: list[Difference], method: str, certificate: Certificate | None = None) -> None:
        """Take in more, and say what decided if it did."""
        before = self._verdict
        self._known = [one.joined(other) for one, other in zip(self._known, found, strict=True)]
        if before == "unknown" != self._verdict or all(one.exact for one in found):
            self._method, self._certificate = method, certificate

    def _result(self) -> Equivalence:
        certificate = self._certificate
        rounding = "" if self._sides.are_exact or self._alike else self._stands_for
        if rounding and certificate is not None:
            compared = Check("what was compared stands for the networks", True, rounding)
            certificate = first_hand(replaced(certificate, checks=(*certificate.checks, compared)))
        found = Equivalence(
            self._verdict,
            self._tolerance,
            tuple(self._known),
            self._method,
            certificate,
        )
        whole = self._verdict != "unknown" and all(one.exact for one in self._known)
        nothing_yet = replace(NOTHING_KNOWN, rounding=rounding)
        return answered(found, nothing_yet, stopped_by=None if whole else self._what_stopped)

    @property
    def _stands_for(self) -> str:
        """What was compared in place of the networks, where these have numbers that nobody can write down."""
        words = []
        for name, side in zip(("first", "second"), self._sides.both, strict=True):
            if side.stands_for_roots:
                words.append(f"rationals within 2^-{ROOT_BITS} stand for the {name} network's irrational numbers")
            elif side.truth.rounding is not None:
                words.append(f"bounds have room for what was rounded in the {name} network's program")
        return "; ".join(words)

    @property
    def _what_stopped(self) -> str | None:
        reasons = (self._stopped_by, self._no_bounds, self._equal_but_rounded)
        return "; ".join(reason for reason in reasons if reason) or None

    def _proof(self, method: str, name: str, detail: str) -> Certificate:
        both = hashlib.sha256((self._first.digest + self._second.digest).encode()).hexdigest()
        proof = Certificate(
            level="certified",
            complete=True,
            method=method,
            seconds=running().seconds,
            threads=1,
            network_digest=both,
            domain_digest=self._place.domain.digest,
            checks=(Check(name, True, detail),),
        )
        return first_hand(proof)

    # -- what is tried

    def _one_form(self) -> bool:
        """Whether both networks have one common form; if not, their forms are kept to be compared."""
        programs = (self._first, self._second)
        if self._alike and self._rows.first == self._rows.second:
            return self._same("the networks are the same steps with the same numbers")
        if sum(coefficients(program) for program in programs) > MOST_RATIONALS:
            self._no_bounds = f"no bounds were tried: there are more than {MOST_RATIONALS:,} coefficients"
            if not self._same_coefficients:
                return False
            if self._sides.are_exact:
                return self._same("the networks have the same coefficients")
            self._learn_rounded("their programs have the same coefficients")
            return False
        atoms = Atoms(self._first.input_dim)
        try:
            with Clock(_SECONDS_FOR_ONE_FORM if self._given_seconds is None else running().left / 2):
                first = atoms.outputs_of(self._sides.first.truth)
                in_first = len(atoms.rows)
                second = atoms.outputs_of(self._sides.second.truth)
        except OutOfTimeError:
            tick()
            self._no_bounds = "no bounds were tried: writing both networks in one form took half of the time"
            return False
        first, second = self._rows.of_combinations(first, second)
        if first == second and not self._sides.equal_truths_are_equal:
            self._learn_rounded("their programs have one common form")
        elif first == second:
            return self._same(
                f"{self._first.gates:,} and {self._second.gates:,} gates become {how_many(len(atoms.rows), 'atom')}, "
                f"and {how_many(len(first), 'value')} that are compared the same combinations of them"
            )
        size = len(atoms.rows) * (len(atoms.rows) + self._first.input_dim)
        if size > _MOST_ENTRIES:
            self._no_bounds = f"no bounds were tried: {len(atoms.rows):,} atoms are too many"
        elif self._place.box is None:
            self._no_bounds = self._place.why_no_box
        else:
            self._paired = Paired(atoms, in_first, first, second, self._place.domain)
        return False

    @property
    def _same_coefficients(self) -> bool:
        scores = (replace(program, head=None).digest for program in (self._first, self._second))
        return self._rows.first == self._rows.second and len(set(scores)) == 1

    def _same(self, detail: str) -> bool:
        method = "both networks have one common form"
        same = [Difference(Fraction(0), Fraction(0))] * len(self._rows)
        self._learn(
            same, method, self._proof(method, "the outputs are the same combinations of the same atoms", detail)
        )
        return True

    def _learn_rounded(self, why: str) -> None:
        """Programs that are the same function do not prove that networks are which these are not, quite."""
        self._equal_but_rounded = f"{why}, and may have been rounded to that; give a tolerance"
        slack = self._sides.slack("truth")
        self._learn(
            [Difference(Fraction(0), size) for size in slack],
            "what was rounded on the way from the networks to equal programs",
            self._proof("bounds on what was rounded", why, f"no output was moved by more than {in_digits(max(slack))}"),
        )

    def _bound(self) -> None:
        """A bound over the whole domain, if it is bounded."""
        if self._paired is None or self._place.box is None:
            return
        try:
            self._paired.pair(self._place.box.centre, self._place.box.half)
        except OutOfTimeError:
            self._paired = None
            raise
        sizes, _, _ = bounds_over(self._paired, self._place.box)
        self._learn_bounds(Bounded(sizes, 1))

    def _learn_bounds(self, bounded: Bounded) -> None:
        method = "bounds over the whole domain"
        if bounded.boxes > 1:
            method = f"bounds over {bounded.boxes:,} boxes, cut where they were worst"
        detail = f"no output differs by more than {in_digits(float(bounded.upper.max()), ROUND_CEILING)}"
        known = [
            Difference(Fraction(0), Fraction(size) + room if max(size, room) < inf else inf)
            for size, room in zip(bounded.upper.tolist(), self._sides.slack("truth"), strict=True)
        ]
        self._learn(
            known, method, self._proof(method, "affine forms with all roundings enclose the difference", detail)
        )

    def _look_at_cells(self, seconds: float) -> None:
        """Every cell of both networks, as far as there is time."""
        if too_many_to_list(self._first, self._second, self._place):
            self._stopped_by = self._stopped_by or "the number of dimensions: cells were not listed"
            return
        multiples = self._sides.multiples
        programs = (self._first, self._second) if multiples is None else multiples.programs
        factor = Fraction(1) if multiples is None else Fraction(int(multiples.factor.p), int(multiples.factor.q))
        joint = side_by_side(*programs)
        if not joint.written_out and not beyond_core(joint, self._place.domain):
            self._stopped_by = self._stopped_by or "the networks' size: cells were not listed"
            return
        with Clock(None if seconds == inf else seconds):
            cells = cell_by_cell(
                joint, self._rows, self._place, self._tolerance * factor, self._max_cells, self._threads
            )
        self._stopped_by = cells.stopped_by
        if cells.by_output is None:
            return
        method = f"cell by cell: {how_many(cells.cells, 'cell')} of both networks together, certified"
        if multiples is not None:
            self._learn([one.over(factor) for one in cells.by_output], method, cells.certificate)
            return
        if not any(one.upper for one in cells.by_output) and any(self._sides.slack("program")):
            self._equal_but_rounded = "their programs are equal, and may have been rounded to that; give a tolerance"
        self._learn(self._sides.confirmed(cells.by_output), method, cells.certificate)

    def _branch(self, seconds: float) -> None:
        """Bounds over smaller and smaller boxes."""
        assert self._paired is not None
        with Clock(None if seconds == inf else seconds):
            bounded = branch(self._paired, self._place, self._tolerance, self._search)
        self._learn_bounds(bounded)
        self._learn(self._search.found, "a point where they differ, computed exactly")
        if self._verdict == "unknown":
            self._stopped_by = "max_seconds"
