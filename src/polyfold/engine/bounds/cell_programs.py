"""Largest values of affine functions on single cells, by linear programs in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from polyfold.atlas.atlas import Atlas
from polyfold.domain.points import exact_lift
from polyfold.exact.linear_program import Optimum, maximise
from polyfold.exact.rational import fraction
from polyfold.program.passes.integer_forms import ExactForms, Pattern


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
