"""One class inside a few half-spaces, the other outside: both ways round, with the proofs in the user's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from polyfold._base.as_found import first_hand
from polyfold.errors import how_many
from polyfold.separation.data import Ids, LabelledData, PointSet, deadline_after
from polyfold.separation.halfspaces import (
    CoverSearch,
    Group,
    HalfSpace,
    JointObstacle,
    OutOfTimeError,
    in_another_unit,
)
from polyfold.separation.hulls import Weights
from polyfold.separation.polyhedral_result import (
    FacetObstacle,
    GroupObstacle,
    Kind,
    PolyhedralSeparability,
    Status,
)

Finish = Callable[[PointSet, PointSet, Sequence[HalfSpace]], Sequence[HalfSpace] | None]
Together = Callable[[PointSet, PointSet, Sequence[Group]], Sequence[HalfSpace] | JointObstacle | None]


def decided(
    data: LabelledData,
    kind: Kind,
    inside: Any,
    max_seconds: float | None,
    most: int,
    finish: Finish,
    together: Together | None = None,
) -> PolyhedralSeparability:
    """At most `most` half-spaces around one class, brought into shape by `finish`; offsets are in the data's unit."""
    deadline = deadline_after(max_seconds)
    choices = range(2) if inside is None else [data.row_of(inside)]
    groups: list[GroupObstacle] = []
    facets: list[FacetObstacle] = []
    programs, doubts = 0, ""

    def result(status: Status, label: Any, walls: Sequence[HalfSpace], reason: str) -> PolyhedralSeparability:
        normals = np.array([wall.normal for wall in walls]).reshape(len(walls), data.dim)
        bias = -np.array([wall.offset for wall in walls])
        proofs = (tuple(groups), tuple(facets)) if status == "not separable" else ((), ())
        return first_hand(PolyhedralSeparability(kind, status, label, normals, bias, *proofs, programs, reason))

    for k in choices:
        inner, outer = data.of(k), data.of(1 - k)
        search = CoverSearch(inner, outer, most, deadline)
        if together is not None:
            search.together = lambda parts, i=inner, o=outer: together(i, o, parts)
        try:
            walls = search.run()
        except OutOfTimeError:
            programs += search.programs
            doubts = f"undecided: {max_seconds:g} seconds were over before the search"
            continue
        programs += search.programs
        if walls is not None:
            shaped = finish(inner, outer, walls)
            if shaped is not None:
                facets_found = how_many(len(shaped), "facet")
                reason = f"a {kind} with {facets_found} holds class {data.labels[k]} and leaves the other one out"
                return result("separable", data.labels[k], shaped, reason)
        if walls is not None or search.undecided:
            doubts = f"undecided: a {kind}, if there is one, leaves less room than floats can tell"
            continue
        groups += _in_rows(data, k, search)
        facets += _facets_in_rows(data, k, search.joint)
    if doubts:
        return result("undecided", None, (), doubts)
    reason = f"no {kind} holds {_which(data, choices)} and leaves the other one out"
    if data.same_point is not None:
        reason += f": {data.in_words(data.same_point)}"
    return result("not separable", None, (), reason)


def in_users_unit(data: LabelledData, found: PolyhedralSeparability) -> PolyhedralSeparability:
    """What was found about data in their unit, for the data as they were given."""
    walls = [HalfSpace(normal, -bias) for normal, bias in zip(found.weights, found.bias.tolist(), strict=True)]
    moved = [in_another_unit(wall, data.exponent) for wall in walls]
    there = [wall for wall in moved if wall is not None]
    if len(there) < len(walls):
        reason = f"undecided: floats do not reach the {found.kind} that was found; scale the features to similar ranges"
        nothing = (np.zeros((0, data.dim)), np.zeros(0))
        return replace(found, status="undecided", inside=None, weights=nothing[0], bias=nothing[1], reason=reason)
    weights = np.array([wall.normal for wall in there]).reshape(len(there), data.dim)
    return first_hand(replace(found, weights=weights, bias=-np.array([wall.offset for wall in there])))


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
