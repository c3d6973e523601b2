"""All cells that relucent finds, pattern by pattern, and the edges that it draws between them.

    python run_relucent_cells.py NETWORK.npz ...

Run with the Python of relucent's own environment. Prints one JSON object: for each network its cells as strings of 0
and 1, a gate each, and the edges of its dual graph as pairs of these strings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from archive import read
from relucent import Complex
from relucent.model.model import LinearLayer, ReLULayer, ReLUNetwork


def cells_of(path: Path) -> dict[str, Any]:
    """Search one network to its end, with relucent's own verification left to its dual graph."""
    layers: list[object] = []
    for weight, bias in read(path)[0]:
        layers += [LinearLayer(weight, bias[None, :]), ReLULayer()]
    found = Complex(ReLUNetwork(layers[:-1]))
    result = found.bfs(nworkers=1, verify=False, verbose=0)
    edges = [[word(one), word(other)] for one, other in found.dual_graph().edges()]
    return {"complete": bool(result.complete), "cells": [word(cell) for cell in found], "edges": edges}


def word(cell: Any) -> str:
    """A sign sequence as 0 and 1."""
    return "".join("1" if sign > 0 else "0" for sign in cell.ss_np.ravel())


def main() -> None:
    """One network after another."""
    print(json.dumps({Path(path).name: cells_of(Path(path)) for path in sys.argv[1:]}))


if __name__ == "__main__":
    main()
