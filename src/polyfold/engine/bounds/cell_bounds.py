"""How large affine functions are on cells of an atlas: bounds proved in floats, then the largest values in rationals.

On a cell {u : a_i . u <= b_i} a function D . u + e is at most sum l_i b_i + e, for any l >= 0 with D = sum l_i a_i.
The multipliers of the facets at the best vertex are such l, up to rounding, and so are those of a linear program. What
rounding leaves of D is bounded by how far the domain reaches. So vertices only propose: a wrong one makes a bound
larger, never wrong. Cells for which bounds do not settle it get linear programs in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.facet_rows import Rows, facet_rows, rows_of
from polyfold.atlas.geometry.generators import VERTEX, Generators
from polyfold.domain.points import exact_lift
from polyfold.engine.bounds.bounded_domain import Box
from polyfold.exact.linear_program import Optimum, maximise
from polyfold.exact.rational import fraction
from polyfold.exact.rounding import LEAST, TINY, relative
from polyfold.program.passes.integer_forms import ExactForms, Pattern

# Cells whose vertices are looked at together.
CELLS_AT_ONCE = 1 << 14
# With more dimensions cells have too many vertices to look at.
_FEW_DIMENSIONS = 7


@np.errstate(all="ignore")
def upper_bounds(atlas: Atlas, cells: Ids, slopes: Array, slope_errors: Array, box: Box) -> Array:
    """Bounds (n, j) on functions (n, j, d + 1) over each cell, within a box that holds the domain."""
    over_the_box = _over_the_box(slopes, slope_errors, box)
    if atlas.dim > _FEW_DIMENSIONS:
        return over_the_box
    bounds, reach = np.full(slopes.shape[:2], np.inf), box.reach
    generators = atlas.generators(cells)
    for j in range(slopes.shape[1]):
        best = _best_vertices(generators, slopes[:, j])
        there = np.flatnonzero(best >= 0)
        facets, used = _facets_at(generators, best[there], atlas.facet_start[cells[there]], atlas.dim)
        # Only these rows are needed.
        rows = rows_of(atlas, atlas.dim * np.arange(len(there) + 1), facets.ravel())
        at = np.arange(facets.size).reshape(facets.shape)
        multipliers = _solved(rows.A[at] * used[..., None], slopes[there, j, :-1])
        bounds[there, j] = _bound(rows, at, multipliers * used, slopes[there, j], slope_errors[there, j], reach)
    return np.minimum(np.where(np.isnan(bounds), np.inf, bounds), over_the_box)


def _over_the_box(functions: Array, errors: Array, box: Box) -> Array:
    """What functions are at most anywhere in the box, whichever their cells."""
    D, rounding = functions[..., :-1], relative(2 * functions.shape[-1] + 16)
    value = functions[..., -1] + D @ box.centre
    size = np.abs(functions[..., -1]) + np.abs(D) @ box.reach
    doubt = errors[..., -1] + errors[..., :-1] @ box.reach
    bound = value + np.abs(D) @ box.half + (doubt + rounding * size) * (1 + rounding) + TINY
    return np.where(np.isnan(bound), np.inf, bound + relative(4) * np.abs(bound))


@np.errstate(all="ignore")
def closer_bound(atlas: Atlas, cell: int, slopes: Array, slope_errors: Array, reach: Array) -> float:
    """The same for one function on one cell, with the multipliers that a linear program finds."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog

    rows = facet_rows(atlas, np.array([cell]))
    if not (np.isfinite(rows.A).all() and np.isfinite(rows.b).all() and np.isfinite(slopes).all()):
        return np.inf
    found = linprog(-slopes[:-1], A_ub=rows.A, b_ub=rows.b, bounds=(None, None), method="highs")
    if found.status != 0:
        return np.inf
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0)
    at = np.arange(len(rows.b))[None]
    bound = _bound(rows, at, multipliers[None], slopes[None], slope_errors[None], reach)[0]
    return float(bound) if not np.isnan(bound) else np.inf


def _best_vertices(generators: Generators, functions: Array) -> Ids:
    """For each item the vertex where its function is largest, or -1."""
    values = np.einsum("gd,gd->g", functions[generators.owner, :-1], generators.points)
    values = np.where((generators.kind == VERTEX) & np.isfinite(values), values, -np.inf)
    filled = np.diff(generators.start) > 0
    highest = np.full(len(generators), -np.inf)
    highest[filled] = np.maximum.reduceat(values, generators.start[:-1][filled]) if len(values) else []
    rows = np.flatnonzero((values == highest[generators.owner]) & (values > -np.inf))
    best: Ids = np.full(len(generators), -1)
    best[generators.owner[rows]] = rows  # of several the last one
    return best


def _facets_at(generators: Generators, vertices: Ids, first_facet: Ids, dim: int) -> tuple[Ids, Array]:
    """Facets (n, d) that meet in each vertex, and 1 where there is one, 0 where there are fewer than d."""
    start, stop = generators.facet_start[vertices], generators.facet_start[vertices + 1]
    places = start[:, None] + np.arange(dim)
    used = places < stop[:, None]
    safe = np.minimum(places, max(len(generators.facet) - 1, 0))
    return np.where(used, first_facet[:, None] + generators.facet[safe], first_facet[:, None]), used.astype(np.float64)


def _solved(A: Array, D: Array) -> Array:
    """l >= 0 with sum of l_i a_i = D, as far as there is one."""
    system = np.swapaxes(A, 1, 2)
    singular = np.linalg.det(system) == 0
    system = np.where(singular[:, None, None], np.eye(A.shape[1]), system)
    found = np.linalg.solve(system, D[..., None])[..., 0]
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)


def _bound(rows: Rows, at: Ids, multipliers: Array, functions: Array, errors: Array, reach: Array) -> Array:
    """What any multipliers >= 0 prove: l . b + e, plus what is left of D times the reach, plus all roundings."""
    A, b, A_error, b_error = rows.A[at], rows.b[at], rows.A_error[at], rows.b_error[at]
    D, e = functions[:, :-1], functions[:, -1]
    rounding = relative(2 * (at.shape[1] + D.shape[1]) + 16)
    size = np.abs(D) + np.einsum("nf,nfd->nd", multipliers, np.abs(A))
    left = np.abs(D - np.einsum("nf,nfd->nd", multipliers, A)) + rounding * size
    left = left + errors[:, :-1] + np.einsum("nf,nfd->nd", multipliers, A_error)
    # Products that underflow lose little, but it is multiplied by how far the domain reaches.
    left = left + 8 * at.shape[1] * LEAST
    level = e + np.einsum("nf,nf->n", multipliers, b)
    doubt = errors[:, -1] + np.einsum("nf,nf->n", multipliers, b_error) + left @ reach
    size_of_level = np.abs(e) + np.einsum("nf,nf->n", multipliers, np.abs(b))
    bound: Array = level + (doubt + rounding * size_of_level) * (1 + rounding) + TINY
    return bound + relative(4) * np.abs(bound)


class ExactPrograms:
    """Linear programs over the cells of one atlas; their walls are computed once a pattern."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._forms = ExactForms(atlas.program, atlas.domain)

    def largest(self, cell: int, slopes: Sequence[fmpq]) -> Optimum:
        """The largest value of slopes . u on a cell: a vertex, or a point and a ray along which it grows for ever."""
        A, b, _ = self.inequalities(cell)
        found = maximise(slopes, A, b, start=self._atlas.rational_witness(cell))
        assert found.point is not None
        return found

    def proof(self, cell: int, found: Optimum) -> dict[int, Fraction]:
        """By wall: what its inequality, as `PatternMap.exact_row` has it, is multiplied with in the proof that there is
        nothing larger on the cell."""
        _, _, walls = self.inequalities(cell)
        pattern = self._pattern(cell)
        return {
            wall: fraction(multiplier * self._forms.scale(pattern, wall))
            for wall, multiplier in zip(walls, found.multipliers or (), strict=True)
            if multiplier
        }

    def lifted(self, parameters: Sequence[fmpq]) -> list[fmpq]:
        """The input of a point of parameters."""
        column = exact_lift(self._atlas.domain, fmpq_mat(len(parameters), 1, list(parameters)))
        return [x for (x,) in column.tolist()]

    def _pattern(self, cell: int) -> Pattern:
        return tuple(self._atlas.signs([cell])[0].tolist())

    def inequalities(self, cell: int) -> tuple[list[list[fmpq]], list[fmpq], list[int]]:
        """The cell's facets as A u <= b, and the wall that each lies on."""
        atlas, pattern = self._atlas, self._pattern(cell)
        rows = self._forms.under(pattern).rows
        A, b, walls = [], [], []
        for facet in atlas.facets(cell):
            # A wall of a facet may vanish on one of its cells.
            wall = next(wall for wall in atlas.walls(facet) if any(rows[wall][:-1]))
            side = -1 if wall < atlas.gates and not pattern[wall] else 1
            A.append([fmpq(-side * x) for x in rows[wall][:-1]])
            b.append(fmpq(side * rows[wall][-1]))
            walls.append(wall)
        return A, b, walls
