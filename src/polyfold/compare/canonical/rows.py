"""The inequalities of an atlas's cells and of its domain, as integer rows."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.compare.canonical.flats import Row, primitive
from polyfold.program.passes.integer_forms import ExactForms


class CellRows:
    """One primitive row (a, b) a facet: a . u + b >= 0 on the cell, over the domain's parameters u."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._forms = ExactForms(atlas.program, atlas.domain)

    def __getitem__(self, cell: int) -> list[Row]:
        atlas = self._atlas
        pattern = tuple(atlas.signs([cell])[0].tolist())
        forms = self._forms.under(pattern).rows
        rows = []
        for facet in atlas.facets(cell):
            # A gate that is zero on the whole cell is a wall too, if it is not zero on the neighbour.
            wall = next(wall for wall in atlas.walls(facet) if any(forms[wall][:-1]))
            off = wall < atlas.gates and not pattern[wall]
            rows.append(primitive([-entry for entry in forms[wall]] if off else forms[wall]))
        return rows

    def of_domain(self) -> tuple[Row, ...]:
        """The domain's rows that some cell has a facet on: no other is needed. In lexicographic order."""
        atlas = self._atlas
        outer = np.flatnonzero(atlas.neighbour == DOMAIN_BOUNDARY).tolist()
        walls = {wall - atlas.gates for facet in outer for wall in atlas.walls(facet) if wall >= atlas.gates}
        return tuple(sorted({primitive(self._forms.domain_rows[row]) for row in walls}))
