"""Dual graphs for others: networkx, and the files that it writes."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
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
    a pattern. Edges: gates (a list), neurons (their names), facets, and stage (of the first gate).
    """
    networkx = require("networkx", extra="graph", purpose="DualGraph.to_networkx()")
    made = networkx.Graph(of=f"{graph.thing}s", complete=graph.complete)
    with _nothing_collected():
        _fill(graph, made)
    return made


def _fill(graph: DualGraph, made: networkx.Graph) -> None:
    """Both directions of an edge have one dictionary, as `add_edge` would have it; that takes three times as long."""
    made.add_nodes_from(enumerate(_nodes(graph)))
    names = [str(origin) for origin in graph.atlas.program.origins]
    start, gates, facets = graph.gate_start.tolist(), graph.gates.tolist(), graph.facets.tolist()
    neighbours = [made._adj[node] for node in range(len(graph))]
    here, there = graph.edges.T.tolist()
    for a, b, i, j, many in zip(here, there, start, start[1:], facets, strict=False):
        its = gates[i:j]
        edge = {"gates": its, "neurons": [names[gate] for gate in its], "facets": many}
        neighbours[a][b] = edge
        neighbours[b][a] = edge


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
                if isinstance(value, list):
                    attributes[name] = " ".join(map(str, value))
        write = networkx.write_graphml if target.suffix == ".graphml" else networkx.write_gexf
        write(made, file)
