"""The inequalities of an atlas's cells and of its domain, as integer rows."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.atlas.geometry.facet_rows import ExactRows
from polyfold.compare.canonical.flats import Row, primitive


class CellRows:
    """One primitive row (a, b) per facet: a . u + b >= 0 on the cell, over the domain's parameters u."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._rows = ExactRows(atlas)

    def __getitem__(self, cell: int) -> list[Row]:
        return [primitive(form) for form in self._rows.forms(self._atlas.facets(cell))]

    def of_domain(self) -> tuple[Row, ...]:
        """The domain's rows that some cell has a facet on: no other is needed. In lexicographic order."""
        atlas = self._atlas
        outer = np.flatnonzero(atlas.neighbour == DOMAIN_BOUNDARY).tolist()
        walls = {wall - atlas.gates for facet in outer for wall in atlas.walls(facet) if wall >= atlas.gates}
        return tuple(sorted({primitive(self._rows.of_domain[row]) for row in walls}))
