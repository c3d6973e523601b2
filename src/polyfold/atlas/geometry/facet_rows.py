"""The facets of cells as inequalities in floats, with bounds on how far their coefficients can be wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.halfspaces import wall_rows
from polyfold.exact.rounding import relative
from polyfold.program.passes.pulled_back import gate_forms, majorant, roundings
from polyfold.program.passes.underflow import underflow


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
