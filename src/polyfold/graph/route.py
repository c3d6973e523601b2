"""Route: a way from cell to cell, with the gates crossed in order; the shortest ones of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.notebook import InNotebooks
from polyfold._core import hop_distances
from polyfold.atlas.evidence import Answer, resting_on
from polyfold.domain.domain import Domain
from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import fraction
from polyfold.program.origins import GateOrigin
from polyfold.program.passes.integer_forms import ExactForms, Pattern
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.graph.dual import DualGraph

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Route(Answer, InNotebooks):
    """A way across facets. No way is shorter than `lower`; if that is its own length, it is proved to be shortest.

    Attributes
    ----------
    patterns: (hops + 1, gates) of the cells on the way; of regions, those of one cell each.
    witnesses: (hops + 1, d) a point inside each of these cells, rounded.
    gates: for every step all gates that the facet crossed lies on.
    lower: no way between the two ends crosses fewer facets.
    nodes: numbers of the cells or regions, where they come from an atlas that has all of them; else None.
    looked_at: how many cells were looked at, where a search made them on the fly.
    domain: where; `crossings` needs it.
    stopped_by: what ended a search before it had a proof, or None.
    evidence: what `lower` rests on: the atlas, or the cells that the search proved itself. The way can be checked
        without any of it: `crossings` has a point inside every facet.
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
    domain: Domain | None = None

    def __len__(self) -> int:
        return self.hops

    def __repr__(self) -> str:
        known = "shortest" if self.shortest else f"no way has fewer than {self.lower:,}"
        rests = "" if self.evidence.proved else f"; {self.evidence}"
        return f"Route: {how_many(self.hops, 'facet')} crossed; {known}{rests}"

    @property
    def hops(self) -> int:
        """How many facets are crossed."""
        return len(self.gates)

    @property
    def shortest(self) -> bool:
        """Whether no way is shorter: proved, if `evidence.proved`."""
        return self.lower == self.hops

    @cached_property
    def crossings(self) -> tuple[tuple[Fraction, ...], ...]:
        """A point in the relative interior of every facet crossed, exactly, in the domain's parameters.

        There the gates crossed are zero, and all others have the signs of both patterns. On a way between regions
        there are none, since its patterns are those of one cell each.
        """
        if self.domain is None:
            raise PolyfoldError("facets are crossed between cells: ask for a way between these, not between regions")
        exact = ExactForms(self.program, self.domain)
        return tuple(
            _between(exact, tuple(here.tolist()), tuple(there.tolist()), self.domain.dim)
            for here, there in pairwise(self.patterns)
        )

    @property
    def neurons(self) -> tuple[tuple[GateOrigin, ...], ...]:
        """The gates crossed as places in the user's network."""
        return tuple(tuple(self.program.origins[gate] for gate in gates) for gates in self.gates)


def _between(exact: ExactForms, here: Pattern, there: Pattern, dim: int) -> tuple[Fraction, ...]:
    """A point of the facet between two cells: where the gates that differ are zero, and as far inside as a linear
    program finds of all other walls of both."""
    crossed = {gate for gate, (one, other) in enumerate(zip(here, there, strict=True)) if one != other}
    zero: set[tuple[int, ...]] = set()
    inner: set[tuple[int, ...]] = set()
    for pattern in (here, there):
        for wall, row in enumerate(exact.under(pattern).rows):
            side = -1 if wall < len(pattern) and not pattern[wall] else 1
            if any(row[:-1]):
                (zero if wall in crossed else inner).add(tuple(side * x for x in row))
    # Gates that touch zero on the facet lie on the same hyperplane.
    inner = {row for row in inner if row not in zero and tuple(-x for x in row) not in zero}
    A = [[*(fmpq(-x) for x in row[:-1]), fmpq(sum(map(abs, row[:-1])))] for row in sorted(inner)]
    b = [fmpq(row[-1]) for row in sorted(inner)]
    on_wall = [[*(fmpq(x) for x in row[:-1]), fmpq(0)] for row in sorted(zero)]
    equal = (on_wall, [fmpq(-row[-1]) for row in sorted(zero)])
    depth = [fmpq(0)] * dim + [fmpq(1)]
    found = maximise(depth, [*A, depth], [*b, fmpq(1)], equalities=equal)
    assert found.point is not None and found.value is not None and found.value > 0, "the two cells share no facet"
    return tuple(fraction(x) for x in found.point[:dim])


def shortest_route(graph: DualGraph, a: int, b: int) -> Route:
    """A shortest way in a graph. In that of an incomplete atlas there may be shorter ways outside."""
    start, neighbour = graph.neighbours
    distance = hop_distances(start, neighbour, np.array([b], dtype=np.int32))[0]
    if distance[a] < 0:
        raise PolyfoldError(
            f"there is no way from {graph.thing} {a} to {b} among the {graph.thing}s of this incomplete atlas: "
            "pf.graph.path(atlas, a, b) looks for the cells between"
        )
    nodes = [a]
    while nodes[-1] != b:
        around = neighbour[start[nodes[-1]] : start[nodes[-1] + 1]]
        nodes.append(int(around[distance[around] == distance[nodes[-1]] - 1][0]))
    gates = tuple(graph.gates_of(graph.edge(here, there)) for here, there in pairwise(nodes))
    cells = np.array(nodes) if graph.regions is None else graph.regions.first_cell[nodes]
    lower = len(gates) if graph.complete else min(1, len(gates))
    route = Route(
        graph.atlas.program,
        graph.atlas.signs(cells),
        graph.atlas.witnesses[cells],
        gates,
        lower,
        tuple(nodes),
        domain=graph.atlas.domain if graph.regions is None else None,
    )
    return resting_on(graph.evidence, route)
