"""How long does one cell take that is found from its neighbour, in hundreds of dimensions?"""

from __future__ import annotations

from pathlib import Path

from processes import run
from report import Section, Table, figure
from settings import Bench

MODEL = Path(__file__).resolve().parents[3] / "shared" / "data" / "models" / "marabou_mnist2x10.onnx"
# (network, radius of the box or 0 for all of R^784, cells; fewer in a quick run)
CASES = (
    (str(MODEL), 0.0, 1000, 1000),
    ("784,100,100,10", 0.005, 100, 20),
    ("784,100,100,10", 0.01, 100, 20),
    ("784,100,100,10", 0.02, 100, 10),
)


def section(bench: Bench) -> Section:
    table = Table(["network", "domain", "cells", "facets per cell", "ms per cell"])
    notes = [] if MODEL.exists() else [f"{MODEL.name} is not at hand."]
    for network, radius, count, few in CASES:
        if network == str(MODEL) and not MODEL.exists():
            continue
        name, domain = Path(network).stem, f"box of radius {radius:g}" if radius else "R^784"
        bench.say(f"explore: {name}, {domain}")
        done = run("run_explore", network, radius, few if bench.quick else count, 20 if bench.quick else 120)
        assert done is not None
        cells = max(1, done["cells"])
        table.rows.append(
            [
                name,
                domain,
                f"{done['cells']:,}",
                figure(done["facets"] / cells),
                figure(1e3 * done["cpu_seconds"] / cells),
            ]
        )
    how = (
        "`pf.explore`, breadth first, around a picture of 784 uniform pixels, CPU time of one thread; the first cell "
        "was looked at before. Networks without a file are untrained, as torch begins."
    )
    return Section("From cell to cell", how, table, notes)
