"""Points cut off from a set by a few half-spaces: each point outside at least one, the set inside all of them.

A group of points can be cut off by one half-space if and only if its convex hull misses that of the set. So k
half-spaces are enough if and only if the points can be put into k groups none of which holds an obstacle: a set of
points whose hull meets that of the inner set. Obstacles are found when they are met, each with a common point that
proves it. The search puts a point that is still inside everywhere into each of the groups in turn; points that are
outside already need no group. If it ends without a cover, the obstacles found prove that there is none. It may take
long: the question is NP-complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from polyfold._base.clock import running, tick
from polyfold._base.types import Array, Flags
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import nearest, product, rationals
from polyfold.exact.rounding import TINY, relative
from polyfold.separation.data import PointSet
from polyfold.separation.hulls import CommonPoint, Separation, Weights, separate

Group = frozenset[int]


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """{x : normal . x <= offset}, both floats; a set lies strictly inside and certain points strictly outside."""

    normal: Array
    offset: float


@dataclass(frozen=True, eq=False)
class JointObstacle:
    """Groups that cannot be cut off by the facets of one simplex, although each can be by some half-space.

    For every group, weights of its points minus weights of inner points (the same total) add up to one and the same
    vector.
    """

    groups: tuple[Group, ...]
    inner: tuple[Weights, ...]
    outer: tuple[Weights, ...]


# Half-spaces for all groups at once, or an obstacle to that, or None where it could not be decided.
Together = Callable[[Sequence[Group]], Sequence[HalfSpace] | JointObstacle | None]


@dataclass
class CoverSearch:
    """A search for at most `most` half-spaces that hold `inner` and leave every point of `outer` out.

    `together`, if given, is asked when all groups have points: its half-spaces replace those of single groups.
    """

    inner: PointSet
    outer: PointSet
    most: int
    together: Together | None = None
    obstacles: dict[Group, CommonPoint] = field(default_factory=dict)
    joint: list[JointObstacle] = field(default_factory=list)
    undecided: int = 0
    programs: int = 0
    _known: dict[Group, HalfSpace] = field(default_factory=dict)

    def run(self) -> tuple[HalfSpace, ...] | None:
        """Half-spaces, or None. None is proved by the obstacles unless `undecided` counts something."""
        for k in range(len(self.outer)):
            # A point in the inner hull is an obstacle of its own, whatever the number of half-spaces.
            if not self._separable(frozenset({k})):
                return None
        return self._place(())

    def _place(self, groups: tuple[Group, ...]) -> tuple[HalfSpace, ...] | None:
        walls: Sequence[HalfSpace] = [self._known[group] for group in groups]
        if self.together is not None and len(groups) == self.most:
            found = self.together(groups)
            if found is None:
                self.undecided += 1
                return None
            if isinstance(found, JointObstacle):
                self.joint.append(found)
                return None
            walls = found
        inside = self._inside(walls)
        if not len(inside):
            return tuple(walls)
        point, choices = self._hardest(groups, inside)
        for choice in choices:
            joined = frozenset({point, *(groups[choice] if choice < len(groups) else ())})
            cover = self._place((*groups[:choice], joined, *groups[choice + 1 :]))
            if cover is not None:
                return cover
        return None

    def _hardest(self, groups: tuple[Group, ...], inside: Sequence[int]) -> tuple[int, list[int]]:
        """Of some points that are still inside, the one that fits into the fewest groups, and those groups."""
        best: tuple[int, list[int]] | None = None
        for point in inside[:_LOOKED_AT]:
            choices = [k for k, group in enumerate(groups) if self._separable(group | {point})]
            if len(groups) < self.most and self._separable(frozenset({point})):
                choices.append(len(groups))
            if best is None or len(choices) < len(best[1]):
                best = (point, choices)
            if not choices:
                break
        assert best is not None
        return best

    def _separable(self, group: Group) -> bool:
        if group in self._known:
            return True
        if any(obstacle <= group for obstacle in self.obstacles):
            return False
        tick()
        self.programs += 1
        running().tell(self.programs, what="pairs of sets tried")
        members = sorted(group)
        part = PointSet(self.outer.exact[members], self.outer.floats[members])
        found = separate(self.inner, part)
        if isinstance(found, CommonPoint):
            weights = {members[k]: weight for k, weight in found.second.items()}
            self.obstacles[frozenset(weights)] = CommonPoint(found.first, weights)
            return False
        wall = half_space(found, self.inner, part)
        if wall is None:
            self.undecided += 1
            return False
        self._known[group] = wall
        return True

    def _inside(self, walls: Sequence[HalfSpace]) -> list[int]:
        """Outer points that are not proved to lie outside of a half-space, those deepest inside first."""
        if not walls:
            return list(range(len(self.outer)))
        depth = np.min([wall.offset - self.outer.floats @ wall.normal for wall in walls], axis=0)
        left = ~outside(self.outer, walls)
        return [int(k) for k in np.argsort(-depth, kind="stable") if left[k]]


# So many points are looked at to find the one that leaves the fewest choices.
_LOOKED_AT = 6


def half_space(found: Separation, inner: PointSet, outer: PointSet) -> HalfSpace | None:
    """A separation in floats, checked again; None if rounding has closed the gap."""
    normal = nearest(found.normal)
    if not np.isfinite(normal).all():
        return None
    exact = rationals(normal)
    below, above = inner.along(exact)[1], outer.along(exact)[0]
    offset = as_float((below + above) / 2)
    return HalfSpace(normal, offset) if below < rational(offset) < above else None


def in_another_unit(wall: HalfSpace, exponent: int) -> HalfSpace | None:
    """The half-space of the same points, measured in units 2^exponent times as small; None if floats do not reach.

    A half-space is the same if its normal and offset are multiplied by one positive number, so both can be kept away
    from the ends of the number range.
    """
    size = int(np.frexp(np.abs(wall.normal).max())[1])
    for shift in (0, -size - exponent // 2):
        with np.errstate(over="ignore"):
            normal, offset = np.ldexp(wall.normal, shift), np.ldexp(wall.offset, shift + exponent)
            back = (np.ldexp(normal, -shift), np.ldexp(offset, -shift - exponent))
        if np.array_equal(back[0], wall.normal) and back[1] == wall.offset:
            return HalfSpace(normal, float(offset))
    return None


def outside(points: PointSet, walls: Sequence[HalfSpace]) -> Flags:
    """Which points are proved to lie strictly outside of at least one of the half-spaces."""
    found = np.zeros(len(points), dtype=bool)
    for wall in walls:
        found |= beyond(points, wall)
    return found


def beyond(points: PointSet, wall: HalfSpace) -> Flags:
    """Which points lie strictly outside of one half-space: floats decide where their error bound lets them."""
    with np.errstate(all="ignore"):
        values = points.floats @ wall.normal - wall.offset
        sizes = np.abs(points.floats) @ np.abs(wall.normal) + abs(wall.offset)
        # Features below all floats were rounded to the nearest one, or to zero.
        doubt = relative(points.dim + 5) * sizes + TINY * (np.abs(wall.normal).sum() + points.dim + 3)
        found: Flags = values > doubt
        close = np.flatnonzero(~(np.abs(values) > doubt))
    exact, level = rationals(wall.normal), rational(wall.offset)
    for k in close.tolist():
        found[k] = product(points.exact[k : k + 1], exact)[0] > level
    return found


def holds(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> bool:
    """Whether all inner points lie strictly inside all half-spaces, and every outer one strictly outside of one."""
    return bool(outside(outer, walls).all()) and all(
        inner.along(rationals(wall.normal))[1] < rational(wall.offset) for wall in walls
    )
