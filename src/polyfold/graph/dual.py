"""dual: cells or regions as the nodes of a graph, and what they touch in as its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Report, running
from polyfold._base.distinct import distinct
from polyfold._base.inputs import one_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import ArrayLike, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike, own_domain
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.program.origins import GateOrigin

if TYPE_CHECKING:
    import networkx
    from scipy.sparse import csr_array

    from polyfold.graph.path import Route

Hops = npt.NDArray[np.int32]

# Sources per thread whose walks are asked of the core at a time: two walks of 64, some tenths of a second.
_TOGETHER = 128


@dataclass(frozen=True, eq=False, repr=False)
class DualGraph(Rows):
    """Cells, or linear regions, as nodes 0, 1, ...; an edge for every two that share a facet. Arrays are read-only.

    Attributes
    ----------
    atlas : Atlas
        The cells.
    regions : Regions or None
        The regions, if these are the nodes.
    edges : array of int, shape (edges, 2)
        The two nodes of each edge, the smaller one first, in ascending order.
    gate_start : array of int, shape (edges + 1,)
        The gates of edge k are gates[gate_start[k]] .. gates[gate_start[k + 1] - 1].
    gates : array of int
        The gates of all edges, ascending for each of them: all those that its facets lie on. Where several walls
        coincide, there are several; a gate that only touches zero there and comes back is one of them.
    facets : array of int, shape (edges,)
        How many facets of the atlas an edge stands for: 1 between cells, which are convex.
    """

    atlas: Atlas
    regions: Regions | None
    edges: Ids
    gate_start: Ids
    gates: npt.NDArray[np.int32]
    facets: Ids

    def __post_init__(self) -> None:
        for name in ("edges", "gate_start", "gates", "facets"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.atlas) if self.regions is None else len(self.regions)

    def __repr__(self) -> str:
        return f"DualGraph: {how_many(len(self), self.thing)} and {how_many(len(self.edges), 'edge')}; {self.evidence}"

    @property
    def thing(self) -> str:
        """What a node is: "cell" or "region"."""
        return "cell" if self.regions is None else "region"

    @property
    def complete(self) -> bool:
        """Whether no cell is missing. If some are, true distances may be smaller than those in this graph."""
        return self.atlas.complete

    # -- edges

    @cached_property
    def matrix(self) -> csr_array:
        """The symmetric adjacency matrix: a scipy.sparse array of ones."""
        # Imported here because SciPy takes longer to import than all of polyfold.
        from scipy.sparse import csr_array

        start, neighbour = self.neighbours
        ones = np.ones(len(neighbour), dtype=np.int8)
        return csr_array((ones, neighbour, start), shape=(len(self), len(self)))

    @cached_property
    def neighbours(self) -> tuple[Ids, npt.NDArray[np.int32]]:
        """(start, node): the neighbours of node i are node[start[i]] .. node[start[i + 1] - 1], ascending."""
        here, there = np.concatenate([self.edges, self.edges[:, ::-1]]).T
        order = np.lexsort((there, here))
        start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=len(self)))]).astype(np.int64)
        node = there[order].astype(np.int32)
        for array in (start, node):
            array.setflags(write=False)
        return start, node

    @property
    def degrees(self) -> Ids:
        """How many neighbours each node has."""
        return np.diff(self.neighbours[0])

    def edge(self, a: int, b: int) -> int:
        """The number of the edge between two nodes."""
        low, high = sorted((self.node(a), self.node(b)))
        keys = self._keys
        found = int(np.searchsorted(keys, low * len(self) + high))
        if low == high or found == len(keys) or keys[found] != low * len(self) + high:
            raise PolyfoldError(f"{self.thing}s {a} and {b} share no facet: there is no edge between them")
        return found

    def gates_of(self, edge: int) -> tuple[int, ...]:
        """Every gate that an edge's facets lie on."""
        edge = one_of(edge, len(self.edges), "edge", "the graph")
        return tuple(self.gates[self.gate_start[edge] : self.gate_start[edge + 1]].tolist())

    def neurons_of(self, edge: int) -> tuple[GateOrigin, ...]:
        """The same gates as places in the user's network."""
        return tuple(self.atlas.program.origins[gate] for gate in self.gates_of(edge))

    @cached_property
    def _keys(self) -> Ids:
        return self.edges[:, 0] * len(self) + self.edges[:, 1]

    # -- nodes

    def node(self, number: Any) -> int:
        """A node's number, checked; -1 is the last one."""
        return one_of(number, len(self), self.thing, "the graph")

    def locate(self, points: ArrayLike) -> Ids:
        """The nodes of points (n, d) of the domain's parameters; on a wall one of those that touch it."""
        cells = self.atlas.locate(points)
        return cells if self.regions is None else self.regions.label[cells]

    @cached_property
    def components(self) -> Ids:
        """The connected part of every node, numbered by their first nodes. Only incomplete atlases have several."""
        from scipy.sparse.csgraph import connected_components

        _, label = connected_components(self.matrix, directed=False)
        _, first, renumbered = np.unique(label, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[renumbered]

    # -- distances

    def distances(self, sources: int | Sequence[int] | Ids) -> Hops:
        """How many facets lie on the shortest way from one node to all (n,), or from several (k, n); -1: no way.

        >>> import numpy as np, polyfold as pf
        >>> graph = pf.graph.dual(pf.unfold([(np.ones((3, 1)), np.arange(3.0)), (np.ones((1, 3)), np.zeros(1))]))
        >>> sorted(graph.distances(0).tolist())
        [0, 1, 2, 3]
        """
        from polyfold._core import hop_distances

        found: Hops = hop_distances(*self.neighbours, self._nodes(sources))
        return found[0] if np.ndim(sources) == 0 else found

    def eccentricities(self, nodes: Any = None, *, threads: int | None = None) -> Hops:
        """How far the farthest node is that each node has a way to; of all nodes unless some are named."""
        from polyfold._base.options import thread_count
        from polyfold._core import eccentricities

        wanted = np.arange(len(self), dtype=np.int32) if nodes is None else self._nodes(nodes)
        workers = thread_count(threads)
        # Between parts there is time for Ctrl-C, and for a look at the clock.
        parts = [wanted[k : k + _TOGETHER * workers] for k in range(0, len(wanted), _TOGETHER * workers)]
        found, clock = list[Hops](), running()
        for part in parts:
            clock.check()
            clock.tell(sum(map(len, found)), len(wanted), self.thing + "s")
            found.append(eccentricities(*self.neighbours, part, workers))
        return np.concatenate([np.zeros(0, dtype=np.int32), *found])

    def route(self, a: int, b: int) -> Route:
        """A shortest way from one node to another, with the gates crossed; an error where there is none."""
        from polyfold.graph.path import shortest_route

        return shortest_route(self, self.node(a), self.node(b))

    def _nodes(self, numbers: Any) -> Hops:
        nodes = np.atleast_1d(np.asarray(numbers))
        if nodes.ndim != 1 or (nodes.size and not np.issubdtype(nodes.dtype, np.integer)):
            raise ShapeError(
                f"{self.thing}s are named by whole numbers; this is an array of {nodes.dtype} of shape {nodes.shape}"
            )
        return np.array([self.node(number) for number in nodes.tolist()], dtype=np.int32)

    # -- elsewhere

    def rows(self) -> dict[str, Any]:
        """One row per edge: its two nodes, the gates in between, and how many facets it stands for."""
        gates = np.split(self.gates, self.gate_start[1:-1]) if len(self.edges) else []
        return {
            "first": self.edges[:, 0],
            "second": self.edges[:, 1],
            "gates": [tuple(some.tolist()) for some in gates],
            "facets": self.facets,
        }

    def facts(self) -> dict[str, Any]:
        return {"nodes": len(self), "nodes_are": f"{self.thing}s", **self.rows()}

    def ask_instead(self) -> str:
        return "compare the number of its nodes, len(graph)"

    def to_networkx(self) -> networkx.Graph:
        """A networkx graph: nodes with pattern, witness and boundedness, edges with gates and the user's neurons."""
        from polyfold.graph.export import to_networkx

        return to_networkx(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the networkx graph to a .graphml, .gexf or .json file, all or nothing."""
        from polyfold.graph.export import save

        save(self, path)


@question("graph.dual")
def dual(
    source: SourceLike | Regions,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> DualGraph:
    """The dual graph: its nodes are cells, or given `pf.regions(...)` linear regions.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Regions
        What is asked about: cells, or given `pf.regions(...)` linear regions. Anything else is unfolded on the domain
        first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    DualGraph
        Nodes, edges and the gates in between.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))])
    >>> graph = pf.graph.dual(atlas)
    >>> graph, pf.graph.dual(pf.regions(atlas))
    (DualGraph: 4 cells and 4 edges; checked, complete, DualGraph: 2 regions and 1 edge; checked, complete)
    >>> graph.matrix.shape, [str(neuron) for neuron in graph.neurons_of(0)]
    ((4, 4), ['relu1[1]'])
    """
    if isinstance(source, Regions):
        own_domain(source.atlas, domain)
        return _of_regions(source)
    return _of_cells(as_atlas(source, domain, threads=threads, any_cells=True))


def as_graph(source: Any, domain: DomainLike, threads: int | None = None) -> DualGraph:
    """A graph as it is, or that of a source."""
    if isinstance(source, DualGraph):
        own_domain(source.atlas, domain)
        return source
    return dual(source, domain, threads=threads)


def _of_cells(atlas: Atlas) -> DualGraph:
    owner, there = atlas.facet_owner, atlas.neighbour.astype(np.int64)
    inner = np.flatnonzero(there > owner)
    # Facets come cell by cell: nearly in this order, which a stable sort is glad of.
    inner = inner[np.argsort(owner[inner] * len(atlas) + there[inner], kind="stable")]
    edge_of = np.full(len(there), -1, dtype=np.int64)
    edge_of[inner] = np.arange(len(inner))
    shared = edge_of[atlas.shared_facet]
    edge = np.concatenate([np.arange(len(inner)), shared[shared >= 0]])
    gate = np.concatenate([atlas.facet_wall[inner], atlas.shared_wall[shared >= 0]])
    start, gates = _grouped(edge, gate, len(inner), atlas.gates)
    edges, facets = np.stack([owner[inner], there[inner]], axis=1), np.ones(len(inner), dtype=np.int64)
    return answered(DualGraph(atlas, None, edges, start, gates, facets), evidence_of(atlas))


def _of_regions(regions: Regions) -> DualGraph:
    cells = _of_cells(regions.atlas)
    ends = np.sort(regions.label[cells.edges], axis=1)
    apart = np.flatnonzero(ends[:, 0] != ends[:, 1])
    n = max(1, len(regions))
    keys, edge = np.unique(ends[apart, 0] * n + ends[apart, 1], return_inverse=True)
    lengths = np.diff(cells.gate_start)
    kept = np.repeat(ends[:, 0] != ends[:, 1], lengths)
    start, gates = _grouped(np.repeat(edge, lengths[apart]), cells.gates[kept], len(keys), regions.atlas.gates)
    facets = np.bincount(edge, minlength=len(keys)).astype(np.int64)
    edges = np.stack([keys // n, keys % n], axis=1)
    return answered(DualGraph(regions.atlas, regions, edges, start, gates, facets), regions.evidence)


def _grouped(edge: Ids, gate: npt.NDArray[Any], edges: int, gates: int) -> tuple[Ids, npt.NDArray[np.int32]]:
    """Gates by their edges, each once."""
    n = max(1, gates)
    pairs = distinct(edge * n + gate)
    start = np.searchsorted(pairs // n, np.arange(edges + 1)).astype(np.int64)
    return start, (pairs % n).astype(np.int32)
