"""A domain as proofs see it: a point inside, and a box around it if it is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array, Ids
from polyfold.atlas.geometry.domain_volume import no_gates
from polyfold.atlas.geometry.halfspaces import domain_rows
from polyfold.domain.domain import Domain
from polyfold.domain.points import contains
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.feasible import feasibility
from polyfold.engine.cells.validity import Walls
from polyfold.errors import DomainError, LimitError
from polyfold.exact.linear_program import maximise
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.integer_forms import ExactForms

# Exact linear programs over the domain's rows, two a dimension, are quick up to here.
_FEW_DIMENSIONS = 16


@dataclass(frozen=True, eq=False)
class Box:
    """Some parameters: |u - centre| <= half."""

    centre: Array
    half: Array

    @property
    def reach(self) -> Array:
        """A bound on |u|, coordinate by coordinate."""
        return (np.abs(self.centre) + self.half) * (1 + relative(4))

    def parts(self, axis: int) -> tuple[Box, Box]:
        """Its two halves; together they cover it in spite of rounding."""
        low, high = self.centre[axis] - self.half[axis], self.centre[axis] + self.half[axis]
        middle = (low + high) / 2
        return self._with_side(axis, np.nextafter(low, -np.inf), middle), self._with_side(
            axis, middle, np.nextafter(high, np.inf)
        )

    def _with_side(self, axis: int, low: float, high: float) -> Box:
        centre, half = self.centre.copy(), self.half.copy()
        centre[axis] = (low + high) / 2
        half[axis] = np.nextafter(max(high - centre[axis], centre[axis] - low), np.inf)
        return Box(centre, half)


@dataclass(frozen=True, eq=False)
class BoundedDomain:
    """A domain that is proved to have an inside, and a box that is proved to hold it, if one is known.

    `limits` are the least and largest parameters if the domain is nothing but a box, exactly.
    """

    domain: Domain
    inside: Witness
    box: Box | None
    limits: tuple[Array, Array] | None = None

    @property
    def why_no_box(self) -> str | None:
        """Why none is known, if that is not because the domain has no end."""
        many = self.domain.dim > _FEW_DIMENSIONS and self.domain.rows > self.domain.dim
        return f"no bounds were tried: polytopes of more than {_FEW_DIMENSIONS} dimensions need a box" if many else None

    def contains(self, points: Array) -> npt.NDArray[np.bool_]:
        """Whether points lie in the domain, exactly."""
        if self.limits is None:
            return contains(self.domain, points)
        inside: npt.NDArray[np.bool_] = np.all((points >= self.limits[0]) & (points <= self.limits[1]), axis=1)
        return inside

    def seems_to_contain(self, points: Array) -> npt.NDArray[np.bool_]:
        """The same as far as floats tell, which is much quicker."""
        A, b = self._rows
        inside: npt.NDArray[np.bool_] = np.all(points @ A.T <= b, axis=1)
        return inside

    def misses(self, box: Box) -> bool:
        """Whether one of the domain's rows proves that it has no point in the box."""
        if self.limits is not None:
            return False
        A, b = self._rows
        size_A, size_b = self._sizes_of_rows
        least = A @ box.centre - np.abs(A) @ box.half
        doubt = relative(2 * self.domain.input_dim + 16) * (size_A @ box.reach + size_b) + TINY * (1 + box.reach.sum())
        return bool((least - doubt > b).any())

    @cached_property
    def _sizes_of_rows(self) -> tuple[Array, Array]:
        """The sums of the absolute values of all terms in the rows over the parameters."""
        domain = self.domain
        over_inputs = np.abs(domain.input_rows)
        size_A = np.concatenate([over_inputs @ np.abs(domain.basis), np.abs(domain.parameter_rows)])
        size_b = np.abs(domain.input_offsets) + over_inputs @ np.abs(domain.origin)
        return size_A, np.concatenate([size_b, np.abs(domain.parameter_offsets)])

    @cached_property
    def _rows(self) -> tuple[Array, Array]:
        return domain_rows(self.domain)


def place_of(domain: Domain) -> BoundedDomain:
    """Look at a domain; it must have an interior."""
    if not domain.rows:
        return BoundedDomain(domain, Witness(np.zeros(domain.dim)), None)
    found = Walls(no_gates(domain), domain).bounding_box
    box = None if found is None else Box(*found)
    limits = limits_of(domain)
    if box is not None and limits is not None and ((limits[0] < box.centre) & (box.centre < limits[1])).all():
        return BoundedDomain(domain, Witness(box.centre), box, limits)
    inside = _inside(domain)
    if box is None and domain.rows > domain.dim and domain.dim <= _FEW_DIMENSIONS:
        box = _exact_box(domain, inside)
    return BoundedDomain(domain, inside, box)


def limits_of(domain: Domain) -> tuple[Array, Array] | None:
    """The sides of a domain whose rows are all u_k <= hi or -u_k <= -lo; nothing is rounded."""
    sides = sides_of(domain)
    if sides is None:
        return None
    axis, up = sides // 2, sides % 2 == 1
    offsets = np.concatenate([domain.input_offsets, domain.parameter_offsets])
    low, high = np.full(domain.dim, -np.inf), np.full(domain.dim, np.inf)
    np.minimum.at(high, axis[up], offsets[up])
    np.maximum.at(low, axis[~up], -offsets[~up])
    return low, high


def sides_of(domain: Domain) -> Ids | None:
    """Which side of a box each row is, 2 k below and 2 k + 1 above; None if one is none."""
    if domain.is_slice and len(domain.input_rows):
        return None
    sides = [np.zeros(0, dtype=np.int64)]
    for rows in (domain.over_inputs, domain.over_parameters):
        if not len(rows.matrix):
            continue
        if rows.single is None or not (np.abs(rows.single[1]) == 1).all():
            return None
        axis, value = rows.single
        sides.append(2 * axis + (value > 0))
    return np.concatenate(sides)


def _inside(domain: Domain) -> Witness:
    cells = Cells(no_gates(domain), domain)
    found = feasibility(cells, cells.walls.under(np.zeros(0, dtype=bool)))
    if found.status == "cell" and found.witness is not None:
        return found.witness
    if found.status == "undecided":
        raise LimitError(f"no point inside the domain, {domain.describe()}, could be proved: give a box around it, too")
    reason = "is empty" if found.status == "infeasible" else "has no interior: its cells would all be flat"
    raise DomainError(f"the domain, {domain.describe()}, {reason}")


def _exact_box(domain: Domain, inside: Witness) -> Box | None:
    """The smallest box, by exact linear programs; None if the domain is unbounded or reaches farther than floats."""
    rows = ExactForms(no_gates(domain), domain).under(()).rows
    A, b = [[fmpq(-x) for x in row[:-1]] for row in rows], [fmpq(row[-1]) for row in rows]
    ends = np.zeros((domain.dim, 2))
    for axis in range(domain.dim):
        for column, side in enumerate((-1, 1)):
            unit = [fmpq(side if axis == j else 0) for j in range(domain.dim)]
            found = maximise(unit, A, b, start=inside.rational)
            if found.status != "optimal" or found.value is None:
                return None
            try:
                ends[axis, column] = side * float(Fraction(int(found.value.p), int(found.value.q)))
            except OverflowError:
                return None
    centre = ends[:, 0] / 2 + ends[:, 1] / 2
    with np.errstate(over="ignore"):
        half = np.maximum(ends[:, 1] - centre, centre - ends[:, 0]) + relative(8) * np.abs(ends).max(axis=1) + TINY
    return Box(centre, half) if np.isfinite(half).all() else None
