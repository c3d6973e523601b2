"""How long does it take to make a deep network shallow, by Algorithm 1 and by polyfold? (The paper's Figure 3.)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from matplotlib.figure import Figure

from log_plot import Series, draw
from networks import linear_layers, xavier_uniform
from polyfold.plotting.render.files import write as write_figure
from processes import WorkerError, run
from report import Section, Table, figure
from settings import Bench, Measured
from workers.archive import write

Pair = tuple[int, int]
# Widths of the first and the second layer, the smaller networks first.
PAIRS: list[Pair] = sorted(
    ((first, second) for first in range(3, 7) for second in range(3, 7) if first + second < 12),
    key=lambda pair: (sum(pair), pair[1]),
)
QUICK_PAIRS: list[Pair] = [(2, 2), (3, 2)]
THIRD, SEEDS = 4, range(5)
POLYFOLD_SECONDS, QUICK_POLYFOLD_SECONDS = 0.5, 0.1
LIMIT_SECONDS, QUICK_LIMIT_SECONDS = 300.0, 30.0
BIASES = {False: "zero", True: "uniform"}
PROGRAMS = {"closed": "as written", "interior": "with interior"}
SOLVERS = {"highs": "HiGHS", "scipy": "SciPy"}


@dataclass(frozen=True)
class Way:
    """One way to run Algorithm 1."""

    biases: bool
    programs: str
    solver: str


EVERYWHERE = (Way(False, "closed", "highs"), Way(True, "closed", "highs"))
# What takes long, and what only shows the difference, is run at the widths that the paper speaks of.
AT_ONE_PAIR = (
    Way(False, "interior", "highs"),
    Way(False, "closed", "scipy"),
    Way(True, "closed", "scipy"),
    Way(False, "interior", "scipy"),
)


def section(bench: Bench) -> Section:
    pairs = QUICK_PAIRS if bench.quick else PAIRS
    named = pairs[-1] if bench.quick else (6, 5)
    table = Table(
        [
            "widths",
            "biases",
            "programs",
            "solver",
            "linear programs",
            "patterns kept",
            "cells",
            "Algorithm 1, CPU-s",
            "polyfold, CPU-s",
            "ratio",
            "least ratio",
        ]
    )
    notes: list[str] = []
    ours = {(pair, biases): polyfold(bench, pair, biases) for pair in pairs for biases in BIASES}
    theirs: dict[tuple[Pair, Way], list[Measured] | None] = {}
    for way in (*EVERYWHERE, *AT_ONE_PAIR):
        for pair in pairs if way in EVERYWHERE else [named]:
            found = theirs[pair, way] = algorithm_1(bench, pair, way)
            table.rows.append(row(pair, way, ours[pair, way.biases], found))
            notes += disagreements(pair, way, ours[pair, way.biases], found or [])
    write_figure(picture(pairs, ours, theirs), bench.pictures / "figure3.svg", "matplotlib")
    seconds = QUICK_LIMIT_SECONDS if bench.quick else LIMIT_SECONDS
    how = (
        f"Two inputs, three hidden layers, the third of width {THIRD}, one output; `widths` are the first two. Weights "
        f"are Xavier-uniform (float32, then doubles), from {len(SEEDS)} seeds; times are means and standard deviations "
        "over them, `ratio` is the ratio of the means, `least ratio` the smallest of the seeds'. The paper leaves the "
        "biases open: `zero`, or `uniform`, as torch draws those of a linear layer. Without biases every closed "
        "program holds at 0, so that Algorithm 1 as written prunes nothing and keeps every pattern, though most have "
        "no cell. The paper says of its experiment that nothing could be pruned, which points to zero biases, but it "
        "does not say so. `with interior` is a change of ours: global programs ask for a ball of inputs, and the "
        "patterns left are those of the cells. Algorithm 1 is "
        "[ours, from its description](../benchmarks/baselines/algorithm_1.py); each program is solved by itself, by "
        "HiGHS called directly, or by SciPy's `linprog`, as most people would, which calls HiGHS too. polyfold is "
        "`pf.rewrite.shallow(pf.unfold(layers))`, from arrays to half-spaces and maps, which is what Algorithm 1 "
        "returns, one "
        f"thread, default checks, the median of calls that follow a first one. More than {seconds:g} CPU-seconds "
        "for a network end a row: '-'."
        + ("" if notes else " But for zero biases as written, the patterns kept are those of polyfold's cells, all.")
    )
    # Only the first network of a process finds modules not yet imported.
    first = [measured[0]["first_cpu_seconds"] for measured in ours.values()]
    notes.append(
        f"polyfold's first call in a process, which also imports modules, took {figure(min(first))} to "
        f"{figure(max(first))} CPU-seconds; it is in no row."
    )
    title = "Shallow networks: the experiment of Algorithm 1 (Figure 3)"
    return Section(title, how, table, notes, picture=None if bench.quick else "images/figure3.svg")


def files(folder: Path, pair: Pair, biases: bool) -> list[Path]:
    """The networks of a pair of widths, one a seed; made once."""
    paths = []
    for seed in SEEDS:
        path = folder / f"figure3_{pair[0]}_{pair[1]}_{BIASES[biases]}_{seed}.npz"
        if not path.exists():
            write(path, linear_layers(xavier_uniform((2, *pair, THIRD, 1), seed, biases)), None)
        paths.append(path)
    return paths


def polyfold(bench: Bench, pair: Pair, biases: bool) -> list[Measured]:
    """Our times, one a seed."""
    bench.say(f"widths {pair[0]}, {pair[1]}, {BIASES[biases]} biases: pf.rewrite.shallow(pf.unfold(layers))")
    seconds = QUICK_POLYFOLD_SECONDS if bench.quick else POLYFOLD_SECONDS
    answer = run("run_shallow", "polyfold", "-", seconds, *files(bench.folder, pair, biases))
    if answer is None:
        raise WorkerError(f"polyfold did not come to its end at widths {pair[0]}, {pair[1]}")
    measured: list[Measured] = answer["networks"]
    bench.shares += [each["cpu_seconds"] / each["seconds"] for each in measured]
    return measured


def algorithm_1(bench: Bench, pair: Pair, way: Way) -> list[Measured] | None:
    """Its times, one a seed; None where one took too long."""
    label = f"{BIASES[way.biases]} biases, programs {PROGRAMS[way.programs]}, {SOLVERS[way.solver]}"
    bench.say(f"widths {pair[0]}, {pair[1]}, {label}: Algorithm 1")
    seconds = QUICK_LIMIT_SECONDS if bench.quick else LIMIT_SECONDS
    answer = run("run_shallow", way.solver, way.programs, seconds, *files(bench.folder, pair, way.biases))
    return answer["networks"] if answer else None


def row(pair: Pair, way: Way, ours: list[Measured], theirs: list[Measured] | None) -> list[str]:
    """Means and standard deviations over the seeds."""
    names = [f"{pair[0]}, {pair[1]}", BIASES[way.biases], PROGRAMS[way.programs], SOLVERS[way.solver]]
    cells, our_time = spread(ours, "pieces"), plus_minus(ours)
    if theirs is None:
        return [*names, "-", "-", cells, "-", our_time, "-", "-"]
    ratios = [each["cpu_seconds"] / own["cpu_seconds"] for each, own in zip(theirs, ours, strict=True)]
    ratio = mean(times(theirs)) / mean(times(ours))
    kept = spread(theirs, "pieces")
    counts = [spread(theirs, "programs"), kept, cells]
    return [*names, *counts, plus_minus(theirs), our_time, f"{figure(ratio)} x", f"{figure(min(ratios))} x"]


def disagreements(pair: Pair, way: Way, ours: list[Measured], theirs: list[Measured]) -> list[str]:
    """Seeds whose patterns are not what they should be: all there are, if 0 has them all, else polyfold's cells."""
    all_of_them = 2 ** (sum(pair) + THIRD)
    everything = way.programs == "closed" and not way.biases
    wrong = []
    for seed, own, each in zip(SEEDS, ours, theirs, strict=False):
        if each["pieces"] != all_of_them if everything else each["patterns"] != own["patterns"]:
            expected = f"{all_of_them:,} there are" if everything else f"{own['pieces']:,} of polyfold's cells"
            wrong.append(
                f"**Widths {pair[0]}, {pair[1]}, {BIASES[way.biases]} biases, seed {seed}, programs "
                f"{PROGRAMS[way.programs]}, {SOLVERS[way.solver]}: Algorithm 1 keeps {each['pieces']:,} patterns, and "
                f"not the {expected}.**"
            )
    return wrong


def picture(pairs: list[Pair], ours: dict[Any, list[Measured]], theirs: dict[Any, list[Measured] | None]) -> Figure:
    """Times over widths, Algorithm 1 and polyfold, for both kinds of biases."""
    series = []
    for way in EVERYWHERE:
        points = [moments(theirs[pair, way]) for pair in pairs]
        name = f"Algorithm 1 (HiGHS directly), {BIASES[way.biases]} biases, programs {PROGRAMS[way.programs]}"
        series.append(Series(name, points))
    for biases, word in BIASES.items():
        series.append(Series(f"polyfold, {word} biases", [moments(ours[pair, biases]) for pair in pairs]))
    places = [f"{first}, {second}" for first, second in pairs]
    title = "Time to make a deep network shallow"
    return draw(title, places, "widths of the first and the second layer", "CPU-seconds", series)


def times(measured: list[Measured]) -> list[float]:
    return [float(each["cpu_seconds"]) for each in measured]


def moments(measured: list[Measured] | None) -> tuple[float, float] | None:
    return (mean(times(measured)), stdev(times(measured))) if measured else None


def plus_minus(measured: list[Measured]) -> str:
    return f"{figure(mean(times(measured)))} ± {stdev(times(measured)):.1g}"


def spread(measured: list[Measured], name: str) -> str:
    """The least and the largest count."""
    low, high = (pick(int(each[name]) for each in measured) for pick in (min, max))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
