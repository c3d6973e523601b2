"""What relucent says to networks that some tools refuse; run with the Python of its own environment.

Prints one JSON object: for each network the number of cells found and its Betti numbers, or the errors (of the wide one
only three cells are asked for); and how many of 30 networks of small integers it can search, and find Betti numbers of.
"""

from __future__ import annotations

import json

import numpy as np
from awkward import awkward, integer_networks
from relucent import Complex

# Off every wall: relucent refuses to start on one.
START = np.array([[0.31237, 0.6871233]])


def answers(name: str, model: object) -> list[str]:
    """What there is to say of cells, and of Betti numbers if there are cells; errors are said as users see them."""
    options = {"max_polys": 3, "verify": False} if name.startswith("2,001") else {}
    said = []
    try:
        found = Complex(model)
        found.bfs(start=START, nworkers=1, verbose=0, **options)
        said.append(f"{len(found)} cells")
        said.append(f"Betti numbers {found.betti_numbers(nworkers=1)}")
    except Exception as error:
        said.append(f"{type(error).__name__}: {' '.join(str(error).split())}")
    return said


def main() -> None:
    """One network after another."""
    integers = [answers("integers", model) for model in integer_networks()]
    counts = {
        "cells": sum("cells" in said[0] for said in integers),
        "betti": sum("Betti" in said[-1] for said in integers),
    }
    print(json.dumps({"named": {name: answers(name, model) for name, model in awkward().items()}, "integers": counts}))


if __name__ == "__main__":
    main()
