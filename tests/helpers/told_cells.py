"""What the compiled core finds on generated networks, in few words: everything but the last bits of floats.

python tests/helpers/told_cells.py FIRST LAST     prints one JSON object, of the core that this process has
"""

from __future__ import annotations

import hashlib
import json
import sys

import polyfold as pf
from polyfold._core import instructions
from polyfold.testing import wide_case

ARRAYS = ("patterns", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


def told(seeds: range) -> dict[str, list[object]]:
    """By seed: a digest of all cells in their order, what the certificate says of them, and how many were counted."""
    found: dict[str, list[object]] = {}
    for seed in seeds:
        case = wide_case(seed)
        atlas = pf.unfold(case.program, case.domain, threads=1)
        arrays = b"".join(getattr(atlas, name).tobytes() for name in ARRAYS)
        counted = pf.count(case.program, case.domain, threads=1).cells
        found[str(seed)] = [hashlib.sha256(arrays).hexdigest(), atlas.certificate.level, counted]
    return found


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:])
    print(json.dumps({"instructions": instructions, "cells": told(range(first, last))}))
