"""How fast are the local maps of many pictures, beside automatic differentiation?"""

from __future__ import annotations

from processes import WorkerError, run
from report import Section, Table, figure
from settings import Bench

METHODS = ("polyfold", "torch")
PICTURES, QUICK_PICTURES = 1000, 200
NETWORKS = {"Dense": "784-128-10", "Conv": "10 and 20 filters of 5 x 5, max-pools, 50"}
# Both methods add the same numbers in another order.
SAME = {"float64": 1e-9, "float32": 1e-3}


def section(bench: Bench) -> Section:
    table = Table(["network", "floats", "`pf.maps.matrices`", "`vmap(jacrev)`", "ratio"])
    count = QUICK_PICTURES if bench.quick else PICTURES
    for name, what in NETWORKS.items():
        for dtype in ("float64", "float32"):
            bench.say(f"local maps of {count} pictures: {name}, {dtype}")
            found = [run("run_local_maps", method, name, dtype, count, 2 * bench.repeat_seconds) for method in METHODS]
            ours, theirs = found
            assert ours is not None and theirs is not None
            off = abs(ours["sum_of_sizes"] / theirs["sum_of_sizes"] - 1)
            if off > SAME[dtype]:
                raise WorkerError(f"{name}: the maps of polyfold and torch differ, by {off:.1e} of all their sizes")
            rates = [1 / each["cpu_seconds"] for each in found]
            table.rows.append([f"{name} ({what})", dtype, *map(figure, rates), f"{rates[0] / rates[1]:.2f}"])
    how = (
        f"Maps of all ten outputs at {count:,} noise pictures of 28 x 28 pixels a CPU-second, one thread, untrained "
        "networks, the quickest of several calls. polyfold's calls give rows [w, b], with cells told apart and every "
        "row checked against the network's outputs; torch's give the slopes w only, in batches of 25 to 400 pictures, "
        "of which the best size counts."
    )
    return Section("Local maps of many pictures", how, table)
