"""What is known about sequential linear separability: the hyperplanes, or why there are none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold._base.truth import YesOrNo

Array = npt.NDArray[np.float64]
Status = Literal["separable", "not separable", "undecided"]


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


@dataclass(frozen=True, eq=False)
class SequentialSeparability(YesOrNo, InNotebooks):
    """Whether classes can be cut off one after the other by hyperplanes.

    status: "separable" has `steps` in the order in which they are done; "not separable" has `dead_ends`, which prove
        that no order works; "undecided" says in `reason` what stopped the search.
    centre: the mean of the classes' means (or the point given), rounded.
    programs: how many pairs of sets were tried.
    same_point: two rows of X that are the same point with different labels, if there are any. They alone prove that no
        order works: whichever class comes first cannot be cut off from the other.

    As a truth value, "undecided" raises UnknownError.
    """

    status: Status
    centre: Array
    labels: tuple[Hashable, ...]
    steps: tuple[Step, ...]
    dead_ends: tuple[DeadEnd, ...]
    programs: int
    reason: str
    same_point: tuple[int, int] | None = None

    def truth(self) -> bool | None:
        return None if self.status == "undecided" else self.status == "separable"

    def ask_instead(self) -> str:
        return "look at its status and reason, or give it more time (max_seconds)"

    @property
    def order(self) -> tuple[Hashable, ...]:
        """The labels in the order of the steps; empty if there are none."""
        return tuple(step.label for step in self.steps)

    @property
    def margin(self) -> float:
        """The smallest margin of all steps; NaN if there are none."""
        return min((step.margin for step in self.steps), default=float("nan"))

    def __repr__(self) -> str:
        return f"SequentialSeparability: {len(self.labels)} classes, {self.reason}"
