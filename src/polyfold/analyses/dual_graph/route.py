"""Route: a way from cell to cell, with the gates crossed in order; the shortest ones of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold.core import hop_distances
from polyfold.errors import PolyfoldError, how_many
from polyfold.network.html_table import InNotebooks
from polyfold.program.origins import GateOrigin
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.analyses.dual_graph.graph import DualGraph

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Route(InNotebooks):
    """A way across facets. No way is shorter than `lower`; if that is its own length, it is proved to be shortest.

    Attributes
    ----------
    patterns: (hops + 1, gates) of the cells on the way; of regions, those of one cell each.
    witnesses: (hops + 1, d) a point inside each of these cells, rounded.
    gates: for every step all gates that the facet crossed lies on.
    lower: no way between the two ends crosses fewer facets.
    nodes: numbers of the cells or regions, where they come from an atlas that has all of them; else None.
    looked_at: how many cells were looked at, where a search made them on the fly.
    stopped_by: what ended a search before it had a proof, or None.
    """

    program: Program
    patterns: npt.NDArray[np.bool_]
    witnesses: Array
    gates: tuple[tuple[int, ...], ...]
    lower: int
    nodes: tuple[int, ...] | None = None
    looked_at: int = 0
    seconds: float = 0.0
    stopped_by: str | None = None

    def __len__(self) -> int:
        return self.hops

    def __repr__(self) -> str:
        known = "shortest" if self.shortest else f"no way has fewer than {self.lower:,}"
        return f"Route: {how_many(self.hops, 'facet')} crossed; {known}"

    @property
    def hops(self) -> int:
        """How many facets are crossed."""
        return len(self.gates)

    @property
    def shortest(self) -> bool:
        """Whether it is proved that no way is shorter."""
        return self.lower == self.hops

    @property
    def neurons(self) -> tuple[tuple[GateOrigin, ...], ...]:
        """The gates crossed as places in the user's network."""
        return tuple(tuple(self.program.origins[gate] for gate in gates) for gates in self.gates)


def shortest_route(graph: DualGraph, a: int, b: int) -> Route:
    """A shortest way in a graph. In that of an incomplete atlas there may be shorter ways outside."""
    start, neighbour = graph.neighbours
    distance = hop_distances(start, neighbour, np.array([b], dtype=np.int32))[0]
    if distance[a] < 0:
        raise PolyfoldError(
            f"there is no way from {graph.thing} {a} to {b} among the {graph.thing}s of this incomplete atlas: "
            "pf.path(atlas, a, b) looks for the cells between"
        )
    nodes = [a]
    while nodes[-1] != b:
        around = neighbour[start[nodes[-1]] : start[nodes[-1] + 1]]
        nodes.append(int(around[distance[around] == distance[nodes[-1]] - 1][0]))
    gates = tuple(graph.gates_of(graph.edge(here, there)) for here, there in pairwise(nodes))
    cells = np.array(nodes) if graph.regions is None else graph.regions.first_cell[nodes]
    lower = len(gates) if graph.complete else min(1, len(gates))
    return Route(
        graph.atlas.program, graph.atlas.signs(cells), graph.atlas.witnesses[cells], gates, lower, tuple(nodes)
    )
