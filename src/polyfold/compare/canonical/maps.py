"""The distinct maps of an atlas's cells, compared in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.cell_maps import ExactMaps

Numbers = tuple[fmpq, ...]
Map = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, eq=False)
class DistinctMaps:
    """`maps`, each output's slopes and constant, in lexicographic order; cell i has maps[of_cell[i]]."""

    atlas: Atlas
    maps: list[Numbers]
    of_cell: Ids

    @classmethod
    def of(cls, atlas: Atlas) -> DistinctMaps:
        exact = ExactMaps(atlas)
        all_maps = []
        for cell in range(len(atlas)):
            tick()
            all_maps.append(exact[cell])
        maps = sorted(set(all_maps))
        number = {one: k for k, one in enumerate(maps)}
        return cls(atlas, maps, np.array([number[one] for one in all_maps], dtype=np.int64))

    def lines(self, number: int) -> Map:
        """A map as fractions, one line per output."""
        numbers, width = fractions(self.maps[number]), self.atlas.dim + 1
        return tuple(numbers[k : k + width] for k in range(0, len(numbers), width))

    @property
    def cells(self) -> list[Ids]:
        """The cells of every map."""
        return [np.flatnonzero(self.of_cell == number) for number in range(len(self.maps))]

    @cached_property
    def bends(self) -> Flags:
        """Whether a facet lies between two cells with different maps."""
        inner = self.atlas.neighbour >= 0
        there = self.of_cell[np.where(inner, self.atlas.neighbour, 0)]
        found: Flags = inner & (self.of_cell[self.atlas.facet_owner] != there)
        return found

    @cached_property
    def region(self) -> Ids:
        """The region of every cell."""
        # Imported here because SciPy takes longer to import than all of polyfold.
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        same = np.flatnonzero((self.atlas.neighbour >= 0) & ~self.bends)
        ends = self.atlas.facet_owner[same], self.atlas.neighbour[same]
        links = coo_matrix((np.ones(len(same)), ends), shape=(len(self.of_cell),) * 2)
        label: Ids = connected_components(links, directed=False)[1].astype(np.int64)
        return label


def fractions(numbers: Sequence[fmpq]) -> tuple[Fraction, ...]:
    """The same numbers as Python's."""
    return tuple(Fraction(int(x.p), int(x.q)) for x in numbers)
