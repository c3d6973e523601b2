"""Where a pattern holds: one inequality a wall, in floats that know how far they can be wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from polyfold._base.types import Array, Ids, Signs
from polyfold.atlas.geometry.halfspaces import domain_rows
from polyfold.domain.domain import Domain
from polyfold.domain.points import bounded_lift
from polyfold.errors import LimitError, how_many
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rational import rational_matrix
from polyfold.exact.rounding import FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW, TINY, relative
from polyfold.program.passes.beyond_floats import exact_walls, leaves_range
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.held import all_gate_forms
from polyfold.program.passes.pulled_back import majorant, roundings, support
from polyfold.program.program import Program

# Bytes that one cell may take unless somebody says otherwise.
ROWS_MEMORY = 4 << 30
# Matrices of all rows of a cell that are held while its facets are found.
_MATRICES = 10


@dataclass(frozen=True, eq=False)
class Validity:
    """{u : A u <= b}: where a pattern holds, its boundary included. Row r comes from `wall[r]`.

    Walls are numbered as in an atlas: gates first, then domain rows. A gate that vanishes identically under the
    pattern has no row, and a domain row that does not depend on u has none. The true rows lie within `A_error` and
    `b_error` of the rounded ones.
    """

    program: Program = field(repr=False)
    domain: Domain = field(repr=False)
    signs: Signs
    A: Array
    b: Array
    wall: Ids
    A_error: Array = field(repr=False)
    b_error: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.b)

    def __repr__(self) -> str:
        gates = int((self.wall < self.program.gates).sum())
        return (
            f"Validity: {how_many(gates, 'gate')} and {how_many(len(self) - gates, 'domain row')} "
            f"in {how_many(self.A.shape[1], 'dimension')}"
        )

    @property
    def names(self) -> list[str]:
        """The rows' walls in the user's terms."""
        return [wall_name(self.program, self.domain, wall) for wall in self.wall.tolist()]

    @cached_property
    def within_reach(self) -> bool:
        """Whether floats can measure lengths in the set: squares of its rows' numbers neither overflow nor vanish."""
        sizes = np.abs(self.A).max(axis=1, initial=0.0)
        least, most = np.sqrt(FAR_FROM_UNDERFLOW), np.sqrt(FAR_FROM_OVERFLOW)
        ordinary = (sizes == 0) | ((sizes > least) & (sizes < most))
        return bool(ordinary.all() and (np.abs(self.b) < most).all())

    def contains(self, u: Array) -> bool:
        """Whether a point lies in the closed set, up to the rows' own errors."""
        doubt = self.A_error @ np.abs(u) + self.b_error + relative(len(u) + 4) * (np.abs(self.A) @ np.abs(u))
        return bool((self.A @ u <= self.b + doubt + relative(4) * np.abs(self.b)).all())


def wall_name(program: Program, domain: Domain, wall: int) -> str:
    """A wall in the user's terms."""
    if 0 <= wall < program.gates:
        return f"gate {wall} ({program.origins[wall]})"
    if program.gates <= wall < program.gates + domain.rows:
        return f"domain row {wall - program.gates}"
    return f"wall {wall}, which does not exist"


def check_rows_fit(program: Program, domain: Domain, memory: int = ROWS_MEMORY) -> None:
    """Refuse a cell with too many rows to work with: a matrix of all walls by all parameters, several times over."""
    walls = program.gates + domain.rows
    needed = 8 * _MATRICES * walls * (domain.dim + 1)
    if needed > memory:
        raise LimitError(
            f"the walls of one cell, {walls:,} rows of {domain.dim:,} numbers, take about {needed:,} bytes to work "
            f"with, which is more than max_memory={memory}: give max_memory={needed} if you have it, or take a line or "
            "plane"
        )


class Walls:
    """The walls of a program on a domain: their inequalities under a pattern, and proofs of their signs."""

    def __init__(self, program: Program, domain: Domain) -> None:
        self.program = program
        self.domain = domain

    @property
    def count(self) -> int:
        return self.program.gates + self.domain.rows

    def under(self, signs: Signs) -> Validity:
        """The inequalities of a pattern."""
        program, domain = self.program, self.domain
        (a, b), (doubt_a, doubt_b) = self.forms(signs)
        side = np.where(signs, -1.0, 1.0)
        gates = np.flatnonzero(doubt_a.any(axis=1) | (doubt_b > 0))
        rows = np.flatnonzero(self.varying)
        A, b_rows, A_error, b_error = self._domain_rows
        return Validity(
            program,
            domain,
            signs,
            np.concatenate([a[gates] * side[gates, None], A[rows]]),
            np.concatenate([-b[gates] * side[gates], b_rows[rows]]),
            np.concatenate([gates, program.gates + rows]),
            np.concatenate([doubt_a[gates], A_error[rows]]),
            np.concatenate([doubt_b[gates], b_error[rows]]),
        )

    def forms(self, signs: Signs) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """All gates as a . u + b, and how far these numbers can be wrong."""
        program, domain = self.program, self.domain
        exact = exact_walls(program, domain, signs) if leaves_range(program, domain) else None
        if exact is not None:
            # Nothing but the last rounding, or an underflow then. What has no terms is zero.
            some = all_gate_forms(self._support, self._touched, signs)
            doubts = [np.where(p > 0, relative(2) * np.abs(x) + TINY, 0.0) for x, p in zip(exact, some, strict=True)]
            return exact, (doubts[0], doubts[1])
        with np.errstate(over="ignore", invalid="ignore"):
            a, b = all_gate_forms(program, domain, signs)
            size_a, size_b = all_gate_forms(self._majorant, self._absolute, signs)
        error = relative(roundings(program) + domain.input_dim + domain.dim + 8)
        doubt_a, doubt_b = _doubt(error, size_a), _doubt(error, size_b)
        if not (size_a.all() and size_b.all()):
            # What is zero because of underflow is not zero; ones instead of the coefficients cannot underflow.
            some_a, some_b = all_gate_forms(self._support, self._touched, signs)
            doubt_a[(size_a == 0) & (some_a > 0)] = doubt_b[(size_b == 0) & (some_b > 0)] = TINY
        return (a, b), (doubt_a, doubt_b)

    def signs(self, points: Array, radius: Array) -> tuple[Signs, Signs]:
        """(sign, whether it is proved) of every wall all over the boxes |u - point| <= radius, entry by entry.

        A gate's sign is "on". A domain row's is "strictly inside"; one that does not depend on u always is.
        """
        lifted = bounded_lift(self.domain, points)
        spread = radius @ np.abs(self.domain.basis).T if self.domain.is_slice else radius
        inputs = BoundedValues(lifted.values, (lifted.errors + spread) * (1 + relative(self.domain.dim + 8)))
        passed = bounded_forward(self.program, inputs)
        inside, certain = self._rows_hold(inputs, BoundedValues(points, radius))
        return np.concatenate([passed.pattern, inside], axis=1), np.concatenate([passed.certain, certain], axis=1)

    @cached_property
    def varying(self) -> Signs:
        """Which domain rows depend on u, exactly."""
        domain = self.domain
        varies = np.any(domain.input_rows, axis=1)
        if domain.is_slice:
            size = np.abs(domain.input_rows) @ np.abs(domain.basis)
            doubt = relative(domain.input_dim + 4) * size + TINY
            varies = np.any(np.abs(domain.input_rows @ domain.basis) > doubt, axis=1)
            for r in np.flatnonzero(~varies & size.any(axis=1)):
                exact = rational_matrix(domain.input_rows[r : r + 1]) * rational_matrix(domain.basis)
                varies[r] = any(exact.entries())
        return np.concatenate([varies, domain.parameter_rows.any(axis=1)])

    @cached_property
    def bounding_box(self) -> tuple[Array, Array] | None:
        """Some box (centre, half sides) that is proved to hold the domain, if its rows show one."""
        domain = self.domain
        over_u = _box_of(domain.parameter_rows, domain.parameter_offsets)
        over_x = _box_of(domain.input_rows, domain.input_offsets)
        if not domain.is_slice and over_x is not None:
            return over_x
        if over_u is not None or over_x is None:
            return over_u
        # u = B+ (x - origin) - (B+ B - 1) u. While the last bracket is small, u is at most twice the rest.
        inverse = np.linalg.pinv(domain.basis)
        if np.abs(inverse @ domain.basis - np.eye(domain.dim)).sum(axis=1).max() > 0.25:
            return None
        farthest = np.abs(over_x[0]) + over_x[1] + np.abs(domain.origin)
        half = float((np.abs(inverse) @ farthest).max()) * 2
        return np.zeros(domain.dim), np.full(domain.dim, half)

    @cached_property
    def _majorant(self) -> Program:
        return majorant(self.program)

    @cached_property
    def _support(self) -> Program:
        return support(self.program)

    @cached_property
    def _absolute(self) -> Domain:
        return _frame(np.abs(self.domain.origin), np.abs(self.domain.basis))

    @cached_property
    def _touched(self) -> Domain:
        return _frame((self.domain.origin != 0).astype(float), (self.domain.basis != 0).astype(float))

    @cached_property
    def _domain_rows(self) -> tuple[Array, Array, Array, Array]:
        """A, b and their errors."""
        domain = self.domain
        A, b = domain_rows(domain)
        A_error, b_error = np.zeros_like(A), np.zeros_like(b)
        if domain.is_slice:
            k, error = len(domain.input_rows), relative(domain.input_dim + 8)
            A_error[:k] = _doubt(error, np.abs(domain.input_rows) @ np.abs(domain.basis))
            size = np.abs(domain.input_offsets) + np.abs(domain.input_rows) @ np.abs(domain.origin)
            b_error[:k] = _doubt(error, size)
        return A, b, A_error, b_error

    def _rows_hold(self, inputs: BoundedValues, parameters: BoundedValues) -> tuple[Signs, Signs]:
        if not self.domain.rows:
            return np.zeros((len(inputs.values), 0), dtype=bool), np.zeros((len(inputs.values), 0), dtype=bool)
        slacks, doubts = [], []
        for rows, bound, values in (
            (self.domain.over_inputs, self.domain.input_offsets, inputs),
            (self.domain.over_parameters, self.domain.parameter_offsets, parameters),
        ):
            spread, size = rows.sizes_at(values.errors), np.abs(bound) + rows.sizes_at(np.abs(values.values))
            slacks.append(bound - rows.at(values.values))
            doubts.append(relative(rows.matrix.shape[1] + 8) * (size + spread) + spread + TINY)
        slack = np.concatenate(slacks, axis=1)
        certain: Signs = np.abs(slack) > np.concatenate(doubts, axis=1)
        return (slack > 0) | ~self.varying, certain | ~self.varying


def _frame(origin: Array, basis: Array) -> Domain:
    """A domain without rows."""
    n, d = basis.shape
    return Domain(origin, basis, np.zeros((0, n)), np.zeros(0), np.zeros((0, d)), np.zeros(0))


def _doubt(error: float, sizes: Array) -> Array:
    """How far sums of terms of these sizes can be wrong; a sum without terms is right."""
    return np.where(sizes > 0, error * sizes + TINY, 0.0)


def _box_of(rows: Array, offsets: Array) -> tuple[Array, Array] | None:
    """The box (centre, half sides) that rows with a single entry describe, a little enlarged; None if a side lacks."""
    if not rows.shape[1]:
        return None
    lo, hi = np.full(rows.shape[1], -np.inf), np.full(rows.shape[1], np.inf)
    single = np.flatnonzero(np.count_nonzero(rows, axis=1) == 1)
    axis = np.abs(rows[single]).argmax(axis=1) if len(single) else single
    with np.errstate(over="ignore"):
        bound = offsets[single] / rows[single, axis]
    up = rows[single, axis] > 0
    np.minimum.at(hi, axis[up], bound[up])
    np.maximum.at(lo, axis[~up], bound[~up])
    if not (np.isfinite(lo).all() and np.isfinite(hi).all()):
        return None
    centre = lo / 2 + hi / 2
    with np.errstate(over="ignore"):
        half = (np.maximum(hi - centre, centre - lo) + relative(4) * np.maximum(np.abs(lo), np.abs(hi))) + TINY
    return (centre, half) if np.isfinite(half).all() else None
