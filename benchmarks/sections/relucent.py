"""How does polyfold compare with relucent, on all of R^d?"""

from __future__ import annotations

from cases import Case
from processes import run
from report import Section, Table, figure
from settings import Bench, rate

CASES = (Case((2, 32, 32, 1)), Case((3, 16, 16, 1)), Case((8, 10, 10, 1)), Case((10, 12, 1)))
HEADINGS = [
    "network",
    "cells",
    "relucent found",
    "relucent /CPU-s",
    "polyfold /CPU-s",
    "ratio, CPU",
    "relucent /s",
    "polyfold /s, two threads",
    "ratio, wall",
]


def section(bench: Bench) -> Section:
    title = "relucent, on all of R^d"
    if bench.relucent is None:
        return Section(title, "Not compared: no environment with relucent was given.", None)
    table, notes, finished = Table(HEADINGS), [], 0
    for case in CASES:
        single, double = bench.polyfold(case), bench.polyfold(case, threads=2)
        bench.say(f"{case.label}: relucent, about {bench.relucent_seconds:g} CPU-seconds")
        path = case.write(bench.folder)
        peer = run("run_relucent", path, bench.relucent_seconds, python=bench.relucent)
        assert peer is not None
        finished += peer["complete"]
        wall, peer_wall = double["cells"] / double["seconds"], peer["cells"] / peer["seconds"]
        if peer["complete"] and peer["cells"] != single["cells"]:
            notes.append(f"**{case.label}: relucent counts {peer['cells']:,} cells, polyfold {single['cells']:,}.**")
        table.rows.append(
            [
                case.name,
                f"{single['cells']:,}",
                f"{peer['cells']:,}" + ("" if peer["complete"] else ", stopped"),
                figure(rate(peer)),
                figure(rate(single)),
                f"{rate(single) / rate(peer):,.0f} x",
                figure(peer_wall),
                figure(wall),
                f"{wall / peer_wall:,.0f} x",
            ]
        )
    how = (
        "relucent 1.0.0 runs in an environment of its own: breadth-first search with one worker and without its "
        f"final verification, stopped where the network has more cells than fit {bench.relucent_seconds:g} "
        "CPU-seconds. polyfold is `pf.unfold`. `/CPU-s` is cells per CPU-second with one thread; `/s` is cells per "
        "second of wall time. "
        + (f"On the {finished} that relucent finished the counts agree." if finished and not notes else "")
    )
    return Section(title, how, table, notes)
