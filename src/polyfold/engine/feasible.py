"""Whether a pattern occurs: a point that has it, or a proof that none can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.engine.cell_facets import Cells, Witness, as_floats
from polyfold.engine.exact_cell import ExactCells
from polyfold.engine.exact_forms import Pattern
from polyfold.engine.facet_proof import FloatProofs
from polyfold.engine.validity import Validity
from polyfold.exact.combination import combination, constant
from polyfold.exact.linear_program import maximise

Array = npt.NDArray[np.float64]
Status = Literal["cell", "thin", "infeasible", "undecided"]

# An exact program over so many numbers takes seconds at most.
_MOST_ENTRIES = 40_000


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What is proved about a pattern.

    "cell": it has an interior, and `witness` lies in it. "thin": inputs have it, `witness` among them, but no interior.
    "infeasible": no input has it. Then `multipliers` are positive multiples of walls' inequalities that add up to a
    contradiction; there are none if an exact linear program found out. "undecided": too large to tell.
    """

    status: Status
    witness: Witness | None = None
    multipliers: Mapping[int, Fraction] = field(default_factory=dict)


def feasibility(cells: Cells, validity: Validity) -> Feasibility:
    """Look for a point in floats and prove it; else prove exactly that there is none."""
    support: list[int] = []
    if cells.exact is None or validity.within_reach:
        proofs = FloatProofs(cells.walls, validity)
        point, support = _deepest(validity, proofs)
        if point is not None and proofs.is_inside(point):
            return Feasibility("cell", Witness(point))
    if cells.exact is None:
        return Feasibility("undecided")
    pattern = tuple(validity.signs.tolist())
    multipliers = _contradiction(cells.exact, pattern, cells.domain.rows, support)
    if multipliers:
        return Feasibility("infeasible", None, multipliers)
    if (len(validity) + 1) * (cells.domain.dim + 1) > _MOST_ENTRIES:
        return Feasibility("undecided")
    inside = cells.exact.interior_point(pattern)
    if inside is not None:
        return Feasibility("cell", Witness(as_floats(inside), inside))
    thin = _any_point(cells.exact, pattern, cells.domain.dim)
    if thin is not None:
        return Feasibility("thin", Witness(as_floats(thin), thin))
    return Feasibility("infeasible")


def _deepest(validity: Validity, proofs: FloatProofs) -> tuple[Array | None, list[int]]:
    """The point that is farthest inside of all rows, or least outside; and the walls that keep it from going on."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog

    dim, rows = validity.A.shape[1], np.flatnonzero(proofs.norms > 0)
    if not len(rows):
        return np.zeros(dim), []
    A, b = proofs.normals[rows], validity.b[rows] / proofs.norms[rows]
    cap = 1.0 + float(np.abs(b).max())
    found = linprog(
        [0.0] * dim + [-1.0],
        A_ub=np.column_stack([A, np.ones(len(rows))]),
        b_ub=b,
        bounds=[(None, None)] * dim + [(None, cap)],
        method="highs",
    )
    if found.status != 0:
        return None, []
    return found.x[:dim], validity.wall[rows[found.ineqlin.marginals < 0]].tolist()


def _contradiction(exact: ExactCells, pattern: Pattern, domain_rows: int, support: list[int]) -> dict[int, Fraction]:
    """Positive multiples of inequalities that cannot all hold, or nothing."""
    forms = exact.forms.under(pattern)
    gates = len(pattern)
    sides = [*(1 if on else -1 for on in pattern), *([1] * domain_rows)]

    def row(wall: int) -> list[int]:
        return [sides[wall] * x for x in forms.rows[wall]]

    def strict(wall: int) -> bool:
        return wall < gates and pattern[wall]

    for wall in range(len(sides)):
        # A gate that is constant contradicts the pattern by itself, or not at all.
        form = row(wall)
        if not any(form[:-1]) and (form[-1] < 0 or (form[-1] == 0 and strict(wall))):
            return {wall: Fraction(1)}
    for wall in support:
        others = [other for other in support if other != wall]
        rows = [row(other) for other in others]
        found = combination(rows, [-x for x in row(wall)])
        if found is None:
            continue
        total = fmpq(row(wall)[-1]) + constant(rows, found)
        used = {wall: Fraction(1), **{w: Fraction(int(x.p), int(x.q)) for w, x in zip(others, found, strict=True) if x}}
        if total < 0 or (total == 0 and any(strict(w) for w in used)):
            return used
    return {}


def _any_point(exact: ExactCells, pattern: Pattern, dim: int) -> tuple[fmpq, ...] | None:
    """A point where all gates that are on are > 0, all others <= 0, and which lies in the domain; or None."""
    forms = exact.forms.under(pattern)
    A, b = [[fmpq(0)] * dim + [fmpq(1)]], [fmpq(1)]
    for wall, form in enumerate(forms.rows):
        on = wall < len(pattern) and pattern[wall]
        side = 1 if on or wall >= len(pattern) else -1
        A.append([*(fmpq(-side * x) for x in form[:-1]), fmpq(1 if on else 0)])
        b.append(fmpq(side * form[-1]))
    best = maximise([fmpq(0)] * dim + [fmpq(1)], A, b)
    return best.point[:dim] if best.point is not None and best.value is not None and best.value > 0 else None
