"""diameter: how far apart the farthest cells are, and where the middle is, without walking from every cell.

Takes and Kosters' method. A walk from a node u gives its eccentricity e(u) and all distances d(u, v), and so bounds on
every other one: max(d, e(u) - d) <= e(v) <= e(u) + d. Walks start in turn where the upper bound is largest and where
the lower one is smallest. A node is open while its bounds allow it to change the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import Report, running
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold._base.types import Flags, Ids
from polyfold._core import hop_distances
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike
from polyfold.engine.bounds.formulas import segment_bound
from polyfold.engine.source import SourceLike
from polyfold.errors import PolyfoldError, how_many
from polyfold.graph.dual import DualGraph, as_graph
from polyfold.graph.path import Route, shortest_route


@dataclass(frozen=True, eq=False, repr=False)
class Diameter(Result):
    """The largest distance between nodes of a graph, and the smallest eccentricity.

    Attributes
    ----------
    graph : DualGraph
        The graph.
    lower, upper : int
        Bounds on the diameter; the same number if it is settled.
    radius_lower, radius_upper : int
        Likewise on the radius.
    route : Route
        A shortest way between two nodes that are `lower` apart.
    centre_node : int
        A node whose eccentricity is `radius_upper`.
    centre, periphery : array of int, or None
        All nodes whose eccentricity is the radius, the diameter; None unless asked for and settled.
    segment_bound : int or None
        No two cells are farther apart than this, by the widths of the layers alone (None if cells are missing):
        prod(n_l + 1) - 1, the most facets that a straight way can cross.
    walks : int
        From how many nodes the graph was walked.
    history : tuple of tuple of int
        (walks, lower, upper) whenever a bound on the diameter had moved.
    components : int
        Of how many parts the graph consists; all figures are of the largest one.
    nodes : int
        How many nodes that part has.
    """

    graph: DualGraph
    lower: int
    upper: int
    radius_lower: int
    radius_upper: int
    route: Route
    centre_node: int
    centre: Ids | None
    periphery: Ids | None
    segment_bound: int | None
    walks: int
    history: tuple[tuple[int, int, int], ...]
    components: int
    nodes: int

    @property
    def diameter(self) -> int | None:
        """The diameter; None if a limit or Ctrl-C came first, and then there are `lower` and `upper`."""
        return self.lower if self.lower == self.upper else None

    @property
    def radius(self) -> int | None:
        """The radius; None if it was not asked for or a limit or Ctrl-C came first."""
        return self.radius_lower if self.radius_lower == self.radius_upper else None

    @property
    def ends(self) -> tuple[int, int]:
        """Two nodes that are `lower` apart."""
        assert self.route.nodes is not None
        return self.route.nodes[0], self.route.nodes[-1]

    def facts(self) -> dict[str, Any]:
        hidden = ("graph", "route")
        return {
            "diameter": self.diameter,
            "radius": self.radius,
            **{name: value for name, value in super().facts().items() if name not in hidden},
            "ends": self.ends,
        }

    def __repr__(self) -> str:
        def said(low: int, high: int) -> str:
            return f"{low:,}" if low == high else f"between {low:,} and {high:,}"

        parts = [
            f"Diameter: {said(self.lower, self.upper)}",
            f"radius {said(self.radius_lower, self.radius_upper)}",
            f"{how_many(self.walks, 'walk')} over {how_many(self.nodes, self.graph.thing)}",
        ]
        if self.components > 1:
            parts.append(f"the largest of {self.components:,} parts")
        parts.append(str(self.evidence))
        if self.stopped_by is not None:
            parts.append(f"stopped by {self.stopped_by}")
        return "; ".join(parts)


@question("graph.diameter")
def diameter(
    source: SourceLike | Regions | DualGraph,
    domain: DomainLike = None,
    *,
    radius: bool = True,
    sets: bool = False,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Diameter:
    """The exact diameter and radius of the dual graph.

    If cells are missing, these are figures of the graph that was found and not of the network. The method is that of
    Takes and Kosters, "Computing the Eccentricity Distribution of Large Graphs" (2013).

    Parameters
    ----------
    source : model, Network, Program, Atlas, Regions or DualGraph
        What is asked about: cells, given `pf.regions(...)` linear regions, or a graph made already. Anything else is
        unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    radius : bool
        False if only the diameter is wanted.
    sets : bool
        Find all nodes of the centre and the periphery, which takes more walks.
    max_seconds : float, optional
        The limit. It leaves bounds, as Ctrl-C does; LimitError if it does not suffice to make the graph.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Diameter
        Both numbers, or bounds on them, and a way as long as the diameter.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> found = pf.graph.diameter([(np.ones((3, 1)), np.arange(3.0)), (np.ones((1, 3)), np.zeros(1))])
    >>> found.diameter, found.radius, found.segment_bound
    (3, 2, 3)
    """
    graph = as_graph(source, domain, threads)
    if not len(graph):
        raise PolyfoldError("an atlas without cells has no diameter: give the run that made it more time")
    bound = segment_bound([stage.width for stage in graph.atlas.program.stages]) if graph.complete else None
    search = _Search(graph, bound, radius, sets)
    with running().noting_interrupts():
        stopped_by = search.run()
    return answered(search.result(), graph.evidence, stopped_by=stopped_by)


class _Search:
    """Bounds on the eccentricities of the nodes of the largest component."""

    def __init__(self, graph: DualGraph, bound: int | None, radius: bool, sets: bool) -> None:
        self.graph = graph
        self.bound = bound
        self.wants_radius = radius or sets
        self.sets = sets
        sizes = np.bincount(graph.components)
        self.nodes = np.flatnonzero(graph.components == sizes.argmax()).astype(np.int32)
        self.components = len(sizes)
        most = len(self.nodes) - 1
        self.low = np.zeros(len(self.nodes), dtype=np.int32)
        self.high = np.full(len(self.nodes), most if bound is None else min(most, bound), dtype=np.int32)
        self.walks = 0
        self.farthest = -1  # the largest eccentricity found, and between whom
        self.ends = 0, 0
        self.nearest = len(self.nodes)  # the smallest one, and whose it is
        self.near_node = 0
        self.history: list[tuple[int, int, int]] = []

    def run(self) -> str | None:
        """Walk until everything that was asked for is settled; what ended that before, if something did."""
        clock = running()
        degrees = self.graph.degrees[self.nodes]
        self._walk(int(degrees.argmax()))
        from_outside = True
        while len(left := np.flatnonzero(self._open())):
            clock.tell(self.walks, what="walks")
            stopped_by = clock.stopped_by
            if stopped_by is not None:
                return stopped_by
            self._walk(int(left[self.high[left].argmax() if from_outside else self.low[left].argmin()]))
            from_outside = not from_outside
        return None

    def _open(self) -> Flags:
        """Which nodes may still change the answer."""
        unsettled = self.low < self.high
        left = self.high > self.farthest
        if self.wants_radius:
            left |= self.low < self.nearest
        if self.sets:
            left |= (self.high == self.farthest) | (self.low == self.nearest)
        return left & unsettled

    def _walk(self, item: int) -> None:
        """From one node to all others: every bound may move."""
        start, neighbour = self.graph.neighbours
        distance = hop_distances(start, neighbour, self.nodes[item : item + 1])[0][self.nodes]
        found = int(distance.max())
        np.maximum(self.low, np.maximum(distance, found - distance), out=self.low)
        np.minimum(self.high, found + distance, out=self.high)
        self.low[item] = self.high[item] = found
        self.walks += 1
        if found > self.farthest:
            self.farthest = found
            self.ends = int(self.nodes[item]), int(self.nodes[distance.argmax()])
        if found < self.nearest:
            self.nearest, self.near_node = found, int(self.nodes[item])
        bounds = self.farthest, int(self.high.max())
        if not self.history or self.history[-1][1:] != bounds:
            self.history.append((self.walks, *bounds))

    def result(self) -> Diameter:
        all_found = self.sets and not self._open().any()
        return Diameter(
            graph=self.graph,
            lower=self.farthest,
            upper=int(self.high.max()),
            radius_lower=int(self.low.min()),
            radius_upper=self.nearest,
            route=shortest_route(self.graph, *self.ends),
            centre_node=self.near_node,
            centre=self._whose(self.nearest) if all_found else None,
            periphery=self._whose(self.farthest) if all_found else None,
            segment_bound=self.bound,
            walks=self.walks,
            history=tuple(self.history),
            components=self.components,
            nodes=len(self.nodes),
        )

    def _whose(self, eccentricity: int) -> Ids:
        """The nodes with an eccentricity that the bounds pin down wherever it may be this one."""
        whose: Ids = self.nodes[(self.low == eccentricity) & (self.high == eccentricity)].astype(np.int64)
        return whose
