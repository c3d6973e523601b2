"""path: a shortest way between two cells or points, with the gates crossed in order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, Report, running
from polyfold._base.options import whole_number
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Signs
from polyfold._core import hop_distances
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.cells.at_point import CellAt
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.frontier import Found
from polyfold.engine.cells.validity import ROWS_MEMORY, check_rows_fit
from polyfold.engine.source import SourceLike, as_program_on, of_gates
from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import fraction
from polyfold.graph.dual import DualGraph, as_graph
from polyfold.graph.neighbourhood import Neighbourhood
from polyfold.graph.search import RouteSearch
from polyfold.program.origins import GateOrigin
from polyfold.program.passes.integer_forms import ExactForms, Pattern
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False, repr=False)
class Route(Rows):
    """A way across facets. No way is shorter than `lower`; if that is its own length, it is proved to be shortest.

    `evidence` says what `lower` rests on: the atlas, or the cells that the search proved itself. The way can be checked
    without any of it: `crossings` has a point inside every facet.

    Attributes
    ----------
    program : Program
        The network.
    patterns : array of bool, shape (hops + 1, gates)
        Of the cells on the way; of regions, those of one cell each.
    witnesses : array of float, shape (hops + 1, d)
        A point inside each of these cells, rounded.
    gates : tuple of tuple of int
        For every step all gates that the facet crossed lies on.
    lower : int
        No way between the two ends crosses fewer facets.
    nodes : tuple of int, or None
        Numbers of the cells or regions, where they come from an atlas that has all of them.
    looked_at : int
        How many cells were looked at, where a search made them on the fly.
    domain : Domain or None
        Where; `crossings` needs it.
    """

    program: Program
    patterns: Signs
    witnesses: Array
    gates: tuple[tuple[int, ...], ...]
    lower: int
    nodes: tuple[int, ...] | None = None
    looked_at: int = 0
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

    def rows(self) -> dict[str, Any]:
        """One row per step: the gates crossed, their neurons, and between which cells or regions."""
        columns: dict[str, Any] = {
            "step": np.arange(self.hops),
            "gates": list(self.gates),
            "neurons": [tuple(map(str, some)) for some in self.neurons],
        }
        if self.nodes is not None:
            columns |= {"from": list(self.nodes[:-1]), "to": list(self.nodes[1:])}
        return columns

    def facts(self) -> dict[str, Any]:
        return {
            "hops": self.hops,
            "lower": self.lower,
            "shortest": self.shortest,
            "gates": self.gates,
            "neurons": [[str(one) for one in some] for some in self.neurons],
            "nodes": self.nodes,
            "witnesses": self.witnesses,
            "looked_at": self.looked_at,
        }

    def ask_instead(self) -> str:
        return "compare how many facets it crosses, route.hops, or ask whether it is `shortest`"


@question("graph.path")
def path(
    source: SourceLike | Regions | DualGraph,
    start: int | ArrayLike,
    end: int | ArrayLike,
    domain: DomainLike = None,
    *,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Route:
    """A shortest way across facets, with the gates crossed in order.

    In a complete atlas, or any graph or regions, it is found there. In an incomplete atlas, and for a network without
    one, cells are looked at on the fly: first towards the end, which gives some way, then as many as it takes to prove
    that none is shorter.

    Parameters
    ----------
    source : model, Network, Program, Atlas, Regions or DualGraph
        What is asked about. A model is not unfolded for it.
    start, end : int or array of float, shape (d,)
        Numbers of cells (regions), or points of the domain's parameters. A point on a wall stands for one of the cells
        that touch it. A network without an atlas takes points only.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_cells : int, optional
        How many cells a search may look at.
    max_seconds : float, optional
        The limit. If it, `max_cells` or Ctrl-C comes first, `Route.lower` says how much shorter a way might be;
        LimitError if no way was found by then.
    threads : int, optional
        How many to use (default: one per CPU); searches on the fly use one.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Route
        The way, and what is known of its being shortest.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.graph.path(corner, [1.0, 1.0], [-1.0, -2.0])
    >>> found, len(found.gates)
    (Route: 2 facets crossed; shortest, 2)
    """
    limit = None if max_cells is None else whole_number("max_cells", max_cells, np.iinfo(np.int32).max)
    if isinstance(source, Regions | DualGraph) or (isinstance(source, Atlas) and source.complete):
        graph = as_graph(source, domain, threads)
        return shortest_route(graph, _node(graph, start), _node(graph, end))
    program, where = as_program_on(source, domain)
    return _searched(program, where, of_gates(source) if isinstance(source, Atlas) else None, (start, end), limit)


def _is_number(place: Any) -> bool:
    return isinstance(place, Integral) and not isinstance(place, bool)


def _node(graph: DualGraph, place: Any) -> int:
    return graph.node(place) if _is_number(place) else int(graph.locate(np.atleast_2d(place))[0])


def _searched(program: Program, domain: Domain, atlas: Atlas | None, ends: tuple[Any, Any], limit: int | None) -> Route:
    check_rows_fit(program, domain, ROWS_MEMORY)
    cells = Cells(program, domain)
    locate = CellAt(cells)
    if atlas is None and any(map(_is_number, ends)):
        raise PolyfoldError(
            f"start={ends[0]!r}, end={ends[1]!r}: cells have numbers in an atlas only. Give points, or "
            "pf.unfold(network)"
        )
    names = ("start", "end")
    named = [(name, end if _is_number(end) else locate.point(name, end)) for name, end in zip(names, ends, strict=True)]

    def found_at(name: str, end: Any) -> Found:
        if atlas is None or not _is_number(end):
            return locate(name, end)
        cell = atlas.ids([end])[0]
        exact = atlas.rational_witness(int(cell)) if int(cell) in atlas.exact_witnesses else None
        return Found(atlas.signs([cell])[0], Witness(atlas.witnesses[cell], exact))

    first, last = (found_at(name, end) for name, end in named)
    around = Neighbourhood(cells, atlas)
    search = RouteSearch(around, first, last, limit)
    with running().noting_interrupts():
        search.run()
    if not search.found:
        raise OutOfTimeError(
            str(search.stopped_by),
            f"no way from start to end was found before {search.stopped_by} stopped the search at "
            f"{how_many(search.looked_at, 'cell')}; any way crosses at least {how_many(search.lower, 'facet')}",
        )
    route = Route(
        program,
        np.array([cell.signs for cell in search.cells]),
        np.array([cell.witness.point for cell in search.cells]),
        tuple(step.gates for step in search.steps),
        search.lower,
        None,
        search.looked_at,
        domain,
    )
    return answered(route, around.evidence, stopped_by=search.stopped_by)


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
    return answered(route, graph.evidence)


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
