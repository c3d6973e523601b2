"""What relucent's calls answer on one network; docs/comparison.md names each beside polyfold's own.

    python run_relucent_calls.py NETWORK.npz

Run with the Python of relucent's own environment. Prints one JSON object. Cells are strings of 0 and 1, a gate each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from archive import read
from relucent import Complex
from relucent.model.model import LinearLayer, ReLULayer, ReLUNetwork
from run_relucent_cells import word

START, END = np.array([[0.31, 0.17]]), np.array([[-1.37, 1.21]])


def calls(path: Path) -> dict[str, Any]:
    """All answers."""
    layers: list[object] = []
    for weight, bias in read(path)[0]:
        layers += [LinearLayer(weight, bias[None, :]), ReLULayer()]
    network = ReLUNetwork(layers[:-1])
    found = Complex(network)
    result = found.bfs(start=START, nworkers=1, verbose=0)
    cells = {word(cell): cell for cell in found}
    facets = {name: sorted(int(shi) for shi in cell.shis) for name, cell in cells.items()}
    sliced = found.slice_affine(np.array([0.1, 0.2]), np.array([[1.0], [0.5]]))
    graph = found.dual_graph()
    # Single cells that belong to no search: their facets come from linear programs.
    alone = {name: Complex(network).ss2poly(cell.ss_np.copy()) for name, cell in cells.items()}
    return {
        "complete": bool(result.complete),
        "cell_of_point": word(found.point2poly(START)),
        "facets": facets,
        "facets_alone": {name: sorted(int(shi) for shi in cell.shis) for name, cell in alone.items()},
        "bounded": {name: bool(cell.finite) for name, cell in cells.items()},
        "volume": {name: float(cell.volume) for name, cell in cells.items() if cell.finite},
        "inradius": {name: float(cell.inradius) for name, cell in cells.items() if cell.finite},
        "vertices": {name: len(cell.vertices) for name, cell in cells.items() if cell.finite},
        "maps": {name: [np.ravel(cell.W).tolist(), np.ravel(cell.b).tolist()] for name, cell in cells.items()},
        "edges": graph.number_of_edges(),
        "path": len(found.hamming_astar(START, END, nworkers=1, verbose=0)["path"]) - 1,
        "slice": sorted(word(cell) for cell in sliced),
        "faces": [len(part) for part in found.chain_complex(verbose=0)],
        "fold": len(found.boundary_cells(0, verbose=0)),
    }


if __name__ == "__main__":
    print(json.dumps(calls(Path(sys.argv[1]))))
