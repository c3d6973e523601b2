"""Where to draw the nodes of a dual graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.types import Array
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.graph.dual import DualGraph

LAYOUTS = ("cells", "spring", "spectral")
# A spring layout is found by looking at all pairs of nodes again and again.
MOST_NODES = 3000


def layout(graph: DualGraph, how: str | None = None, *, seed: int = 0) -> Array:
    """Places (nodes, 2) or (nodes, 3): points inside the cells, or what networkx finds from the edges alone.

    "cells" puts each node into its cell (a region into its first one), which needs a domain of two or three
    dimensions, and is what is done there if nothing else is asked for. "spring" and "spectral" are networkx's.
    """
    dim = graph.atlas.dim
    if how is None:
        how = "cells" if dim in (2, 3) else "spring"
    if how not in LAYOUTS:
        raise PolyfoldError(f"layout must be one of {', '.join(map(repr, LAYOUTS))}, got {how!r}")
    if how == "cells":
        if dim not in (2, 3):
            raise PolyfoldError(
                f"layout='cells' needs a domain of two or three dimensions, not {dim}: use 'spring' or 'spectral'"
            )
        return graph.atlas.witnesses if graph.regions is None else graph.atlas.witnesses[graph.regions.first_cell]
    if len(graph) > MOST_NODES:
        raise LimitError(
            f"a {how} layout is for up to {MOST_NODES:,} nodes; this graph has {how_many(len(graph), graph.thing)}"
        )
    networkx = require("networkx", extra="graph", purpose=f"layout={how!r}")
    made = networkx.Graph()
    made.add_nodes_from(range(len(graph)))
    made.add_edges_from(graph.edges.tolist())
    options: dict[str, Any] = {"seed": seed} if how == "spring" else {}
    places = getattr(networkx, f"{how}_layout")(made, **options)
    return np.array([places[node] for node in range(len(graph))], dtype=np.float64).reshape(-1, 2)
