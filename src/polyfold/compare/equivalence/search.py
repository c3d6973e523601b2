"""Points at which two networks differ much: random ones, and steps uphill from the best; confirmed in digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq_mat

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Clock, OutOfTimeError
from polyfold._base.types import Array
from polyfold.compare.equivalence.result import Difference, Point, as_float
from polyfold.compare.equivalence.sides import Sides
from polyfold.domain.domain import Domain
from polyfold.domain.points import exact_lift
from polyfold.errors import LimitError
from polyfold.exact.rational import rational_matrix
from polyfold.program.passes.pulled_back import output_forms

# Points to begin with, as long as the networks are small.
_POINTS = 1 << 14
_FLOATS = 1 << 22
# Numbers that are worked with between two looks at the clock.
_FLOATS_AT_ONCE = 1 << 20
# Of these, so many go uphill for each output.
_CLIMBERS = 4
# Steps uphill, as parts of the box, the longest first.
_STEPS = 0.5 ** np.arange(12)
# Random steps tried at a time, and what a step must gain to go on.
_AROUND = 64
_WORTH_A_STEP = 1.01
# Points that are looked at exactly, where floats may not show a difference.
_CLOSER = 64
# How far a point that lies outside after all is moved inwards.
_INWARD = 0.01
# Without a box: how far from the point that is known.
_DISTANCES = 10.0 ** np.arange(-2, 5)


class Search:
    """Looks for large differences, and keeps the largest of every row that was confirmed."""

    def __init__(self, sides: Sides, tolerance: Fraction) -> None:
        self._tolerance, self._rows, self._sides, place = tolerance, sides.rows, sides, sides.place
        self._first, self._second, self._domain = sides.first.program, sides.second.program, place.domain
        self._place, self._box, self._inside = place, place.box, place.inside.point
        self.found = [Difference(Fraction(0), float("inf")) for _ in range(len(sides.rows))]
        self._rng = np.random.default_rng(0)

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, clock: Clock) -> None:
        """Random points and a climb from the best, for every row, as long as a clock allows."""
        U = self.random_points()
        values = self._differences(U)
        for k in range(values.shape[1]):
            best = np.argsort(-np.abs(values[:, k]))[:_CLIMBERS]
            # Where the domain has no end, a climb may have none either.
            tops = U[best] if self._box is None else np.stack([self._climbed(U[i], k, clock) for i in best])
            self.confirm(tops[np.abs(self._differences(tops)[:, k]).argmax()])
            if clock.over:
                break
        self._look_closer(U, clock)

    def _look_closer(self, U: Array, clock: Clock) -> None:
        """Networks may differ by less than floats show: look at some points exactly, until one is found."""
        for u in U[:: max(1, len(U) // _CLOSER)]:
            if clock.over or any(one.largest > self._tolerance for one in self.found):
                return
            if self.holds(u):
                self._confirm(u)

    @property
    def largest(self) -> Fraction | float:
        """The largest difference that was confirmed."""
        return max(one.largest for one in self.found)

    def consider(self, u: Array) -> None:
        """Confirm a point if floats find that it differs more than those that are known."""
        if (np.abs(self._differences(u[None])[0]) > np.array([as_float(one.largest) for one in self.found])).any():
            self.confirm(u)

    def confirm(self, u: Array) -> None:
        """Compute the differences at a point exactly, and keep them if they are larger than what is known.

        A float32 point next to it is taken if it lies in the domain too, and shows enough: whoever computes in float32
        can have it. What only seemed to lie in the domain is moved inwards a little.
        """
        with np.errstate(over="ignore"):
            near = u.astype(np.float32).astype(np.float64)
        if not np.array_equal(near, u) and self.holds(near) and self._confirm(near) > self._tolerance:
            return
        candidate = u if self.holds(u) else u + _INWARD * (self._inside - u)
        if self.holds(candidate):
            self._confirm(candidate)

    def holds(self, u: Array) -> bool:
        """Whether a point of parameters is proved to lie in the domain."""
        return bool(np.isfinite(u).all()) and bool(self._place.contains(u[None])[0])

    def _confirm(self, u: Array) -> Fraction:
        """The largest difference at a point of the domain, which is kept where it is larger than what is known."""
        point = exactly_lifted(self._domain, u)
        try:
            gaps = self._sides.gaps_at(u, point)
        except OutOfTimeError:
            raise
        except LimitError:
            return Fraction(0)  # too long to be written down
        for k, gap in enumerate(gaps):
            if gap > self.found[k].largest:
                self.found[k] = Difference(gap, float("inf"), point)
        return max(gaps)

    @np.errstate(over="ignore", invalid="ignore")
    def _differences(self, U: Array) -> Array:
        found = np.empty((len(U), len(self._rows)))
        both = (self._first, self._second)

        def fill(part: slice) -> None:
            X = self._domain.lift(U[part])
            outputs = [program.evaluate(X)[0] for program in both]
            found[part] = np.nan_to_num(self._rows.of_floats(np.concatenate(outputs, axis=1)))

        in_chunks(len(U), sum(width for program in both for width in program.steps.widths) + 1, fill, _FLOATS_AT_ONCE)
        return found

    def random_points(self) -> Array:
        """Points of the domain's parameters, near and far."""
        dim = self._domain.dim
        widest = max([dim, *(w for p in (self._first, self._second) for w in p.steps.widths)])
        count = int(np.clip(_FLOATS // widest, 16, _POINTS))
        if self._box is None:
            away = self._rng.normal(size=(count, dim)) * self._rng.choice(_DISTANCES, size=(count, 1))
            points = self._inside + away
        else:
            places = self._rng.uniform(-1.0, 1.0, size=(count, dim))
            # Corners, too: there a difference is often largest.
            places[: count // 4] = np.sign(places[: count // 4])
            points = self._box.centre + places * self._box.half
        return np.concatenate([self._inside[None], self._pulled_in(points)])

    def _pulled_in(self, points: Array) -> Array:
        """Points, each moved to the nearest one of a box, or towards the inner point until it lies in the domain."""
        if self._place.limits is not None:
            return np.clip(points, *self._place.limits)
        for _ in range(len(_STEPS)):
            outside = ~self._place.seems_to_contain(points)
            if not outside.any():
                return points
            points = np.where(outside[:, None], (points + self._inside) / 2, points)
        return points[self._place.seems_to_contain(points)]

    def _climbed(self, u: Array, k: int, clock: Clock) -> Array:
        """Steps uphill, and to points around where the slope leads no further, while that helps."""
        value = abs(self._differences(u[None])[0, k])
        while not clock.over:
            trials = self._pulled_in(u + np.concatenate([_STEPS[:, None] * self._uphill(u, k), self._around(u)]))
            if not len(trials):
                return u
            values = np.abs(self._differences(trials)[:, k])
            best = int(values.argmax())
            if not values[best] > value * _WORTH_A_STEP:
                return u if values[best] <= value else trials[best]
            u, value = trials[best], values[best]
        return u

    def _around(self, u: Array) -> Array:
        """Random ways from a point, of all lengths."""
        assert self._box is not None
        steps = self._rng.normal(size=(_AROUND, len(u))) * self._rng.choice(_STEPS, size=(_AROUND, 1))
        return np.asarray(steps * self._box.half)

    def _uphill(self, u: Array, k: int) -> Array:
        """The direction in which the size of difference k grows fastest, measured by the box's sides."""
        assert self._box is not None
        x = self._domain.lift(u[None])
        slopes, sign = np.zeros(self._domain.dim), np.sign(self._differences(u[None])[0, k]) or 1.0
        sides = ((self._first, self._rows.first[k], sign), (self._second, self._rows.second[k], -sign))
        for program, terms, side in sides:
            _, pattern = program.evaluate(x)
            for output, factor in terms:
                A, _ = output_forms(program, pattern, some=slice(output, output + 1))
                slopes += factor * side * (A[0, 0] @ self._domain.basis if self._domain.is_slice else A[0, 0])
        return 2 * self._box.half * np.sign(slopes)


def exactly_lifted(domain: Domain, u: Array) -> Point:
    """The input of a float point of parameters."""
    column: fmpq_mat = exact_lift(domain, rational_matrix(u[:, None]))
    return tuple(Fraction(int(x.p), int(x.q)) for (x,) in column.tolist())
