"""How long does the exact diameter of a dual graph take, next to networkx?"""

from __future__ import annotations

from cases import Case
from processes import run
from report import Section, Table, figure
from settings import Bench, can

CASES = (Case((3, 64, 64, 1), 1.1), Case((2, 150, 150, 1)), Case((2, 128, 128, 128, 1), 1))
QUICK = (Case((2, 32, 32, 1)),)


def section(bench: Bench) -> Section:
    title = "Diameters of dual graphs"
    if not can("diameter"):
        return Section(title, "Not measured: this polyfold has no diameters.", None)
    table = Table(
        [
            "network",
            "cells",
            "edges",
            "diameter",
            "segment bound",
            "radius",
            "walks",
            "polyfold, CPU-s",
            "with radius, CPU-s",
            "networkx, CPU-s",
            "ratio",
        ]
    )
    notes, seconds = [], bench.baseline_seconds
    for case in QUICK if bench.quick else CASES:
        bench.say(f"{case.label}: diameter")
        ours = run("run_diameter", case.write(bench.folder), "polyfold", seconds)
        bench.say(f"{case.label}: networkx's diameter, at most {seconds:g} CPU-seconds")
        theirs = run("run_diameter", case.write(bench.folder), "networkx", seconds)
        assert ours is not None
        if theirs is not None and ours["diameter"] != theirs["diameter"]:
            notes.append(f"**{case.label}: polyfold says {ours['diameter']}, networkx {theirs['diameter']}.**")
        taken = seconds if theirs is None else theirs["cpu_seconds"]
        table.rows.append(
            [
                case.label,
                f"{ours['cells']:,}",
                f"{ours['edges']:,}",
                str(ours["diameter"]),
                f"{ours['bound']:,}",
                str(ours["radius"]),
                str(ours["walks"]),
                figure(ours["cpu_seconds"]),
                figure(ours["both_seconds"]),
                f"> {seconds:g}, ended" if theirs is None else figure(taken),
                f"{'> ' * (theirs is None)}{taken / ours['cpu_seconds']:,.0f} x",
            ]
        )
    how = (
        "`pf.graph.diameter(graph)` without and with the radius, and `networkx.diameter(usebounds=True)` on the same "
        "graph, "
        f"one run each, ended after {seconds:g} CPU-seconds; making the graph is not timed. Both walk from one cell "
        "after another and keep bounds on all eccentricities; polyfold's walks are compiled. The segment bound is what "
        "the widths alone say: no two cells are farther apart than prod(n_l + 1) - 1."
    )
    return Section(title, how, table, notes)
