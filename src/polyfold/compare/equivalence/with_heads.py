"""Two models with heads: their outputs compared by their scores where that is the same, and by points where it is not.

What the heads make of the scores is taken apart in `heads.py`. Every part gets a verdict of its own; the models are
equal if all parts are, and different if one is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Protocol

import numpy as np

from polyfold._base.clock import OutOfTimeError, running, share, tick
from polyfold._base.evidence import NOTHING_KNOWN
from polyfold._base.result import answered
from polyfold._base.types import Array
from polyfold.compare.equivalence.by_classes import differences, same_classes, what_differs
from polyfold.compare.equivalence.enclosures import outputs_differ_by_more
from polyfold.compare.equivalence.heads import ClassPair, compared, shifted_rows
from polyfold.compare.equivalence.models import Models, Part, nothing_known
from polyfold.compare.equivalence.result import Difference, Equivalence, Said, as_float
from polyfold.compare.equivalence.rows import Rows
from polyfold.compare.equivalence.search import Search, exactly_lifted
from polyfold.compare.equivalence.sides import Side, Sides
from polyfold.errors import LimitError
from polyfold.network.head import Head
from polyfold.program.program import Program

# Points at which outputs seem to differ that are computed exactly.
_POINTS_CONFIRMED = 8
_SHOWN_OUTPUT = "a point where the models' outputs differ, in real arithmetic with proved error bounds"


class Decision(Protocol):
    """A comparison of rows, which can be run as a whole or only as far as the common form."""

    def run(self) -> Equivalence: ...

    def one_form(self) -> Equivalence | None: ...


Ask = Callable[[Rows, Fraction], Decision]


def compare_models(models: Models, tolerance: Fraction, ask: Ask, why_rounded: str) -> Equivalence:
    """Compare part by part until one differs; `ask` makes the comparison of some rows.

    Programs that were rounded say nothing certain of the models, unless `ask` knows better: `why_rounded` says why.
    """
    parts: list[Part] = []
    for part in _in_time(_parts(models, tolerance, ask)):
        if models.rounded and not part.certain and part.verdict != "unknown":
            method = f"their programs are {part.verdict} ({part.method})"
            part = Part("unknown", (nothing_known(),), part.compared, method, stopped_by=f"rounding: {why_rounded}")
        parts.append(part)
        if part.verdict == "different":
            return _result(models, [part], tolerance)
    return _result(models, parts, tolerance)


def _in_time(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, and one of which nothing is known where the time is over."""
    try:
        yield from parts
    except OutOfTimeError as error:
        yield Part("unknown", (nothing_known(),), "outputs", "nothing decided it", None, error.stopped_by)


def _parts(models: Models, tolerance: Fraction, ask: Ask) -> Iterable[Part]:
    plan = compared(*models.heads, models.scores, tolerance)
    if plan.anyway is not None:
        apart, method = Difference(Fraction(0), plan.anyway), "what these heads put out is never farther apart"
        yield Part("equal", (apart,), "outputs", method, certain=True)

    # The quickest first: where heads differ, one point is enough.
    if plan.others:
        yield _by_points(models, plan.others, tolerance)
    for slope, rows in plan.rows.items():
        found = ask(rows, tolerance / slope).run()
        yield _of_outputs(models, found, rows, slope, tolerance)
    if plan.enough is not None:
        found = ask(plan.enough, Fraction(0)).run()
        if found.word == "equal":
            yield _part(found, "scores")
        else:
            yield _by_points(models, range(models.first.model_output_dim), tolerance)
    for pair in plan.classes:
        yield _by_class(models, pair, tolerance, ask)


def _part(found: Equivalence, words: str) -> Part:
    return Part(found.said, found.by_output, words, found.method, found.certificate, found.stopped_by, certain=True)


def _words(rows: Rows, heads: tuple[Head | None, Head | None]) -> str:
    """What rows are differences of."""
    kinds = " or ".join(dict.fromkeys(head.kinds for head in heads if head is not None))
    shifted = any(len(terms) > 1 for terms in (*rows.first, *rows.second))
    return f"{'differences of scores' if shifted else 'scores'} before the {kinds}"


def _of_outputs(models: Models, found: Equivalence, rows: Rows, slope: Fraction, tolerance: Fraction) -> Part:
    """What rows say of the outputs: bounds on rows are bounds on outputs, but a difference may become a smaller one."""
    part = _part(found, _words(rows, models.heads))
    if not tolerance or part.verdict != "different":
        return part
    points = [one.point for one in part.by_output if one.point is not None]
    near = [] if models.place.domain.is_slice else [np.array([as_float(x) for x in point]) for point in points]
    shown = _by_points(models, range(models.first.model_output_dim), tolerance, near)
    if shown.verdict == "different":
        return shown
    return replace(
        part,
        verdict="unknown",
        stopped_by="a tolerance behind a head: scores differ by more than what is proved to be within it, but no point "
        "was found at which the outputs do",
    )


def _by_points(models: Models, outputs: Sequence[int], tolerance: Fraction, also: Sequence[Array] = ()) -> Part:
    """Look for a point at which some outputs differ: random ones, and some that are known."""
    domain = models.place.domain
    search = Search(Sides(*models.sides, Rows((), (), models.scores), models.place), tolerance)
    U = np.concatenate([*(u[None] for u in also), search.random_points()])
    with np.errstate(over="ignore", invalid="ignore"):
        X = domain.lift(U)
        one, two = (_in_floats(program, X) for program in models.programs)
        gaps = np.nan_to_num(np.abs(one - two)[:, list(outputs)], nan=0.0, posinf=0.0).max(axis=1)
    inside = (int(i) for i in np.argsort(-gaps, kind="stable") if search.holds(U[i]))
    for i in islice(inside, _POINTS_CONFIRMED):
        point = exactly_lifted(domain, U[i])
        try:
            (first, off), (second, other_off) = (side.outputs_at(domain, U[i], point) for side in models.sides)
        except OutOfTimeError:
            raise
        except LimitError:
            continue  # too long to be written down
        proved = outputs_differ_by_more(models.heads, (first, second), tolerance)
        largest = max((gap for k in outputs if (gap := proved[k]) is not None), default=None)
        if largest is not None:
            shown = Difference(largest, float("inf"), point)
            return Part("different", (shown,), "outputs", _SHOWN_OUTPUT, certain=not any((*off, *other_off)))
    words = [str(head) if head is not None else "none" for head in models.heads]
    return Part(
        "unknown",
        (nothing_known(),),
        "outputs",
        "no point was found at which the outputs differ",
        None,
        f"heads that cannot be compared by their scores (first model: {words[0]}; second model: {words[1]})",
    )


def _in_floats(program: Program, X: Array) -> Array:
    scores = program.evaluate(X)[0]
    return scores if program.head is None else program.head(scores)


def _by_class(models: Models, pair: ClassPair, tolerance: Fraction, ask: Ask) -> Part:
    shifted = shifted_rows(pair, models.scores)
    same = None
    if shifted is not None:
        with share(running().left / 4):
            same = ask(shifted, Fraction(0)).one_form()
        tick()
    if same is not None:
        return replace(_part(same, what_differs(pair)), by_output=differences(pair, (0, 0)))
    # Multiples of all scores have the same classes, and floats may hold them where they cannot hold the scores.
    multiples = Sides(*models.sides, Rows((), (), models.scores), models.place).multiples
    if multiples is None:
        return same_classes(models, pair, tolerance)
    first, second = (Side(program, program) for program in multiples.programs)
    part = same_classes(replace(models, sides=(first, second)), pair, tolerance)
    return replace(part, certain=True)


def _result(models: Models, parts: Sequence[Part], tolerance: Fraction) -> Equivalence:
    said = [part.verdict for part in parts]
    word: Said = "different" if "different" in said else "unknown" if "unknown" in said else "equal"
    stopped = "; ".join(dict.fromkeys(part.stopped_by for part in parts if part.stopped_by)) or None
    certificates = [part.certificate for part in parts if part.certificate is not None]
    found = Equivalence(
        word,
        tolerance,
        tuple(one for part in parts for one in part.by_output),
        "; ".join(dict.fromkeys(part.method for part in parts)),
        certificates[0] if len(certificates) == len(parts) == 1 else None,
        models.heads,
        " and ".join(dict.fromkeys(part.compared for part in parts)),
    )
    rounding = "numbers of the networks that are no floats were rounded" if models.rounded else ""
    return answered(found, replace(NOTHING_KNOWN, rounding=rounding), stopped_by=stopped)
