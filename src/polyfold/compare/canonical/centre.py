"""A point inside a polyhedron that depends on nothing but the polyhedron."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

from flint import fmpq, fmpq_mat

from polyfold.compare.canonical.flats import Row
from polyfold.errors import LimitError, how_many
from polyfold.exact.linear_program import integer_row

Point = tuple[fmpq, ...]

# Choices of rows, each of which is solved for.
_MOST_CHOICES = 200_000


def centre(rows: Sequence[Row], dim: int) -> Point:
    """A point inside {x : a . x + b >= 0 for all rows (a, b)}, which must have an inside.

    It is the mean of the vertices, moved along all rays, and orthogonal to the lines. Of a box these are known. Else
    every choice of rows that may meet in a vertex is tried, which is fast enough for few rows; LimitError for others.

    >>> centre([(1, 0, 0), (0, 1, 0), (-1, -1, 3)], 2)
    (1, 1)
    >>> centre([(1, 0, -2)], 2), centre([], 2)
    ((3, 0), (0, 0))
    """
    if all(sum(map(bool, row[:-1])) == 1 for row in rows):
        return tuple(_middle([row for row in rows if row[k]], k) for k in range(dim))
    # In homogeneous coordinates (x, t) with t >= 0, vertices and rays are the extreme rays of a cone.
    cone = [*rows, (0,) * dim + (1,)]
    lines = _kernel(cone, dim + 1)
    choices = comb(len(cone), dim - len(lines))
    if choices > _MOST_CHOICES:
        raise LimitError(
            f"the domain's centre is a mean of vertices, and its {how_many(len(rows), 'row')} may meet in {choices:,} "
            f"ways, more than {_MOST_CHOICES:,}: take a box"
        )
    vertices: set[Row] = set()
    rays: set[Row] = set()
    for some in combinations(cone, dim - len(lines)):
        kernel = _kernel([*some, *lines], dim + 1)
        if len(kernel) > 1:
            continue
        for sign in (1, -1):
            ray = tuple(sign * entry for entry in kernel[0])
            if all(_dot(row, ray) >= 0 for row in cone):
                (vertices if ray[-1] else rays).add(ray)
    return tuple(
        sum((fmpq(v[k], v[-1]) for v in vertices), fmpq(0)) / len(vertices) + sum(ray[k] for ray in rays)
        for k in range(dim)
    )


def _middle(rows: Sequence[Row], axis: int) -> fmpq:
    """A box along one axis: half-way between its two sides, one away from its only side, or 0."""
    sides = [fmpq(-row[-1], row[axis]) for row in rows]
    if len(sides) == 1:
        return sides[0] + (1 if rows[0][axis] > 0 else -1)
    return sum(sides, fmpq(0)) / 2


def _kernel(rows: Sequence[Row], columns: int) -> list[Row]:
    """A basis of {v : row . v = 0 for all rows}, as primitive integers."""
    reduced, rank = fmpq_mat(len(rows), columns, [entry for row in rows for entry in row]).rref()
    lines = reduced.tolist()[:rank]
    pivots = [next(j for j, entry in enumerate(line) if entry) for line in lines]
    basis = []
    for free in (j for j in range(columns) if j not in pivots):
        vector = [fmpq(0)] * columns
        vector[free] = fmpq(1)
        for line, column in zip(lines, pivots, strict=True):
            vector[column] = -line[free]
        basis.append(tuple(integer_row(vector)))
    return basis


def _dot(row: Row, vector: Row) -> int:
    return sum(a * b for a, b in zip(row, vector, strict=True))
