"""Largest values of affine functions on single cells, by linear programs in rationals."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.location import exact_lift
from polyfold.engine.exact_forms import ExactForms
from polyfold.exact.linear_program import Optimum, maximise


class ExactPrograms:
    """Linear programs over the cells of one atlas; their walls are computed once a pattern."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._forms = ExactForms(atlas.program, atlas.domain)

    def largest(self, cell: int, slopes: Sequence[fmpq]) -> Optimum:
        """The largest value of slopes . u on a cell: a vertex, or a point and a ray along which it grows for ever."""
        A, b = self.inequalities(cell)
        found = maximise(slopes, A, b, start=self._atlas.rational_witness(cell))
        assert found.point is not None
        return found

    def lifted(self, parameters: Sequence[fmpq]) -> list[fmpq]:
        """The input of a point of parameters."""
        column = exact_lift(self._atlas.domain, fmpq_mat(len(parameters), 1, list(parameters)))
        return [x for (x,) in column.tolist()]

    def inequalities(self, cell: int) -> tuple[list[list[fmpq]], list[fmpq]]:
        """The cell's facets as A u <= b."""
        atlas = self._atlas
        pattern = tuple(atlas.signs([cell])[0].tolist())
        rows = self._forms.under(pattern).rows
        A, b = [], []
        for facet in atlas.facets(cell):
            # A wall of a facet may vanish on one of its cells.
            wall = next(wall for wall in atlas.walls(facet) if any(rows[wall][:-1]))
            side = -1 if wall < atlas.gates and not pattern[wall] else 1
            A.append([fmpq(-side * x) for x in rows[wall][:-1]])
            b.append(fmpq(side * rows[wall][-1]))
        return A, b
