"""Domains at random, each with an interior: whole spaces, boxes, polytopes and slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from polyfold.domain.domain import DomainLike, box, polytope, slice_of

Rng = np.random.Generator
DomainMaker = Callable[[Rng, int], DomainLike]


def everything(rng: Rng, dim: int) -> DomainLike:
    """All of R^d."""
    return None


def unit_box(rng: Rng, dim: int) -> DomainLike:
    """[-1, 1]^d."""
    return box(-1.0, 1.0)


def random_box(rng: Rng, dim: int) -> DomainLike:
    """A box of random sides around a random centre; some sides may be missing."""
    centre, half = rng.normal(size=dim), rng.uniform(0.5, 3.0, size=dim)
    lo, hi = centre - half, centre + half
    lo[rng.random(dim) < 0.2] = -np.inf
    hi[rng.random(dim) < 0.2] = np.inf
    return box(lo, hi)


def bounded_polytope(rng: Rng, dim: int) -> DomainLike:
    """A box with a few of its corners cut off."""
    normals = np.concatenate([np.eye(dim), -np.eye(dim), rng.normal(size=(3, dim))])
    return polytope(normals, rng.uniform(0.5, 2.0, size=len(normals)))


def unbounded_polytope(rng: Rng, dim: int) -> DomainLike:
    """At most d half-spaces."""
    rows = int(rng.integers(1, dim + 1))
    return polytope(rng.normal(size=(rows, dim)), rng.uniform(0.1, 2.0, size=rows))


def redundant_polytope(rng: Rng, dim: int) -> DomainLike:
    """Rows that repeat each other in other scales, that touch at one corner, and that hold everywhere."""
    rows = rng.integers(-2, 3, size=(dim + 1, dim)).astype(np.float64)
    box_rows = np.concatenate([np.eye(dim), -np.eye(dim)])
    normals = np.concatenate([rows, 2.0 * rows, box_rows, np.ones((1, dim)), box_rows[:1], np.zeros((1, dim))])
    bounds = np.concatenate([np.ones(dim + 1), np.full(dim + 1, 2.0), np.full(2 * dim, 2.0), [2.0 * dim], [5.0], [0.0]])
    return polytope(normals, bounds)


def random_slice(rng: Rng, dim: int) -> DomainLike:
    """A slice with random directions, of all of R^n or of a box, with or without bounds on its parameters."""
    directions = _slice_dim(rng, dim)
    return slice_of(
        rng.normal(size=dim),
        rng.normal(size=(dim, directions)),
        within=box(-4.0, 4.0) if rng.random() < 0.5 else None,
        bounds=box(-2.0, 2.0) if rng.random() < 0.5 else None,
    )


def aligned_slice(rng: Rng, dim: int) -> DomainLike:
    """A slice along some axes; the rows over the other axes hold all over it, one with equality."""
    directions = _slice_dim(rng, dim)
    axes = rng.permutation(dim)
    origin = np.zeros(dim)
    if directions < dim:
        origin[axes[-1]] = 1.0
    basis = np.eye(dim)[:, axes[:directions]]
    return slice_of(origin, basis, within=box(-1.0, 1.0), bounds=polytope(np.ones((1, directions)), [0.5]))


def lopsided_box(rng: Rng, dim: int) -> DomainLike:
    """A box around the origin with sides from a millionth to a million."""
    half = 10.0 ** rng.uniform(-6.0, 6.0, size=dim)
    return box(-half, half * rng.uniform(0.5, 2.0, size=dim))


def pyramid(rng: Rng, dim: int) -> DomainLike:
    """A pyramid over a cube: 2 (d - 1) facets meet at its apex, where d would do."""
    normals, bounds = _slopes(dim)
    base = np.eye(dim)[-1:]
    return polytope(np.concatenate([normals, -base]), np.append(bounds, 0.0))


def cone(rng: Rng, dim: int) -> DomainLike:
    """The same pyramid without its base: unbounded, with one vertex."""
    return polytope(*_slopes(dim))


def strip(rng: Rng, dim: int) -> DomainLike:
    """Between two parallel hyperplanes: unbounded without any vertex, as soon as there are two dimensions."""
    normal = rng.integers(-1, 2, size=dim).astype(np.float64)
    normal[rng.integers(dim)] = 1.0
    return polytope(np.stack([normal, -normal]), [1.0, 1.0])


GENERIC: tuple[DomainMaker, ...] = (
    everything,
    unit_box,
    random_box,
    bounded_polytope,
    unbounded_polytope,
    random_slice,
)
DEGENERATE: tuple[DomainMaker, ...] = (everything, unit_box, redundant_polytope, random_slice, aligned_slice)

# For the wide cases; in tuples of their own, so that a seed of the others keeps its case.
MORE_GENERIC: tuple[DomainMaker, ...] = (lopsided_box,)
MORE_DEGENERATE: tuple[DomainMaker, ...] = (random_box, bounded_polytope, lopsided_box, pyramid, cone, strip)


def _slopes(dim: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The sides x_d <= 1 - |x_i| of the pyramid, or x_d <= 1 if there is one dimension."""
    sides, up = np.eye(dim)[:-1], np.eye(dim)[-1:]
    normals = np.concatenate([sides + up, up - sides]) if dim > 1 else up
    return normals, np.ones(len(normals))


def _slice_dim(rng: Rng, dim: int) -> int:
    return int(rng.integers(max(1, dim - 2), dim + 1))
