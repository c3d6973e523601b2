"""Cell: a thin view of one cell of an atlas."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from polyfold._base.notebook import html_table
from polyfold._base.types import Array, Signs
from polyfold.errors import how_many

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas


@dataclass(frozen=True, eq=False, repr=False)
class Cell:
    """Cell number `id` of `atlas`; everything is looked up or computed there.

    It is a view, and no Result: what is known of it, and how it was found, is told by its atlas.
    """

    atlas: Atlas
    id: int

    def __repr__(self) -> str:
        kind = "bounded" if self.bounded else "unbounded"
        return f"Cell {self.id}: {kind}, {how_many(len(self.facets), 'facet')}, pattern {self.pattern}"

    def _repr_html_(self) -> str:
        A, c = self.map
        facts = {
            "cell": self.id,
            "pattern": self.pattern,
            "bounded": "yes" if self.bounded else "no",
            "facets": len(self.facets),
            "neighbours": ", ".join(str(other.id) for other in self.neighbours) or "none",
            "map": f"A = {A}\nc = {c}",
        }
        return html_table(facts)

    @property
    def pattern(self) -> str:
        """The gates as a string of 0 and 1, stages apart."""
        bits = "".join("01"[on] for on in self.signs.tolist())
        first = self.atlas.program.first_gate
        return " ".join(bits[a:b] for a, b in pairwise(first))

    @property
    def signs(self) -> Signs:
        """Which gates are on."""
        signs: Signs = self.atlas.signs([self.id])[0]
        return signs

    @property
    def witness(self) -> Array:
        """A point inside."""
        witness: Array = self.atlas.witnesses[self.id]
        return witness

    @property
    def bounded(self) -> bool:
        return bool(self.atlas.bounded[self.id])

    @property
    def facets(self) -> range:
        """Numbers of its facets in the atlas."""
        return self.atlas.facets(self.id)

    @property
    def neighbours(self) -> list[Cell]:
        """The cells across its facets."""
        across = self.atlas.neighbour[self.facets.start : self.facets.stop]
        return [Cell(self.atlas, int(i)) for i in across if i >= 0]

    @property
    def map(self) -> tuple[Array, Array]:
        """(A, c) with f(x) = A x + c on the cell."""
        A, c = self.atlas.maps([self.id])
        return A[0], c[0]

    @property
    def vertices(self) -> Array:
        return self.atlas.vertices([self.id])[0]

    @property
    def volume(self) -> float:
        return float(self.atlas.volumes([self.id])[0])

    @property
    def halfspaces(self) -> tuple[Array, Array]:
        """(A, b) with the cell being {u : A u <= b}, one row per facet."""
        return self.atlas.halfspaces([self.id])[0]
