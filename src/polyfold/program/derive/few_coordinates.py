"""The parameters that matter: where all walls depend on r directions only, cells are those of R^r times a linear space.

Stack all rows that read the parameters: M, the weights of every stage on the inputs and the domain's own rows. With r
pivot columns J every other column is a combination of these, M u = M_J (u_J + T u_rest). So u has the pattern of
u_J + T u_rest in a network that reads the parameters J alone: each of its cells, times all u_rest, is a cell, with the
same walls, facets and neighbours. Columns are only left out: nothing is rounded.

That J is independent is proved modulo a prime, and that the rank is not larger by the number of rows, or in rationals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.domain.domain import Domain, whole_space
from polyfold.exact.linear_algebra import exact_rank, pivots_modulo
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals
from polyfold.program.affine import Affine, WrittenOut
from polyfold.program.program import Program

# In fewer dimensions there is little to gain, and witnesses stay where they have always been.
_MANY = 8
# What is not proved by the number of rows is left to elimination in rationals up to this rank.
_RANK_IN_RATIONALS = 40
# So many pivots are chosen so that they are far from dependent; that is for speed only.
_MOST_CHOSEN = 64


@dataclass(frozen=True, eq=False)
class FewCoordinates:
    """A program on a domain as far as cells depend on it: `axes` are the parameters that are left, of `dim`.

    Points with zeros in all other parameters are points of both.
    """

    program: Program
    domain: Domain
    axes: Ids
    dim: int
    rows: Array = field(repr=False)
    """What walls depend on: rows (k, dim), rounded; none where all parameters are left."""

    @property
    def all(self) -> bool:
        """Whether every parameter is left: these are the program and the domain themselves."""
        return len(self.axes) == self.dim

    def lifted(self, points: Array) -> Array:
        """Points (n, axes) of the smaller domain as points (n, dim) of the given one.

        Column by column: where nothing is ever written there is no memory behind zeros.
        """
        if self.all:
            return points
        columns = np.zeros((self.dim, len(points)))
        columns[self.axes] = points.T
        return columns.T

    def seen(self, points: Array) -> Array | None:
        """Points of the given domain as points of the smaller one; None if there are some that it does not have."""
        if self.all:
            return points
        left_out = np.setdiff1d(np.arange(self.dim), self.axes)
        if any(points[:, axis].any() for axis in left_out):
            return None
        return np.ascontiguousarray(points[:, self.axes])

    def nearly_seen(self, point: Array) -> Array:
        """About where the smaller domain has what all walls see of a point."""
        if self.all:
            return point
        return np.asarray(np.linalg.lstsq(self.directions[:, self.axes], self.directions @ point)[0], dtype=float)

    def distance(self, point: Array, to: Array) -> float:
        """About how far a point of the given domain is from all those that walls cannot tell from a smaller one's."""
        if self.all:
            return float(np.linalg.norm(point - to))
        return float(np.linalg.norm(self.directions @ (self.lifted(point[None, :])[0] - to)))

    @cached_property
    def directions(self) -> Array:
        """Orthonormal directions (axes, dim), about those on which walls depend."""
        _, _, found = np.linalg.svd(self.rows, full_matrices=False)
        return np.asarray(found[: len(self.axes)], dtype=float)


def few_coordinates(program: Program, domain: Domain) -> FewCoordinates:
    """The same cells with as few parameters as their walls depend on; all of them where that is not found to be fewer.

    >>> from polyfold.testing import program_from_layers
    >>> program = program_from_layers([(np.arange(1.0, 10.0)[None], [0.0]), ([[1.0]], [0.0])])
    >>> few_coordinates(program, whole_space(9)).axes
    array([8])
    """
    whole = FewCoordinates(program, domain, np.arange(domain.dim), domain.dim, np.zeros((0, domain.dim)))
    if domain.dim < _MANY or not program.written_out:
        return whole
    axes = _axes(program, domain)
    if axes is None:
        return whole
    inputs, parameters = _rows(program, domain)
    rows = np.concatenate([inputs @ domain.basis, parameters]) if domain.is_slice else parameters
    return FewCoordinates(*_on_axes(program, domain, axes), axes, domain.dim, rows)


def _axes(program: Program, domain: Domain) -> Ids | None:
    """Pivot columns, ascending; None if they are all columns, or if it is not proved that there are no more."""
    if _bounds_all(domain):
        return None
    inputs, parameters = _rows(program, domain)
    # A parameter with a row to itself is a pivot at once, and leaves nothing of its column to the other rows.
    is_single = np.count_nonzero(parameters, axis=1) == 1
    single = np.unique(parameters[is_single].nonzero()[1])
    others = np.setdiff1d(np.arange(domain.dim), single)
    if not len(others):
        return None
    rows = _without_repeated(parameters[~is_single][:, others])
    exact = rationals(rows)
    if domain.is_slice:
        exact = np.concatenate([product(rationals(inputs), rationals(domain.basis[:, others])), exact])
        rows = nearest(exact)
    order = _far_from_dependent(rows)
    pivots = _pivots(exact[:, order])
    if pivots is None:
        return None
    axes = np.sort(np.concatenate([single, others[order[pivots]]]))
    return axes if len(axes) else np.zeros(1, dtype=np.int64)


def _bounds_all(domain: Domain) -> bool:
    """Whether there is a row for each parameter alone, as in a box: a pivot each."""
    rows = domain.over_parameters if domain.is_slice else domain.over_inputs
    return rows.single is not None and len(np.unique(rows.single[0])) == domain.dim


def _rows(program: Program, domain: Domain) -> tuple[Array, Array]:
    """All rows that read inputs, and all that read parameters: on a slice others, else those as well."""
    over_inputs = [b.weight for stage in program.stages for b in stage.affine.blocks if b.source == 0]
    inputs = np.concatenate([*over_inputs, domain.input_rows])
    return inputs, domain.parameter_rows if domain.is_slice else np.concatenate([inputs, domain.parameter_rows])


def _without_repeated(rows: Array) -> Array:
    return np.unique(rows[rows.any(axis=1)], axis=0)


def _far_from_dependent(rows: Array) -> Ids:
    """Columns in an order such that the first ones are far from dependent: each is the longest across those before."""
    with np.errstate(all="ignore"):
        left = rows / np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
        chosen: list[int] = []
        for _ in range(min(*left.shape, _MOST_CHOSEN)):
            tick()
            lengths = np.nan_to_num((left * left).sum(axis=0), nan=0.0)
            lengths[chosen] = -1.0
            chosen.append(int(lengths.argmax()))
            unit = left[:, chosen[-1]] / np.sqrt(lengths[chosen[-1]])
            left = left - unit[:, None] * (unit[:, None] * left).sum(axis=0)
    return np.concatenate([chosen, np.setdiff1d(np.arange(rows.shape[1]), chosen)]).astype(np.int64)


def _pivots(rows: Rationals) -> list[int] | None:
    """The first columns that are independent; None if all are, or if it is not proved that there are no more."""
    count, columns = rows.shape
    # More rows than columns nearly always make all columns pivots, and some of the rows tell that already.
    if count > columns and len(pivots_modulo(rows[: columns + 1])) == columns:
        return None
    pivots = pivots_modulo(rows)
    if len(pivots) == columns:
        return None
    if len(pivots) < count and (len(pivots) > _RANK_IN_RATIONALS or exact_rank(rows) > len(pivots)):
        return None
    return pivots


def _on_axes(program: Program, domain: Domain, axes: Ids) -> tuple[Program, Domain]:
    """Both without the columns of all other parameters."""
    parameter_rows = domain.parameter_rows[:, axes]
    if domain.is_slice:
        return program, replace(domain, basis=domain.basis[:, axes], parameter_rows=parameter_rows)
    stages = tuple(replace(stage, affine=_affine_on(stage.affine, axes)) for stage in program.stages)
    smaller = replace(program, input_dim=len(axes), stages=stages, output=_affine_on(program.output, axes))
    rows = np.concatenate([domain.input_rows[:, axes], parameter_rows])
    offsets = np.concatenate([domain.input_offsets, domain.parameter_offsets])
    return smaller, replace(whole_space(len(axes)), input_rows=rows, input_offsets=offsets)


def _affine_on(affine: Affine, axes: Ids) -> WrittenOut:
    blocks = [replace(b, weight=np.ascontiguousarray(b.weight[:, axes])) if b.source == 0 else b for b in affine.blocks]
    return WrittenOut(tuple(blocks), affine.bias)
