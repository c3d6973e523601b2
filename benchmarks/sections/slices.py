"""How fast are lines and planes through networks that are too large to unfold as a whole?"""

from __future__ import annotations

from pathlib import Path

from processes import run
from report import Section, Table, figure
from settings import Bench

MNIST = Path(__file__).resolve().parents[3] / "shared" / "data" / "mnist"
# (network, line or plane, how far the parameters go; less far in a quick run)
CASES = (
    ("mlp", "line", 1.0, 1.0),
    ("mlp", "plane", 0.1, 0.03),
    ("conv", "line", 1.0, 0.1),
    ("conv", "plane", 0.002, 0.001),
)
NAMES = {"mlp": "784,1024,1024,10", "conv": "conv 10, conv 20, 50, 10"}


def section(bench: Bench) -> Section:
    table = Table(
        [
            "network",
            "slice",
            "cells",
            "CPU-s",
            "us per cell",
            "forward passes per cell",
            "sampling: cells",
            "us per cell",
            "times as fast",
        ]
    )
    there = MNIST.exists()
    notes = [] if there else ["MNIST is not at hand: the pictures are noise."]
    for name, kind, extent, quick_extent in CASES:
        far = quick_extent if bench.quick else extent
        bench.say(f"{NAMES[name]}: {kind} of length {far:g}")
        arguments = (name, kind, far, MNIST if there else "-")
        ours, sampled = (run("run_slice", method, *arguments) for method in ("vertices", "sampling"))
        assert ours is not None and sampled is not None
        cost, other = (each["cpu_seconds"] / each["cells"] for each in (ours, sampled))
        table.rows.append(
            [
                NAMES[name],
                f"{kind}, {far:g}",
                f"{ours['cells']:,}",
                figure(ours["cpu_seconds"]),
                figure(1e6 * cost),
                figure(cost / ours["forward"]),
                f"{sampled['cells']:,}",
                figure(1e6 * other),
                f"{other / cost:.0f} x",
            ]
        )
        if ours["level"] != "checked":
            notes.append(f"{NAMES[name]}, {kind}: {ours['level']}, since windows tie that see the empty border only.")
    how = (
        "Between MNIST test pictures, one thread. The plane is a square of the given side in the parameters. Cells are "
        "found by their vertices, and the time holds the default checks, among them a proof of every witness. Sampling "
        "walks along the line in 2,000 steps (the plane: 40 lines of 100) and halves the way wherever the pattern "
        "changes, down to 1e-12, about as well as vertices are known. It can miss cells, takes a tie at an end for a "
        "cell of its own, and proves nothing. A forward pass is one row of a batch of 256 through the same program."
    )
    return Section("Lines and planes through larger networks", how, table, notes)
