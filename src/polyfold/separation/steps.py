"""What proofs about sequential separability are made of: hyperplanes, or why there are none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from polyfold._base.types import Array


@dataclass(frozen=True, eq=False)
class Step:
    """One class cut off from the others.

    The hyperplane {x : normal . (x - point) = 0} goes through point = mu centre + (1 - mu) mean of the class, 0 < mu
    < 1. The class lies strictly behind it, normal . (x - point) < 0; the points of the steps before and all classes
    after it lie strictly ahead. That is proved in rationals for `mu` and `normal` as they are; `point` is rounded.
    `margin` is the distance from the hyperplane to what is nearest to it.
    """

    label: Hashable
    mu: float
    normal: Array
    point: Array
    margin: float


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A class that cannot come next: its convex hull meets that of what it has to be cut off from.

    Both sums of weights are one, and both weighted sums the same point: `own` are weights of rows of X of this class,
    `others` of rows of classes still to come, `earlier` of limit points of classes before, `centre` that of the centre.
    """

    label: Hashable
    own: Mapping[int, Fraction]
    others: Mapping[int, Fraction]
    earlier: Mapping[Hashable, Fraction]
    centre: Fraction


@dataclass(frozen=True, eq=False)
class LimitPoint:
    """A class that has been cut off, and how near to the centre its point can be at best.

    Its point is centre + s (mean - centre) with s > `least`. If `least` is zero, `normal` is that of a hyperplane
    through the centre with the class on one side (or on it) and what it is cut off from on the other. If not, nothing
    nearer is possible: the point for s = `least` and rows `own` of the class add up, with these weights, to `others`,
    `earlier` and the centre, whose weights add up to 1 + the sum of `own`.
    """

    label: Hashable
    least: Fraction
    normal: Array | None
    own: Mapping[int, Fraction]
    others: Mapping[int, Fraction]
    earlier: Mapping[Hashable, Fraction]
    centre: Fraction


@dataclass(frozen=True, eq=False)
class DeadEnd:
    """A beginning of an order that nothing can follow, or only beginnings that are dead ends themselves.

    Every class that is left is in `blocked`, or `before` and it begin another dead end. There are two exceptions. If
    `without_loss` is a class, it alone had to be tried: its point may be as near to the centre as one likes, so it can
    come next in any order that works. If `worse_than` is the beginning of another dead end with the same classes,
    points there could be at least as near to the centre.
    """

    before: tuple[LimitPoint, ...]
    blocked: tuple[Obstacle, ...]
    without_loss: Hashable | None = None
    worse_than: tuple[Hashable, ...] | None = None

    @property
    def order(self) -> tuple[Hashable, ...]:
        """The labels of the classes that came first."""
        return tuple(point.label for point in self.before)
