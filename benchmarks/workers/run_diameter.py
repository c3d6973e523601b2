"""Time the diameter of a network's dual graph. Prints one JSON object.

    python run_diameter.py NETWORK.npz polyfold|networkx SECONDS

The graph is made first and not timed: polyfold's from the atlas, networkx's from that one's edges. One run, which is
ended after so many CPU-seconds.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from pathlib import Path
from typing import Any

from archive import read

import polyfold as pf


def main() -> None:
    """Measure once."""
    path, method = Path(sys.argv[1]), sys.argv[2]
    layers, box = read(path)
    atlas = pf.unfold(layers, None if box is None else pf.box(*box))
    graph = pf.graph.dual(atlas)
    limit = math.ceil(time.process_time() + float(sys.argv[3]))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    answer: dict[str, Any] = {"cells": len(atlas), "edges": len(graph.edges)}
    if method == "polyfold":
        start = time.process_time()
        found = pf.graph.diameter(graph, radius=False)
        answer |= {"cpu_seconds": time.process_time() - start, "diameter": found.diameter, "walks": found.walks}
        start = time.process_time()
        both = pf.graph.diameter(graph)
        answer |= {"radius": both.radius, "both_seconds": time.process_time() - start, "bound": both.segment_bound}
    elif method == "networkx":
        import networkx

        other = networkx.Graph()
        other.add_nodes_from(range(len(graph)))
        other.add_edges_from(graph.edges.tolist())
        start = time.process_time()
        diameter = networkx.diameter(other, usebounds=True)
        answer |= {"cpu_seconds": time.process_time() - start, "diameter": diameter}
    else:
        raise SystemExit(f"there is no {method!r} to time; there are polyfold and networkx")
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
