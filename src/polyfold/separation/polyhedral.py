"""Polyhedral-cone and simplex separability of two classes: one of them inside a few half-spaces, the other outside.

A cone is S- = {p + sum a_i v_i : a_i <= 0}, with m <= d generators; for m < d everything that the weights map to zero
is added to it. In weights: {x : W x + b <= 0} with m <= d linearly independent rows. Independence costs nothing:
half-spaces that hold one finite set strictly and leave another out strictly can be leaned a little. So the question is
whether at most d half-spaces do.

A simplex has d + 1 facets. With at most d half-spaces there is one: made independent, they are completed by facets far
away from the inner class. With d + 1 the normals must add up to zero, with positive factors; then the half-spaces of
all groups are found together, by one linear program in which these factors are absorbed into the normals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, Report
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.errors import how_many
from polyfold.separation.data import LabelledData, PointSet, proved_of, two_classes
from polyfold.separation.facets import all_facets
from polyfold.separation.halfspaces import CoverSearch, Group, HalfSpace, JointObstacle, in_another_unit
from polyfold.separation.hulls import Weights
from polyfold.separation.leaning import completed, independent

Kind = Literal["cone", "simplex"]
Finish = Callable[[PointSet, PointSet, Sequence[HalfSpace]], Sequence[HalfSpace] | None]
Together = Callable[[PointSet, PointSet, Sequence[Group]], Sequence[HalfSpace] | JointObstacle | None]


@dataclass(frozen=True, eq=False)
class GroupObstacle:
    """Rows `others` of the outer class that no half-space with all of the inner class in it leaves out together.

    Weights (positive, adding up to one) of rows of either class that add up to the same point.
    """

    inside: Hashable
    own: Mapping[int, Fraction]
    others: Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class FacetObstacle:
    """Groups of rows that the facets of one simplex cannot leave out, one group each.

    For every group the rows `others`, weighted, minus the rows `own`, with the same total weight, give one and the same
    vector, which is not zero for any group without being so for all.
    """

    inside: Hashable
    groups: tuple[frozenset[int], ...]
    own: tuple[Mapping[int, Fraction], ...]
    others: tuple[Mapping[int, Fraction], ...]


@dataclass(frozen=True, eq=False)
class PolyhedralSeparability(Verdict):
    """Whether a polyhedral cone (or a simplex) holds one class and leaves the other out.

    As a truth value, "unknown" raises UnknownError.

    Attributes
    ----------
    kind : "cone" or "simplex"
        What was looked for.
    verdict : "yes", "no" or "unknown"
        "yes" has weights and bias; "no" is proved by the obstacles, of both classes: the points of the other class
        cannot be shared out among so few half-spaces without an obstacle in one of them. "unknown" says in `reason`
        why.
    inside : label, optional
        The class inside.
    weights, bias : arrays of float, shapes (m, d) and (m,)
        weights @ x + bias is negative in all entries for points of class `inside`, and positive in at least one for the
        others; proved in rationals.
    group_obstacles : tuple of GroupObstacle
        Points that no half-space leaves out together.
    facet_obstacles : tuple of FacetObstacle
        Groups that the facets of one simplex cannot leave out.
    programs : int
        How many pairs of sets were tried.
    reason : str
        The answer in words.
    """

    words = ("separable", "not separable", "unknown")

    kind: Kind
    verdict: Literal["yes", "no", "unknown"]
    inside: Hashable
    weights: Array
    bias: Array
    group_obstacles: tuple[GroupObstacle, ...]
    facet_obstacles: tuple[FacetObstacle, ...]
    programs: int
    reason: str

    def ask_instead(self) -> str:
        return "look at its verdict and reason, or give it more time (max_seconds)"

    @cached_property
    def generators(self) -> Array:
        """v_i as rows (m, d): the columns of the pseudo-inverse of the weights. In a cone x = base + sum a_i v_i, plus
        what all weights map to zero, with a_i = (weights @ x + bias)_i; the cone is where all a_i <= 0."""
        return np.asarray(np.linalg.pinv(self.weights).T, dtype=np.float64)

    @cached_property
    def base(self) -> Array:
        """p: the apex of a cone (if m < d, that point of the apex flat which is nearest to the origin)."""
        return -self.generators.T @ self.bias

    @cached_property
    def vertices(self) -> Array:
        """(d + 1, d): the corners of a simplex; corner i lies on all facets but facet i."""
        rows = range(len(self.bias))
        found = [
            np.linalg.solve(self.weights[[k for k in rows if k != i]], -self.bias[[k for k in rows if k != i]])
            for i in rows
        ]
        return np.array(found)

    def __repr__(self) -> str:
        return f"PolyhedralSeparability: {self.reason}"


@question("separation.cone")
def cone(
    X: ArrayLike,
    y: ArrayLike,
    *,
    inside: Any = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> PolyhedralSeparability:
    """Whether a polyhedral cone with at most d facets holds one class and leaves every point of the other out.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Points of two classes.
    y : array, shape (n,)
        Their labels.
    inside : label, optional
        The class in the cone; both are tried if it is not given.
    max_seconds : float, optional
        The limit. The question is NP-complete; after so long the answer is "unknown".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many pairs of sets
        were tried.

    Returns
    -------
    PolyhedralSeparability
        The verdict, with the cone or the proof that there is none.

    Examples
    --------
    >>> import polyfold as pf
    >>> found = pf.separation.cone([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> found.word, found.weights.shape
    ('separable', (2, 2))
    """
    data = two_classes(X, y, "separability by a polyhedral cone")
    return in_users_unit(data, cone_around(data, inside))


@question("separation.simplex")
def simplex(
    X: ArrayLike,
    y: ArrayLike,
    *,
    inside: Any = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> PolyhedralSeparability:
    """Whether a simplex with d + 1 facets holds one class and leaves every point of the other out.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Points of two classes.
    y : array, shape (n,)
        Their labels.
    inside : label, optional
        The class in the simplex; both are tried if it is not given.
    max_seconds : float, optional
        The limit. The question is NP-complete; after so long the answer is "unknown".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many pairs of sets
        were tried.

    Returns
    -------
    PolyhedralSeparability
        The verdict, with the simplex or the proof that there is none.

    Examples
    --------
    >>> import polyfold as pf
    >>> ring = [[3, 0], [-3, 0], [0, 3], [0, -3], [2, 2], [-2, 2], [2, -2], [-2, -2]]
    >>> found = pf.separation.simplex([[0, 0], *ring], ["core"] + ["ring"] * 8)
    >>> found.word, found.inside, found.vertices.shape
    ('separable', 'core', (3, 2))
    """
    data = two_classes(X, y, "separability by a simplex")
    return in_users_unit(data, simplex_around(data, inside))


def cone_around(data: LabelledData, inside: Any) -> PolyhedralSeparability:
    """The same of data that have been checked, in their unit."""
    return _decided(data, "cone", inside, data.dim, independent)


def simplex_around(data: LabelledData, inside: Any) -> PolyhedralSeparability:
    """The same of data that have been checked, in their unit."""

    def finish(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> Sequence[HalfSpace] | None:
        if len(walls) > data.dim:
            return walls
        apart = independent(inner, outer, walls)
        return None if apart is None else completed(inner, outer, apart)

    return _decided(data, "simplex", inside, data.dim + 1, finish, all_facets)


def _decided(
    data: LabelledData, kind: Kind, inside: Any, most: int, finish: Finish, together: Together | None = None
) -> PolyhedralSeparability:
    """At most `most` half-spaces around one class, brought into shape by `finish`; offsets are in the data's unit."""
    choices = range(2) if inside is None else [data.row_of(inside)]
    groups: list[GroupObstacle] = []
    facets: list[FacetObstacle] = []
    programs, doubts = 0, ""
    stopped_by: str | None = None

    def result(
        verdict: Literal["yes", "no", "unknown"], label: Any, walls: Sequence[HalfSpace], reason: str
    ) -> PolyhedralSeparability:
        normals = np.array([wall.normal for wall in walls]).reshape(len(walls), data.dim)
        bias = -np.array([wall.offset for wall in walls])
        proofs = (tuple(groups), tuple(facets)) if verdict == "no" else ((), ())
        found = PolyhedralSeparability(kind, verdict, label, normals, bias, *proofs, programs, reason)
        if verdict == "unknown":
            return answered(found, stopped_by=stopped_by)
        return answered(found, proved_of(data, "half-spaces, or obstacles to them, in rationals"))

    for k in choices:
        search: CoverSearch | None = None
        try:
            inner, outer = data.of(k), data.of(1 - k)
            search = CoverSearch(inner, outer, most)
            if together is not None:
                search.together = lambda parts, i=inner, o=outer: together(i, o, parts)
            walls = search.run()
            shaped = None if walls is None else finish(inner, outer, walls)
        except OutOfTimeError as error:
            programs += 0 if search is None else search.programs
            stopped_by = error.stopped_by
            doubts = f"unknown: {stopped_by} ended the search"
            break
        programs += search.programs
        if shaped is not None:
            facets_found = how_many(len(shaped), "facet")
            reason = f"a {kind} with {facets_found} holds class {data.labels[k]} and leaves the other one out"
            return result("yes", data.labels[k], shaped, reason)
        if walls is not None or search.undecided:
            doubts = f"unknown: a {kind}, if there is one, leaves less room than floats can tell"
            continue
        groups += _in_rows(data, k, search)
        facets += _facets_in_rows(data, k, search.joint)
    if doubts:
        return result("unknown", None, (), doubts)
    reason = f"no {kind} holds {_which(data, choices)} and leaves the other one out"
    if data.same_point is not None:
        reason += f": {data.in_words(data.same_point)}"
    return result("no", None, (), reason)


def in_users_unit(data: LabelledData, found: PolyhedralSeparability) -> PolyhedralSeparability:
    """What was found about data in their unit, for the data as they were given."""
    walls = [HalfSpace(normal, -bias) for normal, bias in zip(found.weights, found.bias.tolist(), strict=True)]
    moved = [in_another_unit(wall, data.exponent) for wall in walls]
    there = [wall for wall in moved if wall is not None]
    if len(there) < len(walls):
        reason = f"unknown: floats do not reach the {found.kind} that was found; scale the features to similar ranges"
        nothing = (np.zeros((0, data.dim)), np.zeros(0))
        lost = replace(found, verdict="unknown", inside=None, weights=nothing[0], bias=nothing[1], reason=reason)
        return answered(lost)
    weights = np.array([wall.normal for wall in there]).reshape(len(there), data.dim)
    given = replace(found, weights=weights, bias=-np.array([wall.offset for wall in there]))
    return answered(given, found.evidence, stopped_by=found.stopped_by)


def _which(data: LabelledData, choices: Sequence[int]) -> str:
    return " or ".join(f"class {data.labels[k]}" for k in choices)


def _in_rows(data: LabelledData, k: int, search: CoverSearch) -> list[GroupObstacle]:
    own, other = data.members[k], data.members[1 - k]
    return [
        GroupObstacle(data.labels[k], _named(found.first, own), _named(found.second, other))
        for found in search.obstacles.values()
    ]


def _facets_in_rows(data: LabelledData, k: int, joint: Sequence[JointObstacle]) -> list[FacetObstacle]:
    own, other = data.members[k], data.members[1 - k]
    return [
        FacetObstacle(
            data.labels[k],
            tuple(frozenset(int(other[row]) for row in group) for group in found.groups),
            tuple(_named(weights, own) for weights in found.inner),
            tuple(_named(weights, other) for weights in found.outer),
        )
        for found in joint
    ]


def _named(weights: Weights, rows: Ids) -> dict[int, Fraction]:
    return {int(rows[k]): _fraction(weight) for k, weight in weights.items()}


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
