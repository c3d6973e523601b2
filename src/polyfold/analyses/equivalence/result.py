"""What is known about the difference of two networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold.atlas.certificate import Certificate
from polyfold.errors import PolyfoldError

Verdict = Literal["equal", "different", "unknown"]
# A number that is proved, or infinity.
Size = Fraction | float
Point = tuple[Fraction, ...]


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
                f"a difference of {as_float(self.largest):g} is at odds with a bound of {as_float(self.upper):g}; "
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

    def __str__(self) -> str:
        if self.exact:
            return f"{as_float(self.largest):.6g} exactly" if self.largest < inf else "infinite"
        return f"between {as_float(self.largest):.6g} and {_up(self.upper):.6g}"


@dataclass(frozen=True, eq=False, repr=False)
class Equivalence:
    """Whether two networks are the same function on a domain, up to a tolerance.

    `verdict` is "equal" (proved), "different" (proved, by `point`) or "unknown". As a truth value it is True only if
    the networks are proved to be equal: ask for the verdict where "different" and "unknown" are not the same to you.
    `by_output` says for every output what is known about the largest difference; `max_difference`, `upper` and `point`
    are those of all outputs together. `certificate` says what a proof of equality or of the exact maximum rests on;
    there is none where a single point decides.
    """

    verdict: Verdict
    tolerance: Fraction
    by_output: tuple[Difference, ...]
    method: str
    certificate: Certificate | None
    stopped_by: str | None
    seconds: float

    def __bool__(self) -> bool:
        return self.verdict == "equal"

    def __repr__(self) -> str:
        within = f" within {float(self.tolerance):g}" if self.tolerance else ""
        said = {
            "equal": f"EQUAL{within}, proved",
            "different": f"DIFFERENT{within}, proved",
            "unknown": f"UNKNOWN whether they are equal{within} (which counts as False)",
        }[self.verdict]
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        return f"Equivalence: {said}; largest difference {self.worst}; {self.method}{stopped}; {self.seconds:.3g} s"

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
    def x(self) -> npt.NDArray[np.float64] | None:
        """The point in floats."""
        return None if self.point is None else np.array([as_float(value) for value in self.point])

    def to_json(self) -> dict[str, Any]:
        """Numbers and words only. Bounds are rounded upwards; infinity is the word "infinity"."""
        point = self.point
        return {
            "verdict": self.verdict,
            "tolerance": float(self.tolerance),
            "max_difference": _number(self.max_difference),
            "max_difference_is_exact": self.exact,
            "max_difference_as_fraction": str(self.max_difference) if self.max_difference < inf else None,
            "bounds": {"lower": _number(self.max_difference), "upper": _number(_up(self.upper))},
            "by_output": [
                {"lower": _number(one.largest), "upper": _number(_up(one.upper)), "exact": one.exact}
                for one in self.by_output
            ],
            "point": None if point is None else [as_float(value) for value in point],
            "point_as_fractions": None if point is None else [str(value) for value in point],
            "method": self.method,
            "certificate": None if self.certificate is None else self.certificate.level,
            "checks": []
            if self.certificate is None
            else [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in self.certificate.checks],
            "stopped_by": self.stopped_by,
            "seconds": self.seconds,
        }


def _number(value: Size) -> float | str:
    return as_float(value) if value < inf else "infinity"


def as_float(value: Size) -> float:
    """The nearest float; infinity if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf


def _up(value: Size) -> float:
    """A float that is no less; the same if there is one."""
    rounded = as_float(value)
    return rounded if rounded >= value else float(np.nextafter(rounded, np.inf))
