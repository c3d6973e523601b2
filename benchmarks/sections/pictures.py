"""How long do all cells in a small box around a picture take, and their proof?"""

from __future__ import annotations

from pathlib import Path

from processes import run
from report import Section, Table, figure
from settings import Bench

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
# (network, how many pictures; fewer in a quick run)
CASES = (("marabou_mnist2x10.onnx", 20, 5), ("784,100,100,10", 20, 2))


def section(bench: Bench) -> Section:
    columns = [
        "network",
        "pictures",
        "all cells found",
        "cells",
        "CPU-s",
        "ms per cell",
        "certified",
        "CPU-s",
        "ms per cell",
    ]
    table = Table(columns)
    notes = []
    if SHARED.exists():
        for name, count, few in CASES:
            bench.say(f"{name}: boxes around pictures")
            done = run("run_pictures", name, SHARED, few if bench.quick else count, 20 if bench.quick else 120)
            assert done is not None
            table.rows.append(
                [
                    name,
                    f"{done['pictures']}",
                    f"{done['complete']}",
                    f"{done['cells']:,}",
                    figure(done["cpu_seconds"]),
                    figure(1e3 * done["cpu_seconds"] / max(1, done["cells"])),
                    f"{done['certified']}",
                    figure(done["proof_cpu_seconds"]),
                    figure(1e3 * done["proof_cpu_seconds"] / max(1, done["proved_cells"])),
                ]
            )
    else:
        notes.append("MNIST is not at hand: nothing was measured.")
    how = (
        "Boxes of radius 0.005 around the first MNIST test pictures, 784 inputs, one thread. Certified: every cell and "
        "facet proved by pf.certify. The network 784,100,100,10 is trained by the benchmark, seed 0, two epochs. A "
        "picture that takes longer than two minutes (in a quick run 20 s) is left out."
    )
    return Section("Around pictures", how, table, notes)
