"""Chains of faces: a facet of a cell, a facet of that, and so on; counted by the flats that they span.

The count of a chain is 1 or -1: the product of the sides on which each face lies of the next one's flat. A chain ends
at a face that contains its flat's last place, which is seen from the sides as well: the face lies on the positive side
of all its facets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyfold._base.clock import tick
from polyfold.compare.canonical.flats import Flat, Row

Chain = tuple[Row, ...]
Counts = dict[Chain, int]


class Chains:
    """The chains of faces in the facets of one cell.

    rows      one integer row per facet: a . x + b >= 0 on the cell
    lies_on   for each facet the vertices and rays on it, as bits; without it the cell has two dimensions at most
    vertices  which bits are vertices
    """

    def __init__(self, rows: Sequence[Row], lies_on: Sequence[int] | None = None, vertices: int = 0) -> None:
        self._rows = rows
        self._dim = len(rows[0]) - 1
        self._lies_on = lies_on
        self._vertices = vertices
        self._known: dict[int, Counts] = {}

    def of_facet(self, facet: int, hyperplane: Row) -> Counts:
        """The counts of all chains that begin with a facet, which lies on a forward hyperplane."""
        flat = Flat((hyperplane,))
        if self._lies_on is not None:
            return self._of_face(self._lies_on[facet], flat)
        return {(): 1} if self._dim == 1 else self._of_edge(facet, flat)

    def _of_face(self, face: int, flat: Flat) -> Counts:
        if face not in self._known:
            tick()
            counts: Counts = {}
            contains_last = True
            for row, side, border in self._borders(face, flat):
                contains_last &= side > 0
                for chain, count in self._of_face(border, flat.cut(row)).items():
                    counts[row, *chain] = side * count
            if contains_last:
                counts[()] = 1
            self._known[face] = counts
        return self._known[face]

    def _borders(self, face: int, flat: Flat) -> Iterator[tuple[Row, int, int]]:
        """The facets of a face: the row, the side of the face, and what lies on the facet."""
        assert self._lies_on is not None
        parts: dict[int, int] = {}
        for facet, others in enumerate(self._lies_on):
            part = face & others
            if part != face and part & self._vertices:
                parts.setdefault(part, facet)
        for part, facet in parts.items():
            if any(part != other and part & other == part for other in parts):
                continue
            found = flat.restrict(self._rows[facet])
            assert found is not None
            yield *found, part

    def _of_edge(self, facet: int, flat: Flat) -> Counts:
        """In the plane: of all other sides, the one that ends the edge first, in each direction."""
        ends: dict[int, Row] = {}
        for other, form in enumerate(self._rows):
            found = flat.restrict(form) if other != facet else None
            if found is None:
                continue
            row, side = found
            if side not in ends or side * _later(row, ends[side]) > 0:
                ends[side] = row
        counts: Counts = {(row,): side for side, row in ends.items()}
        if -1 not in ends:
            counts[()] = 1
        return counts


def _later(row: Row, other: Row) -> int:
    """Positive if the zero of the first row, a t + b with a > 0, is larger than that of the second one."""
    column = next(i for i, entry in enumerate(row) if entry)
    return other[-1] * row[column] - row[-1] * other[column]
