"""match: whether two networks of one hidden layer are the same function, and what takes one to the other.

It rests on theorem 1 of paper 004.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np

from polyfold._base.clock import Report, running, tick
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold._base.words import in_digits
from polyfold.atlas.evidence import proof_without_atlas
from polyfold.compare.equivalence.result import as_float
from polyfold.compare.match.difference import Bends, bends_of, point_of_difference
from polyfold.compare.match.pairing import (
    Pairing,
    exact_pairing,
    linear_deviation,
    near_pairing,
    with_equal_slopes,
)
from polyfold.domain.domain import resolve_domain
from polyfold.engine.source import SourceLike
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.rational_arrays import Rationals
from polyfold.program.exact_program import ExactProgram
from polyfold.rewrite.two_layer.form import TwoLayer, Wall, of_program, two_layer
from polyfold.rewrite.two_layer.rules import Reduced, Step, by_rules
from polyfold.symmetry.transformations import Transformation

Point = tuple[Fraction, ...]
# So many numbers of a point are part of a repr.
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class Match(Verdict):
    """Whether two networks of one hidden layer are the same function on R^d.

    Functions that are "matched" are near to each other and not the same: the verdict is "no" and the truth value False.

    Attributes
    ----------
    found : "equal", "different" or "matched"
        "equal" and "different" are proved. If a tolerance was given, "matched" says that the functions differ, but
        their neurons belong together up to the tolerance.
    reason : str
        The same in words.
    first, second : ExactProgram
        The irreducible forms that were compared.
    first_steps, second_steps : tuple of Step
        How they came about.
    transformation : Transformation, optional
        Takes `first` to `second`: exactly if they are equal; if they are matched, what it makes of `first` is the same
        function as `first`, with weights that are off those of `second` by `deviation` at most.
    point : tuple of Fraction, optional
        An input at which the functions differ, if they do.
    values : tuple of two tuples of Fraction, optional
        Both networks' outputs there, exact.
    tolerance : float
        What was allowed.
    deviation : float, optional
        Of functions that are matched.
    """

    words = ("equal", "different", "unknown")

    found: Literal["equal", "matched", "different"]
    reason: str
    first: ExactProgram
    second: ExactProgram
    first_steps: tuple[Step, ...]
    second_steps: tuple[Step, ...]
    transformation: Transformation | None = None
    point: Point | None = None
    values: tuple[Point, Point] | None = None
    tolerance: float = 0.0
    deviation: float | None = None

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        """Whether they are equal."""
        return "yes" if self.found == "equal" else "no"

    @property
    def word(self) -> str:
        """What was found: "equal", "different" or "matched"."""
        return self.found

    def facts(self) -> dict[str, Any]:
        steps = ([str(step) for step in some] for some in (self.first_steps, self.second_steps))
        return {
            "verdict": self.verdict,
            "word": self.word,
            "reason": self.reason,
            "tolerance": self.tolerance,
            "deviation": self.deviation,
            "point": self.x,
            "point_as_fractions": self.point,
            "values": self.values,
            "transformation": None if self.transformation is None else repr(self.transformation),
            **dict(zip(("first_steps", "second_steps"), steps, strict=True)),
        }

    @property
    def x(self) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        """The point in floats."""
        return None if self.point is None else np.array([as_float(value) for value in self.point])

    def __repr__(self) -> str:
        known = f" as recorded {self.hearsay}" if self.hearsay else ", proved"
        said = {
            "equal": f"EQUAL{known}",
            "matched": f"MATCHED within {self.tolerance:g}, not equal",
            "different": f"DIFFERENT{known}",
        }[self.found]
        at = ""
        if self.point is not None and self.values is not None:
            one, other = (_shown(values) for values in self.values)
            at = f"; at {_shown(self.point)} they are {one} and {other}"
        return f"Match: {said}; {self.reason}{at}"


@question("compare.match")
def match(
    source: SourceLike,
    other: SourceLike,
    *,
    tolerance: float = 0,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Match:
    """Decide whether two networks with one hidden layer are the same function on all of R^d, and find out how.

    Both are reduced to irreducible forms (R1, R2 and R3 of paper 004), which are unique up to the order of neurons,
    positive factors and flips. The result has the transformation that takes one to the other, or a point where they
    differ. All of it is exact and nothing is searched, so there is always an answer. Of models with a head (softmax,
    sigmoid, argmax), which must be the same, the scores before it are compared; `pf.equivalent` compares what comes
    out.

    Parameters
    ----------
    source, other : SourceLike
        Models with at most one hidden layer each, and as many inputs and outputs. Deeper networks are for
        `pf.equivalent`.
    tolerance : float
        0, or how far weights may deviate for neurons still to be matched, relative to their size: for networks that
        were trained or stored in other floats. What is matched so is not called equal.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many of the two
        networks are reduced.

    Returns
    -------
    Match
        The verdict, with the transformation or a point of difference.

    Examples
    --------
    >>> import polyfold as pf
    >>> a = [([[1.0], [2.0]], [0.0, 2.0]), ([[3.0, 1.0]], [0.0])]
    >>> b = [([[1.0], [2.0]], [1.0, 0.0]), ([[2.0, 1.5]], [0.0])]
    >>> pf.compare.match(a, b).transformation
    Composition(steps=(Permutation(layer=1, order=(1, 0)), Rescaling(layer=1, factors=(1/2, 2))))
    >>> pf.compare.match(a, [*a[:1], ([[3.0, 2.0]], [0.0])])
    Match: DIFFERENT, proved; they bend differently at the wall of relu1[1] of the first; at (0) they are (2) and (4)
    """
    within = _tolerance(tolerance)
    forms = [two_layer(network, asked="pf.compare.match", instead="pf.equivalent") for network in (source, other)]
    _check_shapes(*forms)
    first = by_rules(forms[0])
    running().tell(1, 2, "networks reduced")
    second = by_rules(forms[1])
    difference = bends_of(first.form).minus(bends_of(second.form))
    tick()
    found = _equal(first, second) if difference.is_zero else _different(first, second, difference, within, forms)
    everywhere = resolve_domain(None, forms[0].W.shape[1])
    proofs = [proof_without_atlas(form.program, everywhere, f"{found.reason}, in rationals") for form in forms]
    # What is said of both is as sure as what is said of the less certain one.
    return answered(found, min(proofs, key=lambda proof: proof.proved))


def _equal(one: Reduced, other: Reduced) -> Match:
    first, second = one.form, other.form
    pairing = exact_pairing(first, second)
    if not with_equal_slopes(first, second, pairing):
        first, second = first.in_relus(), second.in_relus()
    transformation = pairing.transformation
    if not _same(of_program(transformation(first.program)), second):
        raise PolyfoldError("the transformation found does not take one network to the other; please report this")
    return Match("equal", _in_common(pairing), first.program, second.program, one.steps, other.steps, transformation)


def _in_common(pairing: Pairing) -> str:
    """What takes one form to the other, in a few words."""
    if not pairing.order:
        return "both are linear"
    flips = sum(factor < 0 for factor in pairing.factors)
    ways = [
        "reordered" if pairing.order != tuple(range(len(pairing.order))) else "",
        "rescaled" if any(abs(factor) != 1 for factor in pairing.factors) else "",
        f"{flips:,} flipped" if flips else "",
    ]
    words = ", ".join(way for way in ways if way) or "as they are"
    return f"{how_many(len(pairing.order), 'neuron')} in common, {words}"


def _different(one: Reduced, other: Reduced, difference: Bends, tolerance: float, forms: list[TwoLayer]) -> Match:
    x = point_of_difference(difference)
    values = tuple(_fractions(form.program.evaluate(x[None, :])[0]) for form in forms)
    point, both = _fractions(x), (values[0], values[1])
    first, second = one.form, other.form
    reason = _reason(first, second, difference)
    if tolerance:
        near = near_pairing(first, second, tolerance)
        if near is not None and not with_equal_slopes(first, second, near[0]):
            first, second = first.in_relus(), second.in_relus()
            near = near_pairing(first, second, tolerance)
        if near is not None:
            transformation = near[0].transformation
            linear = linear_deviation(transformation, first, second)
            if linear <= tolerance:
                deviation = max(near[1], linear)
                reason = f"weights deviate by {deviation:.3g} at most, measured in floats"
                return Match(
                    "matched", reason, first.program, second.program, one.steps, other.steps, transformation, point,
                    both, tolerance, deviation,
                )  # fmt: skip
            reason = f"{reason}; neurons match within {tolerance:g}, but linear parts deviate by {linear:.3g}"
        else:
            reason = f"{reason}; neurons do not match within {tolerance:g}"
    return Match(
        "different", reason, first.program, second.program, one.steps, other.steps, None, point, both, tolerance
    )


def _reason(first: TwoLayer, second: TwoLayer, difference: Bends) -> str:
    if not difference.bends:
        return "they bend alike, but their linear parts differ"
    walls = [_names(form) for form in (first, second)]
    wall = next(iter(difference.bends))
    if all(wall in named for named in walls):
        return f"they bend differently at the wall of {walls[0][wall]} of the first"
    for named, word, another in zip(walls, ("first", "second"), ("second", "first"), strict=True):
        for wall in difference.bends:
            if wall in named:
                return f"{named[wall]} of the {word} bends where the {another} does not"
    raise PolyfoldError("the networks differ at a wall that neither has; please report this")


def _names(form: TwoLayer) -> dict[Wall, str]:
    return {wall: str(origin) for (wall, _), origin in zip(form.walls, form.origins, strict=True)}


def _same(a: TwoLayer, b: TwoLayer) -> bool:
    """Whether all numbers of two forms are."""
    pairs = zip((a.W, a.b, a.V, a.on, a.off, a.alpha, a.c), (b.W, b.b, b.V, b.on, b.off, b.alpha, b.c), strict=True)
    return all(x.shape == y.shape and bool((x == y).all()) for x, y in pairs)


def _check_shapes(a: TwoLayer, b: TwoLayer) -> None:
    shapes = [form.alpha.shape for form in (a, b)]
    if shapes[0] != shapes[1]:
        words = [f"{how_many(d, 'input')} and {how_many(m, 'output')}" for m, d in shapes]
        raise ShapeError(f"networks that are compared need equal inputs and outputs; these have {' / '.join(words)}")
    if a.frame.head != b.frame.head:
        heads = " / ".join("none" if form.frame.head is None else str(form.frame.head) for form in (a, b))
        raise PolyfoldError(
            f"pf.compare.match compares scores, which says nothing of models with different heads ({heads}): "
            "pf.equivalent "
            "compares what comes behind them"
        )


def _tolerance(value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value) or value < 0:
        raise PolyfoldError(f"tolerance={value!r} must be a finite number, at least 0")
    return float(value)


def _fractions(values: Rationals) -> Point:
    return tuple(Fraction(int(value.p), int(value.q)) for value in values.tolist())


def _shown(values: Point) -> str:
    """In a few digits; of long lists only the beginning."""
    first = ", ".join(in_digits(value) for value in values[:_SHOWN])
    return f"({first})" if len(values) <= _SHOWN else f"({first}, ... {len(values):,} numbers)"
