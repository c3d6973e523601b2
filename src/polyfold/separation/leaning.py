"""Half-spaces leaned a little, or completed: linearly independent normals, and the facets of a simplex.

Whatever comes out is checked again in rationals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.linear_algebra import column_rank
from polyfold.exact.rational import as_float, rational, rational_matrix
from polyfold.exact.rational_arrays import rationals
from polyfold.separation.data import PointSet
from polyfold.separation.halfspaces import HalfSpace, beyond, holds

# Unit normals with a smaller singular value than this are leaned too, if there is room.
_CLOSE = 1 / 64

# By how much normals are leaned: halved until it works, so often at most.
_HALVINGS = 40


def independent(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> tuple[HalfSpace, ...] | None:
    """The same number of half-spaces with linearly independent normals, for the same points; None if floats fail."""
    found: list[HalfSpace] = []
    for wall in walls:
        tick()
        others = [other.normal for other in found]
        if _well_apart([*others, wall.normal]):
            found.append(wall)
            continue
        leaned = _leaned(inner, outer, wall, others)
        if leaned is None and column_rank(np.array([*others, wall.normal]).T) == len(found):
            return None
        found.append(wall if leaned is None else leaned)
    return tuple(found) if holds(inner, outer, found) else None


def completed(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> tuple[HalfSpace, ...] | None:
    """At most d independent half-spaces with further ones, far from the inner points, that make it a simplex."""
    dim = inner.dim
    size = float(np.ptp(np.concatenate([inner.floats, outer.floats]), axis=0).max())
    normals = [wall.normal / np.linalg.norm(wall.normal) for wall in walls]
    for axis in np.eye(dim):
        if len(normals) < dim and column_rank(np.array([*normals, axis]).T) == len(normals) + 1:
            normals.append(axis)
    normals.append(-np.sum(normals, axis=0))
    far = [HalfSpace(normal, float((inner.floats @ normal).max()) + size) for normal in normals[len(walls) :]]
    found = (*walls, *far)
    return found if holds(inner, outer, found) and is_simplex(found) else None


def is_simplex(walls: Sequence[HalfSpace]) -> bool:
    """Whether d + 1 half-spaces are those of a bounded simplex, exactly: some positive multiples of their normals add
    up to zero, and no d of them are dependent. (The simplex has an inside if it strictly holds any point.)"""
    normals = np.array([wall.normal for wall in walls])
    dim = normals.shape[1]
    if len(walls) != dim + 1:
        return False
    reduced, rank = rational_matrix(np.ascontiguousarray(normals.T)).rref()
    if rank < dim:
        return False
    return all(reduced[k, dim] < 0 for k in range(dim)) and all(reduced[k, k] == 1 for k in range(dim))


def jiggled(normals: Array) -> Iterator[Array]:
    """Normals that add up to zero, and others near them that do."""
    yield normals
    rng = np.random.default_rng(0)
    for halving in range(3, _HALVINGS, 4):
        noise = rng.normal(size=normals.shape) * np.abs(normals).max(axis=0)
        yield normals + np.ldexp(noise - noise.mean(axis=0), -halving)


def _well_apart(normals: Sequence[Array]) -> bool:
    """Whether normals are not even close to dependent: a cone's apex is then not too far away to be of use."""
    units = np.array([normal / np.linalg.norm(normal) for normal in normals])
    return bool(np.linalg.svd(units, compute_uv=False)[-1] > _CLOSE) if len(units) <= units.shape[1] else False


def _leaned(inner: PointSet, outer: PointSet, wall: HalfSpace, others: Sequence[Array]) -> HalfSpace | None:
    """The half-space with a normal that is no combination of the others, and the same points outside."""
    rows = np.flatnonzero(beyond(outer, wall))
    out = PointSet(outer.exact[rows], outer.floats[rows])
    length = float(np.abs(wall.normal).max())
    for axis in np.eye(inner.dim):
        if column_rank(np.array([*others, axis]).T) == len(others):
            continue
        for halving in range(3, _HALVINGS):
            tick()
            normal = wall.normal + np.ldexp(length, -halving) * axis
            exact = rationals(normal)
            below = inner.along(exact)[1]
            above = out.along(exact)[0] if len(out) else below + 1
            offset = as_float(fmpq(1, 2) * (below + above))
            if below < rational(offset) < above and column_rank(np.array([*others, normal]).T) == len(others) + 1:
                return HalfSpace(normal, offset)
    return None
