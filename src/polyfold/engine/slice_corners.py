"""Gates that floats cannot tell from zero at corners of a line's or plane's cells: settled in rationals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.exact_gates import Coefficients, GateForm, TooMuchError
from polyfold.exact.rational import rational
from polyfold.exact.tolerances import NEAR_A_CORNER

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class Corners:
    """The corners of an atlas's cells: corner k is where facet k starts (on a line: facet k itself)."""

    def __init__(self, atlas: Atlas, points: Array) -> None:
        self.atlas = atlas
        self.points = points
        self.signs = atlas.signs()
        self.gates = atlas.exact_gates
        self._exact: dict[int, tuple[fmpq, ...] | None] = {}
        owner = atlas.facet_owner
        # The facet in front of each one, around its cell.
        self._before = np.arange(len(owner)) - 1
        self._before[atlas.facet_start[:-1]] = atlas.facet_start[1:] - 1

    def settles(self, gate: int) -> bool:
        """Whether the gate cuts no cell: it vanishes on it, or all corners lie on the side that its pattern says."""
        try:
            forms = self.gates.forms(gate, self.signs)
            return all(form.vanishes or self._on_its_side(gate, form) for form in forms)
        except TooMuchError:
            return False

    def _on_its_side(self, gate: int, form: GateForm) -> bool:
        start = self.atlas.facet_start
        counts = (start[form.cells + 1] - start[form.cells]).astype(np.int64)
        corners = np.repeat(start[form.cells] - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
        side = np.where(np.repeat(self.signs[form.cells, gate], counts), 1.0, -1.0)
        constant, *slopes = (float(entry.p) / float(entry.q) for entry in form.coefficients)
        terms = self.points[corners] * np.array(slopes)
        value = side * (constant + terms.sum(axis=1))
        near = np.abs(value) <= NEAR_A_CORNER * (abs(constant) + np.abs(terms).sum(axis=1))
        if (value[~near] < 0).any():
            return False
        return all(
            self._exact_side(gate, form, int(k), side[at])
            for at, k in zip(near.nonzero()[0], corners[near], strict=True)
        )

    def _exact_side(self, gate: int, form: GateForm, corner: int, side: float) -> bool:
        if any(self.atlas.facet_wall[facet] == gate for facet in self._facets_at(corner)):
            return True  # the corner is a zero of the gate by definition
        point = self._exact_corner(corner)
        return point is not None and form.at(point) * int(side) >= 0

    def _facets_at(self, corner: int) -> tuple[int, ...]:
        return (corner,) if self.atlas.dim == 1 else (int(self._before[corner]), corner)

    def _exact_corner(self, corner: int) -> tuple[fmpq, ...] | None:
        if corner not in self._exact:
            cell = int(self.atlas.facet_owner[corner])
            rows = [self._wall(int(self.atlas.facet_wall[facet]), cell) for facet in self._facets_at(corner)]
            self._exact[corner] = _zero_of(rows)
        return self._exact[corner]

    def _wall(self, wall: int, cell: int) -> Coefficients:
        """A wall of a cell as a function of the parameters that vanishes on it."""
        domain, row = self.atlas.domain, wall - self.atlas.gates
        if row < 0:
            return self.gates.forms(wall, self.signs[[cell]])[0].coefficients
        if row >= len(domain.input_rows):
            row -= len(domain.input_rows)
            numbers = (-float(domain.parameter_offsets[row]), *domain.parameter_rows[row].tolist())
            return tuple(rational(number) for number in numbers)
        inputs = np.flatnonzero(domain.input_rows[row])
        linear = self.gates.combined(
            (rational(float(domain.input_rows[row, k])), self.gates.input(int(k))) for k in inputs
        )
        return (linear[0] - rational(float(domain.input_offsets[row])), *linear[1:])


def _zero_of(rows: list[Coefficients]) -> tuple[fmpq, ...] | None:
    """Where one function of one parameter, or two of two, are zero; None if that is no single point."""
    if len(rows) == 1:
        ((constant, slope),) = rows
        return (-constant / slope,) if slope else None
    (p, a, b), (q, c, d) = rows
    determinant = a * d - b * c
    if not determinant:
        return None
    return ((b * q - d * p) / determinant, (c * p - a * q) / determinant)
