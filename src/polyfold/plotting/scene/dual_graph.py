"""A dual graph as a scene: cells or regions as points, an edge where they touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold.errors import how_many
from polyfold.graph.dual import DualGraph
from polyfold.plotting.geometry.graph_layout import layout as places_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.shapes import Axes, Colouring, Points, Scene, Segments


def dual_graph_scene(
    graph: DualGraph,
    *,
    source: int | None = None,
    layout: str | None = None,
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene:
    """Nodes and edges, coloured by how many facets away they are from the node `source`, or else by their neighbours.

    `layout` is "cells" (each node in its cell; what two and three dimensions get), "spring" or "spectral".
    """
    places = places_of(graph, layout, seed=seed)
    if source is None:
        values, label = graph.degrees.astype(np.float64), "neighbours"
    else:
        values, label = graph.distances(graph.node(source)).astype(np.float64), f"facets from {graph.thing} {source}"
        values = np.where(values < 0, np.nan, values)
    hover = [
        f"{graph.thing} {node}\n{label}: {'no way' if np.isnan(value) else int(value)}"
        for node, value in enumerate(values)
    ]
    gates = [", ".join(str(neuron) for neuron in graph.neurons_of(edge)) for edge in range(len(graph.edges))]
    in_cells = layout == "cells" or (layout is None and graph.atlas.dim in (2, 3))
    axes = plane.input_names(graph.atlas, feature_names) if in_cells else ("", "")
    notes = () if in_cells else ("Where nodes lie has no meaning: only which of them are joined.",)
    parts = (
        Segments(places[graph.edges], hover=[f"across {text}" for text in gates], role="edge"),
        Points(places, Colouring(values, label), hover, role="curve"),
    )
    words = f"Dual graph: {how_many(len(graph), graph.thing)}, {how_many(len(graph.edges), 'edge')}"
    return Scene(parts, Axes(axes, equal=in_cells), words if title is None else title, notes)
