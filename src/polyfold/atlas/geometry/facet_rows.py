"""The facets of cells as inequalities, in floats with bounds on how far their coefficients are wrong, and exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core, stays_structured
from polyfold.atlas.geometry.halfspaces import wall_rows
from polyfold.exact.rounding import relative
from polyfold.program.passes.integer_forms import ExactForms
from polyfold.program.passes.jets import has_short_jets, sizes_of_wall_terms
from polyfold.program.passes.pulled_back import gate_forms, majorant, roundings
from polyfold.program.passes.underflow import underflow

Form = tuple[int, ...]  # integers (a, b) with a . u + b >= 0 on the cell


@dataclass(frozen=True, eq=False)
class Rows:
    """The facets of some cells as a . u <= b, row after row, with bounds on their errors.

    Item i has rows start[i] to start[i + 1] - 1.
    """

    start: Ids
    A: Array
    b: Array
    A_error: Array
    b_error: Array

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def owner(self) -> Ids:
        """The item that each row belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))


def facet_rows(atlas: Atlas, cells: Ids) -> Rows:
    """The inequalities of cells in floats, one per facet."""
    return rows_of(atlas, *facets_of(atlas, cells))


def facets_of(atlas: Atlas, cells: Ids) -> tuple[Ids, Ids]:
    """Where the facets of each cell start in a list of facets, and the list."""
    counts = atlas.facet_start[cells + 1] - atlas.facet_start[cells]
    start = np.concatenate([[0], np.cumsum(counts)])
    return start, np.repeat(atlas.facet_start[cells] - start[:-1], counts) + np.arange(start[-1])


def rows_of(atlas: Atlas, start: Ids, facets: Ids) -> Rows:
    """The inequalities that facets put on the cells that list them."""
    owner, walls = atlas.facet_owner[facets], atlas.facet_wall[facets].astype(np.int64)
    return Rows(start, *_with_errors(atlas, owner, walls))


def _with_errors(atlas: Atlas, owner: Ids, walls: Ids) -> tuple[Array, Array, Array, Array]:
    """The rows that walls put on cells, and bounds on their errors."""
    domain, program = atlas.domain, atlas.program
    A, b = wall_rows(atlas, owner, walls)
    size_A, size_b = np.zeros((len(owner), domain.input_dim)), np.zeros(len(owner))
    gate = np.flatnonzero(walls < program.gates)
    if not domain.is_slice and has_short_jets(domain):
        gate = gate[np.argsort(owner[gate], kind="stable")]
        cells, at = np.unique(owner[gate], return_inverse=True)
        size_A[gate], size_b[gate] = sizes_of_wall_terms(program, domain, atlas.signs(cells), at, walls[gate])
    else:
        size_A[gate], size_b[gate] = gate_forms(majorant(program), atlas.signs(owner[gate]), walls[gate])
    row = np.flatnonzero(walls >= program.gates)
    over_inputs = row[walls[row] - program.gates < len(domain.input_rows)]
    numbers = walls[over_inputs] - program.gates
    size_A[over_inputs], size_b[over_inputs] = np.abs(domain.input_rows[numbers]), np.abs(domain.input_offsets[numbers])
    if domain.is_slice:
        size_A, size_b = size_A @ np.abs(domain.basis), size_b + size_A @ np.abs(domain.origin)
    error = relative(roundings(program) + 2 * domain.input_dim + 8)
    lost = underflow(program, domain)
    A_error, b_error = error * size_A + lost, error * size_b + lost
    # Rows over the parameters are the user's own numbers, and without a slice so are those over the inputs.
    own = row if not domain.is_slice else row[walls[row] - program.gates >= len(domain.input_rows)]
    A_error[own] = b_error[own] = 0.0
    return A, b, A_error, b_error


class ExactRows:
    """Facets of one atlas in integers, over the domain's parameters; what patterns have in common is computed once."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._forms = ExactForms(atlas.program, atlas.domain)

    @staticmethod
    def reach(atlas: Atlas) -> bool:
        """Whether the network is one whose forms can be written down exactly."""
        return not (beyond_core(atlas.program, atlas.domain) or stays_structured(atlas.program))

    @property
    def of_domain(self) -> Sequence[Sequence[int]]:
        """The domain's own rows."""
        return self._forms.domain_rows

    def forms(self, facets: Iterable[int]) -> list[Form]:
        """a . u + b >= 0 for each facet, on the cell that lists it; the facets of a cell one after the other."""
        atlas, cell, found = self._atlas, -1, []
        pattern: tuple[bool, ...] = ()
        for facet in map(int, facets):
            if cell != int(atlas.facet_owner[facet]):
                cell = int(atlas.facet_owner[facet])
                pattern = tuple(atlas.signs([cell])[0].tolist())
                rows = self._forms.under(pattern).rows
            # A gate that is zero all over the cell has no row there; the facet lies on another wall as well.
            wall = next(wall for wall in atlas.walls(facet) if any(rows[wall][:-1]))
            side = -1 if wall < atlas.gates and not pattern[wall] else 1
            found.append(tuple(side * x for x in rows[wall]))
        return found

    def inequalities(self, facets: Iterable[int]) -> tuple[list[list[fmpq]], list[fmpq]]:
        """The same as A u <= b."""
        forms = self.forms(facets)
        return [[fmpq(-x) for x in form[:-1]] for form in forms], [fmpq(form[-1]) for form in forms]
