"""Simplex separability of two classes: does a d-simplex hold one of them and leave the other out?

With at most d half-spaces it does: made independent, they are completed by facets far away from the inner class. With
d + 1 the normals must add up to zero, with positive factors; then the half-spaces of all groups are found together,
by one linear program in which these factors are absorbed into the normals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.analyses.separability.data import LabelledData, PointSet, two_classes
from polyfold.analyses.separability.halfspaces import Group, HalfSpace, JointObstacle
from polyfold.analyses.separability.hulls import Weights, gap_along, positive_kernel, scaling
from polyfold.analyses.separability.leaning import completed, independent, is_simplex, jiggled
from polyfold.analyses.separability.polyhedral import decided
from polyfold.analyses.separability.polyhedral_result import PolyhedralSeparability
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import rationals

Array = npt.NDArray[np.float64]
_ONE, _ZERO = fmpq(1), fmpq(0)


def simplex_separable(
    X: Any, y: Any, *, inside: Any = None, max_seconds: float | None = 60.0
) -> PolyhedralSeparability:
    """Whether a simplex with d + 1 facets holds one class and leaves every point of the other out.

    Parameters
    ----------
    inside: the label of the class in the simplex; both are tried if it is not given.
    max_seconds: the question is NP-complete; after so long the answer is "undecided". None for no limit.

    >>> ring = [[3, 0], [-3, 0], [0, 3], [0, -3], [2, 2], [-2, 2], [2, -2], [-2, -2]]
    >>> found = simplex_separable([[0, 0], *ring], ["core"] + ["ring"] * 8)
    >>> found.status, found.inside, found.vertices.shape
    ('separable', 'core', (3, 2))
    """
    return simplex_around(two_classes(X, y, "separability by a simplex"), inside, max_seconds)


def simplex_around(data: LabelledData, inside: Any, max_seconds: float | None) -> PolyhedralSeparability:
    """The same of data that have been checked."""

    def finish(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> Sequence[HalfSpace] | None:
        if len(walls) > data.dim:
            return walls
        apart = independent(inner, outer, walls)
        return None if apart is None else completed(inner, outer, apart)

    return decided(data, "simplex", inside, max_seconds, data.dim + 1, finish, all_facets)


def all_facets(inner: PointSet, outer: PointSet, groups: Sequence[Group]) -> Sequence[HalfSpace] | JointObstacle | None:
    """The facets of a simplex around the inner points, one for each group; or why not; or None if it is not decided."""
    members = [sorted(group) for group in groups]
    parts = [PointSet(outer.exact[rows], outer.floats[rows]) for rows in members]
    normals, support = _widest(inner.floats, [part.floats for part in parts])
    if normals is not None:
        for trial in jiggled(normals):
            walls = [_wall(normal, inner, part) for normal, part in zip(trial, parts, strict=True)]
            found = [wall for wall in walls if wall is not None]
            if len(found) == len(walls) and is_simplex(found):
                return found
    return _obstacle(inner, parts, members, support)


def _wall(normal: Array, inner: PointSet, part: PointSet) -> HalfSpace | None:
    gap = gap_along(rationals(normal), inner, part)
    if gap is None:
        return None
    offset = as_float(gap.offset)
    return HalfSpace(normal, offset) if gap.below < rational(offset) < gap.above else None


def _widest(inner: Array, parts: Sequence[Array]) -> tuple[Array | None, list[tuple[int, int]]]:
    """In floats: normals that add up to zero, with the widest gap for all groups; and what bounds it, as (group,
    point).

    Points of a group are numbered behind the inner ones.
    """
    from scipy.optimize import linprog
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
    found = linprog(
        [0.0] * (count * (dim + 1)) + [-1.0],
        A_ub=rows,
        b_ub=np.zeros(len(names)),
        A_eq=balance,
        b_eq=np.zeros(dim),
        bounds=([(-1, 1)] * dim + [(None, None)]) * count + [(None, None)],
        method="highs",
    )
    if found.status != 0:
        return None, []
    support = [names[k] for k in np.flatnonzero(found.ineqlin.marginals < 0)]
    normals = found.x[:-1].reshape(count, dim + 1)[:, :dim] * scale
    return (normals if found.x[-1] > 0 else None), support


def _obstacle(
    inner: PointSet, parts: Sequence[PointSet], members: Sequence[Sequence[int]], support: Sequence[tuple[int, int]]
) -> JointObstacle | None:
    """Weights that prove it, solved for in integers on the points that bound the gap."""
    dim, count = inner.dim, len(parts)
    rows: list[list[fmpq]] = []
    for group, k in support:
        own = k < len(inner)
        point = inner.exact[k] if own else parts[group].exact[k - len(inner)]
        entries = [*point, _ONE] if own else [-x for x in (*point, _ONE)]
        rows.append([_ZERO] * (group * (dim + 1)) + entries + [_ZERO] * ((count - group - 1) * (dim + 1)))
    shifts = [
        [fmpq(sign * (j % (dim + 1) == k)) for j in range(count * (dim + 1))] for k in range(dim) for sign in (1, -1)
    ]
    found = positive_kernel([*rows, *shifts]) if rows else None
    if found is None or not any(found[: len(rows)]):
        return None
    inside: list[dict[int, fmpq]] = [{} for _ in parts]
    beyond: list[dict[int, fmpq]] = [{} for _ in parts]
    for (group, k), weight in zip(support, found, strict=False):
        if weight and k < len(inner):
            inside[group][k] = weight
        elif weight:
            beyond[group][members[group][k - len(inner)]] = weight
    weights: tuple[tuple[Weights, ...], tuple[Weights, ...]] = (tuple(inside), tuple(beyond))
    return JointObstacle(tuple(frozenset(rows) for rows in members), *weights)
