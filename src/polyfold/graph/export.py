"""Dual graphs for others: networkx, and the files that it writes."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyfold._base.extras import require
from polyfold._base.files import atomically
from polyfold.atlas.patterns import pattern_texts
from polyfold.errors import StorageError

if TYPE_CHECKING:
    import networkx

    from polyfold.graph.dual import DualGraph

FORMATS = (".graphml", ".gexf", ".json")


def to_networkx(graph: DualGraph) -> networkx.Graph:
    """Nodes are numbered as in the graph. Attributes are plain Python values.

    Nodes: pattern (0 and 1, gate by gate), witness (a list), bounded, and for regions cells (how many) instead of
    a pattern. Edges: gates (a tuple), neurons (their names) and facets (how many).
    """
    networkx = require("networkx", extra="graph", purpose="DualGraph.to_networkx()")
    made = networkx.Graph(of=f"{graph.thing}s", complete=graph.complete)
    with _nothing_collected():
        _fill(graph, made)
    return made


def _fill(graph: DualGraph, made: networkx.Graph) -> None:
    """What `add_node` and `add_edge` would do one by one, which takes three times as long.

    Both directions of an edge have one dictionary, as there.
    """
    made._node.update(enumerate(_nodes(graph)))
    made._adj.update((node, {}) for node in range(len(graph)))
    neighbours = list(made._adj.values())
    here, there = graph.edges.T.tolist()
    for a, b, (gates, neurons), many in zip(here, there, _gates(graph), graph.facets.tolist(), strict=True):
        edge = {"gates": gates, "neurons": neurons, "facets": many}
        neighbours[a][b] = edge
        neighbours[b][a] = edge


def _gates(graph: DualGraph) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """The gates of every edge and the names of their neurons: tuples, so that edges on one gate can have the same."""
    names = [str(origin) for origin in graph.atlas.program.origins]
    alone = [((gate,), (name,)) for gate, name in enumerate(names)]
    gates = graph.gates.tolist()
    return [
        alone[gates[first]] if stop == first + 1 else _together([alone[gate] for gate in gates[first:stop]])
        for first, stop in pairwise(graph.gate_start.tolist())
    ]


def _together(some: list[tuple[tuple[int], tuple[str]]]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    return tuple(gate for (gate,), _ in some), tuple(name for _, (name,) in some)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Without garbage collection: all that is made is kept, and to look through it again and again takes longest."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _nodes(graph: DualGraph) -> list[dict[str, Any]]:
    atlas, regions = graph.atlas, graph.regions
    if regions is not None:
        rows = regions.rows()
        points = atlas.witnesses[regions.first_cell].tolist()
        return [
            {"cells": cells, "witness": point, "bounded": bounded}
            for cells, bounded, point in zip(rows["cells"].tolist(), rows["bounded"].tolist(), points, strict=True)
        ]
    patterns = pattern_texts(atlas.patterns, atlas.gates)
    each = zip(patterns, atlas.witnesses.tolist(), atlas.bounded.tolist(), strict=True)
    return [{"pattern": pattern, "witness": point, "bounded": bounded} for pattern, point, bounded in each]


def save(graph: DualGraph, path: str | PathLike[str]) -> None:
    """Write a graph by networkx; the file's ending says in which format.

    GraphML and GEXF have no lists: there the gates are text, apart by blanks. JSON is networkx's node-link data.
    """
    networkx = require("networkx", extra="graph", purpose="DualGraph.save()")
    target = Path(fspath(path))
    if target.suffix not in FORMATS:
        raise StorageError(f"{str(target)!r} has no ending of a graph's file: use one of {', '.join(FORMATS)}")
    if not target.parent.is_dir():
        raise StorageError(f"cannot write to {str(target)!r}: {str(target.parent)!r} is not a folder")
    made = to_networkx(graph)
    with atomically(target) as file:
        if target.suffix == ".json":
            data = {
                "directed": False,
                "multigraph": False,
                "graph": made.graph,
                "nodes": [{"id": node, **values} for node, values in made.nodes(data=True)],
                "edges": [{"source": a, "target": b, **values} for a, b, values in made.edges(data=True)],
            }
            file.write_text(json.dumps(data, allow_nan=False) + "\n", encoding="utf-8")
            return
        for _, attributes in (*made.nodes(data=True), *((edge[:2], edge[2]) for edge in made.edges(data=True))):
            for name, value in attributes.items():
                if isinstance(value, list | tuple):
                    attributes[name] = " ".join(map(str, value))
        write = networkx.write_graphml if target.suffix == ".graphml" else networkx.write_gexf
        write(made, file)
