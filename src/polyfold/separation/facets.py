"""Half-spaces for all groups at once, so that they are the facets of one bounded simplex.

The normals of a simplex's facets add up to zero with positive factors. Normals count up to such factors, so they can be
absorbed: one linear program finds normals that add up to zero and leave the widest gap between the inner points and
each group. Where there is none, its dual proves it: weights of a group's points minus weights of inner points give
the same vector for every group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.float_programs import linear_program
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import nearest, product, rationals
from polyfold.separation.data import PointSet
from polyfold.separation.halfspaces import Group, HalfSpace, JointObstacle
from polyfold.separation.hulls import gap_along, of_size_one, positive_kernel, scaling
from polyfold.separation.leaning import is_simplex, jiggled

Name = tuple[int, int]  # a group, and a point: inner ones first, those of the group behind them
_ONE, _ZERO = fmpq(1), fmpq(0)

# An exact program over so many normals' entries and offsets takes seconds at most: six dimensions.
_MOST_VARIABLES = 49


def all_facets(inner: PointSet, outer: PointSet, groups: Sequence[Group]) -> Sequence[HalfSpace] | JointObstacle | None:
    """The facets of a simplex around the inner points, one for each group; or why not; or None if it is not decided."""
    members = [sorted(group) for group in groups]
    parts = [PointSet(outer.exact[rows], outer.floats[rows]) for rows in members]
    normals, support = _widest(inner.floats, [part.floats for part in parts])
    walls = None if normals is None else _walls(normals, inner, parts)
    if walls is not None:
        return walls
    weights = _from_support(inner, parts, support)
    found = weights if weights is not None else _exactly(inner, parts, support)
    return _as_obstacle(found, len(inner), members) if isinstance(found, dict) else found


def _walls(normals: Array, inner: PointSet, parts: Sequence[PointSet]) -> Sequence[HalfSpace] | None:
    """Half-spaces with these normals or others nearby that are the facets of a simplex, proved; or None."""
    for trial in jiggled(normals):
        walls = [_wall(normal, inner, part) for normal, part in zip(trial, parts, strict=True)]
        found = [wall for wall in walls if wall is not None]
        if len(found) == len(walls) and is_simplex(found):
            return found
    return None


def _wall(normal: Array, inner: PointSet, part: PointSet) -> HalfSpace | None:
    gap = gap_along(rationals(normal), inner, part)
    if gap is None:
        return None
    offset = as_float(gap.offset)
    return HalfSpace(normal, offset) if gap.below < rational(offset) < gap.above else None


def _widest(inner: Array, parts: Sequence[Array]) -> tuple[Array | None, list[Name]]:
    """In floats: normals that add up to zero, with the widest gap for all groups; and what bounds it, as (group,
    point).

    Points of a group are numbered behind the inner ones.
    """
    from scipy.sparse import block_diag, csr_array, hstack

    dim, count = inner.shape[1], len(parts)
    scale, shift = scaling(np.concatenate([inner, *parts]))
    blocks = [
        np.block(
            [
                [(inner - shift) * scale, -np.ones((len(inner), 1))],
                [-(part - shift) * scale, np.ones((len(part), 1))],
            ]
        )
        for part in parts
    ]
    names = [(g, k) for g, part in enumerate(parts) for k in range(len(inner) + len(part))]
    rows = hstack([block_diag(blocks), csr_array(np.ones((len(names), 1)))]).tocsr()
    balance = np.hstack([*([np.eye(dim), np.zeros((dim, 1))] * count), np.zeros((dim, 1))])
    found = linear_program(
        [0.0] * (count * (dim + 1)) + [-1.0],
        A_ub=rows,
        b_ub=np.zeros(len(names)),
        A_eq=balance,
        b_eq=np.zeros(dim),
        bounds=([(-1, 1)] * dim + [(None, None)]) * count + [(None, None)],
    )
    if found.status != 0:
        return None, []
    support = [names[k] for k in np.flatnonzero(found.ineqlin.marginals < 0)]
    normals = found.x[:-1].reshape(count, dim + 1)[:, :dim] * scale
    return (of_size_one(normals) if found.x[-1] > 0 else None), support


def _row(inner: PointSet, parts: Sequence[PointSet], name: Name) -> list[fmpq]:
    """What a point asks of all normals and offsets, group after group."""
    group, k = name
    own = k < len(inner)
    point = inner.exact[k] if own else parts[group].exact[k - len(inner)]
    entries = [*point, -_ONE] if own else [*(-x for x in point), _ONE]
    width = inner.dim + 1
    return [_ZERO] * (group * width) + entries + [_ZERO] * ((len(parts) - group - 1) * width)


def _balance(dim: int, count: int) -> list[list[fmpq]]:
    """Rows that say that the normals of all groups add up to zero."""
    return [[fmpq(j % (dim + 1) == k) for j in range(count * (dim + 1))] for k in range(dim)]


def _from_support(inner: PointSet, parts: Sequence[PointSet], support: Sequence[Name]) -> dict[Name, fmpq] | None:
    """Weights that prove that there are no such facets, solved for in integers on the points that bound the gap."""
    balance = _balance(inner.dim, len(parts))
    rows = [_row(inner, parts, name) for name in support]
    found = positive_kernel([*rows, *balance, *([-x for x in row] for row in balance)]) if rows else None
    if found is None or not any(found[: len(rows)]):
        return None
    return {name: weight for name, weight in zip(support, found, strict=False) if weight}


def _exactly(
    inner: PointSet, parts: Sequence[PointSet], support: Sequence[Name]
) -> dict[Name, fmpq] | Sequence[HalfSpace] | None:
    """The widest gap in rationals; points that are on the wrong side join in. None if that would take too long."""
    dim, count = inner.dim, len(parts)
    width = count * (dim + 1)
    if width > _MOST_VARIABLES:
        return None
    objective = [_ZERO] * width + [_ONE]
    entries = [k for k in range(width) if k % (dim + 1) < dim]
    box = [[fmpq(sign * (j == k)) for j in range(width + 1)] for k in entries for sign in (1, -1)]
    balance = [[*row, _ZERO] for row in _balance(dim, count)]
    working = sorted({*support, *((g, k) for g in range(count) for k in (0, len(inner)))})
    while True:
        tick()
        rows = [[*_row(inner, parts, name), _ONE] for name in working]
        bounds = [_ZERO] * len(rows) + [_ONE] * len(box)
        start = [_ZERO] * (width + 1)
        best = maximise(objective, [*rows, *box], bounds, equalities=(balance, [_ZERO] * dim), start=start)
        assert best.value is not None and best.point is not None and best.multipliers is not None
        if best.value == 0:
            return {name: weight for name, weight in zip(working, best.multipliers, strict=False) if weight}
        normals = np.array(best.point[:width], dtype=object).reshape(count, dim + 1)[:, :dim]
        walls = _walls(nearest(normals), inner, parts)
        if walls is not None:
            return walls
        worst: set[Name] = set()
        for g, normal in enumerate(normals):
            inside, beyond = product(inner.exact, normal), product(parts[g].exact, normal)
            worst |= {(g, int(np.argmax(inside))), (g, len(inner) + int(np.argmin(beyond)))}
        if worst <= set(working):
            return None  # there are such facets, but not in floats
        working = sorted({*working, *worst})


def _as_obstacle(weights: dict[Name, fmpq], count: int, members: Sequence[Sequence[int]]) -> JointObstacle:
    inside: list[dict[int, fmpq]] = [{} for _ in members]
    beyond: list[dict[int, fmpq]] = [{} for _ in members]
    for (group, k), weight in weights.items():
        if k < count:
            inside[group][k] = weight
        else:
            beyond[group][members[group][k - count]] = weight
    return JointObstacle(tuple(frozenset(rows) for rows in members), tuple(inside), tuple(beyond))
