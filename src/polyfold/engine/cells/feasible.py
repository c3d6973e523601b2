"""Whether a pattern occurs: a point that has it, or a proof that none can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Literal

import numpy as np
from flint import fmpq

from polyfold._base.clock import running, tick
from polyfold._base.types import Array
from polyfold.engine.cells.exact_cell import ExactCells
from polyfold.engine.cells.facet_proof import FloatProofs
from polyfold.engine.cells.facets import Cells, Witness, as_floats
from polyfold.engine.cells.validity import Validity
from polyfold.exact.combination import combination, constant
from polyfold.exact.linear_program import Optimum, maximise
from polyfold.exact.rational import fraction
from polyfold.program.passes.integer_forms import Pattern

Multipliers = dict[int, Fraction]
Status = Literal["cell", "thin", "infeasible", "undecided"]

# An exact program over so many numbers takes seconds at most.
_MOST_ENTRIES = 40_000


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What is proved about a pattern.

    "cell": it has an interior, and `witness` lies in it. "thin": inputs have it, `witness` among them, but no interior.
    "infeasible": no input has it. Then `multipliers` are positive multiples of the walls' inequalities (as
    `PatternMap.exact_row` gives them) that add up to a contradiction. "undecided": too large to tell.
    """

    status: Status
    witness: Witness | None = None
    multipliers: Mapping[int, Fraction] = field(default_factory=dict)


UNDECIDED = Feasibility("undecided")


def feasibility(cells: Cells, validity: Validity) -> Feasibility:
    """Look for a point in floats and prove it; else prove exactly that there is none."""
    support: list[int] = []
    if cells.exact is None or validity.within_reach:
        proofs = FloatProofs(cells.walls, validity)
        point, support = _deepest(validity, proofs)
        if point is not None and proofs.is_inside(point):
            return Feasibility("cell", Witness(point))
    if cells.exact is None:
        return UNDECIDED
    pattern = tuple(validity.signs.tolist())
    multipliers = _contradiction(cells.exact, pattern, cells.domain.rows, support)
    if multipliers:
        return Feasibility("infeasible", None, multipliers)
    if (len(validity) + 1) * (cells.domain.dim + 1) > _MOST_ENTRIES:
        return UNDECIDED
    tick()
    inside = cells.exact.interior_point(pattern)
    if inside is not None:
        return Feasibility("cell", Witness(as_floats(inside), inside))
    found = _System(cells.exact, pattern, cells.domain.rows).any_point(cells.domain.dim)
    if isinstance(found, dict):
        return Feasibility("infeasible", None, found)
    return Feasibility("thin", Witness(as_floats(found), found))


def _deepest(validity: Validity, proofs: FloatProofs) -> tuple[Array | None, list[int]]:
    """The point that is farthest inside of all rows, or least outside; and the walls that keep it from going on."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog

    dim, rows = validity.A.shape[1], np.flatnonzero(proofs.norms > 0)
    if not len(rows):
        return np.zeros(dim), []
    A, b = proofs.normals[rows], validity.b[rows] / proofs.norms[rows]
    clock = running()
    cap = 1.0 + float(np.abs(b).max())
    found = linprog(
        [0.0] * dim + [-1.0],
        A_ub=np.column_stack([A, np.ones(len(rows))]),
        b_ub=b,
        bounds=[(None, None)] * dim + [(None, cap)],
        method="highs",
        options={} if clock.left == inf else {"time_limit": clock.left},
    )
    clock.check()
    if found.status != 0:
        return None, []
    return found.x[:dim], validity.wall[rows[found.ineqlin.marginals < 0]].tolist()


def _contradiction(exact: ExactCells, pattern: Pattern, domain_rows: int, support: list[int]) -> Multipliers:
    """Positive multiples of inequalities that cannot all hold, or nothing."""
    system = _System(exact, pattern, domain_rows)
    for wall in range(system.walls):
        tick()
        # A gate that is constant contradicts the pattern by itself, or not at all.
        form = system.row(wall)
        if not any(form[:-1]) and (form[-1] < 0 or (form[-1] == 0 and system.is_strict(wall))):
            return {wall: Fraction(1)}
    for wall in support:
        tick()
        others = [other for other in support if other != wall]
        rows = [system.row(other) for other in others]
        found = combination(rows, [-x for x in system.row(wall)])
        if found is None:
            continue
        total = fmpq(system.row(wall)[-1]) + constant(rows, found)
        used = {wall: fmpq(1), **{w: x for w, x in zip(others, found, strict=True) if x}}
        if total < 0 or (total == 0 and any(system.is_strict(w) for w in used)):
            return system.of_true_rows(used)
    return {}


class _System:
    """What a pattern asks for: of every wall a form, in integers, that has to be >= 0, or > 0 for a gate that is on."""

    def __init__(self, exact: ExactCells, pattern: Pattern, domain_rows: int) -> None:
        self.walls = len(pattern) + domain_rows
        self._exact, self._pattern = exact, pattern
        self._rows = exact.forms.under(pattern).rows

    def is_strict(self, wall: int) -> bool:
        return wall < len(self._pattern) and self._pattern[wall]

    def row(self, wall: int) -> list[int]:
        side = 1 if wall >= len(self._pattern) or self._pattern[wall] else -1
        return [side * x for x in self._rows[wall]]

    def of_true_rows(self, multipliers: Mapping[int, fmpq]) -> Multipliers:
        """Multipliers of the walls' own inequalities, from those of the integer rows that were worked with."""
        scale = self._exact.forms.scale
        return {wall: fraction(multiplier * scale(self._pattern, wall)) for wall, multiplier in multipliers.items()}

    def any_point(self, dim: int) -> tuple[fmpq, ...] | Multipliers:
        """A point that has the pattern, or multipliers that prove that there is none."""
        # How far above zero can all strict forms be at once, if the others hold?
        strict = [self.is_strict(wall) for wall in range(self.walls)]
        best = self._highest(dim, strict)
        if best.value is not None and best.point is not None and best.value > 0:
            return best.point[:dim]
        if best.multipliers is None:
            # Not even the closed inequalities hold together. How far below zero must one of them be?
            best = self._highest(dim, [True] * self.walls)
        assert best.multipliers is not None
        return self.of_true_rows({wall: x for wall, x in enumerate(best.multipliers[1:]) if x})

    def _highest(self, dim: int, lifted: list[bool]) -> Optimum:
        """The largest t <= 1 such that all forms are >= 0, and those that are lifted >= t."""
        A, b = [[fmpq(0)] * dim + [fmpq(1)]], [fmpq(1)]
        for wall in range(self.walls):
            *slopes, value = self.row(wall)
            A.append([*(fmpq(-x) for x in slopes), fmpq(int(lifted[wall]))])
            b.append(fmpq(value))
        return maximise([fmpq(0)] * dim + [fmpq(1)], A, b)
