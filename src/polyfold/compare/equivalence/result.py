"""What is known about the difference of two networks."""

from __future__ import annotations

import decimal
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, Literal

import numpy as np
from flint import fmpq

from polyfold._base.result import Verdict
from polyfold._base.types import Array
from polyfold._base.words import in_digits
from polyfold.atlas.certificate import Certificate
from polyfold.errors import PolyfoldError
from polyfold.network.head import Head, head_json

Said = Literal["equal", "different", "unknown"]
# A number that is proved, or infinity.
Size = Fraction | float
Point = tuple[Fraction, ...]
_CHANCE = "below 2^-100"


@dataclass(frozen=True)
class Difference:
    """How far two outputs are apart at most, over the domain.

    `largest` is the largest difference that was found, at `point` exactly so; or infinity, if the difference grows for
    ever in some direction. `upper` is proved not to be exceeded anywhere.
    """

    largest: Size
    upper: Size
    point: Point | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.largest <= self.upper:
            raise PolyfoldError(
                f"a difference of {in_digits(self.largest)} is at odds with a bound of {in_digits(self.upper)}; "
                "please report this"
            )

    @property
    def exact(self) -> bool:
        """Whether `largest` is the maximum."""
        return self.largest == self.upper

    def joined(self, other: Difference) -> Difference:
        """What both together know about the same difference."""
        best = self if (self.largest, self.point is not None) >= (other.largest, other.point is not None) else other
        return replace(best, upper=min(self.upper, other.upper))

    def over(self, factor: Fraction) -> Difference:
        """The difference, if this is a multiple of it."""
        largest, upper = (Fraction(size) / factor if size < inf else inf for size in (self.largest, self.upper))
        return Difference(largest, upper, self.point)

    def __str__(self) -> str:
        if self.largest == inf:
            return "infinite"
        least, most = in_digits(self.largest, decimal.ROUND_FLOOR), in_digits(self.upper, decimal.ROUND_CEILING)
        if self.exact:
            return f"{least} exactly" if least == most else f"{least}..., known exactly"
        return f"between {least} and {most}"


@dataclass(frozen=True, eq=False, repr=False)
class Equivalence(Verdict):
    """Whether two networks are the same function on a domain, up to a tolerance.

    The verdict and the tolerance speak of the models' outputs, heads included. As a truth value, "unknown" raises
    UnknownError. All of this speaks of the networks' own numbers in real arithmetic.

    Attributes
    ----------
    said : "equal", "different" or "unknown"
        "equal" is proved, and "different" is, by `point`; `verdict` says the same as yes, no or unknown.
    tolerance : Fraction
        How much outputs may differ.
    by_output : tuple of Difference
        For every output what is known about the largest difference; `max_difference`, `upper` and `point` are those of
        all outputs together.
    method : str
        What decided.
    certificate : Certificate, optional
        What a proof of equality or of the exact maximum rests on; there is none where a single point decides.
    heads : tuple of two Head or None
        What the models do behind their last piecewise-linear op.
    compared : str
        What `by_output` has the differences of: outputs, or the scores before a head that tell whether the outputs are
        the same.
    hint : str, optional
        Names the constants that differ where networks are the same in everything else.
    """

    words = ("equal", "different", "unknown")

    said: Said
    tolerance: Fraction
    by_output: tuple[Difference, ...]
    method: str
    certificate: Certificate | None
    heads: tuple[Head | None, Head | None] = (None, None)
    compared: str = "outputs"
    hint: str | None = None

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        """Whether they are equal."""
        return {"equal": "yes", "different": "no", "unknown": "unknown"}[self.said]  # type: ignore[return-value]

    def ask_instead(self) -> str:
        return "look at its verdict, give it more time (max_seconds), or allow a tolerance"

    def __repr__(self) -> str:
        within = f" within {in_digits(self.tolerance)}" if self.tolerance else ""
        known = f" as recorded {self.hearsay}" if self.hearsay else ", proved"
        said = {
            "equal": f"EQUAL{within}{known}" + (f" but for a chance {_CHANCE}" if self.by_drawn_roots else ""),
            "different": f"DIFFERENT{within}{known}",
            "unknown": f"UNKNOWN whether they are equal{within}",
        }[self.said]
        hint = f"; {self.hint}" if self.hint else ""
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        of = "" if self.compared == "outputs" else f" of {self.compared}"
        found = f"largest difference{of} {self.worst}; {self.method}{stopped}{hint}"
        return f"Equivalence: {said}; {found}; {self.seconds:.3g} s"

    @property
    def rounded(self) -> bool:
        """Whether some of the networks' numbers are irrational, or too many for rationals, so that others stood for
        them: the evidence says which. Bounds then have room for that, and `max_difference` is a lower bound at
        `point`."""
        return bool(self.evidence.rounding)

    @property
    def by_drawn_roots(self) -> bool:
        """Whether "equal" was found with numbers that were drawn in place of irrational numbers.

        Functions that differ agree at such numbers only by chance, below 2^-100.
        """
        return self.said == "equal" and self.rounded and self.upper == 0

    @property
    def worst(self) -> Difference:
        """The largest difference of all outputs."""
        largest = max(self.by_output, key=lambda one: (one.largest, one.point is not None))
        return replace(largest, upper=max(one.upper for one in self.by_output))

    @property
    def max_difference(self) -> Size:
        """The largest difference that was found: the maximum over the domain, if `exact`. May be infinite."""
        return self.worst.largest

    @property
    def exact(self) -> bool:
        """Whether `max_difference` is proved to be the maximum."""
        return self.worst.exact

    @property
    def upper(self) -> Size:
        """What the difference is proved not to exceed; may be infinite."""
        return self.worst.upper

    @property
    def point(self) -> Point | None:
        """An input, exact, at which the difference is `max_difference`. If that is infinite: one that shows that the
        networks differ by more than the tolerance. None where no difference was found."""
        return self.worst.point

    @property
    def x(self) -> Array | None:
        """The point in floats."""
        return None if self.point is None else np.array([as_float(value) for value in self.point])

    def facts(self) -> dict[str, Any]:
        """Numbers and words only, none of which is NaN or infinite.

        Differences that were found are rounded downwards and bounds upwards. Infinity, and what is larger than all
        floats after that, is the word "infinity". Entries of points that are too large for floats are null.
        """
        return {
            "verdict": self.verdict,
            "word": self.word,
            "proved": self.proved,
            "tolerance": _number(as_float(self.tolerance)),
            "tolerance_as_fraction": _fraction(self.tolerance),
            "max_difference": _number(_down(self.max_difference)),
            "max_difference_is_exact": self.exact,
            "max_difference_as_fraction": _fraction(self.max_difference),
            "bounds": {"lower": _number(_down(self.max_difference)), "upper": _number(_up(self.upper))},
            "by_output": [
                {
                    "lower": _number(_down(one.largest)),
                    "upper": _number(_up(one.upper)),
                    "exact": one.exact,
                    **_point(one.point),
                }
                for one in self.by_output
            ],
            **_point(self.point),
            "compared": self.compared,
            "heads": [head_json(head) for head in self.heads],
            "method": self.method,
            "certificate": None if self.certificate is None else self.certificate.level,
            "checks": []
            if self.certificate is None
            else [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in self.certificate.checks],
            "rounded": self.rounded,
            "chance_of_error": _CHANCE if self.by_drawn_roots else None,
            "hint": self.hint,
        }


def _number(value: float) -> float | str:
    return value if value < inf else "infinity"


def _fraction(value: Size) -> str | None:
    # Python itself refuses to write numbers of thousands of digits.
    return None if value == inf else str(fmpq(*Fraction(value).as_integer_ratio()))


def _point(point: Point | None) -> dict[str, Any]:
    if point is None:
        return {"point": None, "point_as_fractions": None}
    floats = [as_float(value) for value in point]
    return {
        "point": [value if abs(value) < inf else None for value in floats],
        "point_as_fractions": [_fraction(value) for value in point],
    }


def as_float(value: Size) -> float:
    """The nearest float; infinity, or minus infinity, if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _down(value: Size) -> float:
    """A float that is no more; the same if there is one."""
    rounded = as_float(value)
    return rounded if rounded <= value else float(np.nextafter(rounded, -np.inf))


def _up(value: Size) -> float:
    """A float that is no less; the same if there is one."""
    rounded = as_float(value)
    return rounded if rounded >= value else float(np.nextafter(rounded, np.inf))
