"""How do cells, time and memory grow with lines, knots, width, depth, dimension and inputs?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cases import Case, boxes
from processes import OutOfTimeError, run
from report import Section, Table, figure
from settings import Bench, Measured, slope

TASKS = ("unfold", "count")
# CPU-seconds for all calls of a row; what takes longer has none.
LIMIT, QUICK_LIMIT = 60, 20


@dataclass(frozen=True)
class Series:
    """Networks that grow in one way; the powers of the size by which theory expects cells, and seconds, to grow.

    None stands where it depends on the weights.
    """

    size: Callable[[Case], float]
    cases: tuple[Case, ...]
    cells: float | None = None
    seconds: dict[str, float] | None = None


def inputs(many: int) -> Case:
    """A first layer of 64 gates on a box that keeps as many gates undecided for any number of inputs: some three."""
    return Case((many, 64, 10), 0.1 / many)


SERIES = {
    # Every line meets every other one. Counting them is a formula once their crossings are known not to coincide.
    "lines": Series(
        lambda case: case.widths[1],
        tuple(Case((2, n, 1)) for n in (125, 250, 500, 1000, 2000)),
        cells=2,
        seconds={"unfold": 2, "count": 2},
    ),
    # Sorted once; but each cell's pattern has a bit for each knot.
    "knots": Series(
        lambda case: case.widths[1],
        tuple(Case((1, n, 1)) for n in (1000, 2000, 4000, 8000, 16000)),
        cells=1,
        seconds={"unfold": 2, "count": 1},
    ),
    "width": Series(lambda case: case.widths[1], boxes(1, *((3, w, w, 1) for w in (8, 16, 32, 64, 128))), cells=3),
    "depth": Series(
        lambda case: len(case.widths) - 2, boxes(1, *((2, *[32] * k, 1) for k in (1, 2, 3, 4, 6, 8))), cells=None
    ),
    "dimension": Series(lambda case: case.widths[0], boxes(1, *((d, 12, 12, 1) for d in (2, 3, 4, 5, 6, 7, 8)))),
    # Few cells; what grows is the network itself.
    "inputs": Series(
        lambda case: case.widths[0],
        tuple(inputs(n) for n in (98, 196, 392, 784, 3072)),
        cells=0,
        seconds={"unfold": 1, "count": 1},
    ),
}
HEADINGS = ["network", "with", "cells"]
for _task in TASKS:
    HEADINGS += [f"`pf.{_task}`, s", "us per cell", "peak, MB", "B per cell"]


def section(bench: Bench) -> Section:
    table, notes = Table(HEADINGS), []
    for name, series in SERIES.items():
        cases, measured = [], []
        for case in series.cases[: 3 if bench.quick else None]:
            try:
                found = _measured(bench, case)
            except OutOfTimeError:
                table.rows.append([case.name, name, "-", *[f"> {_limit(bench)}, ended", "-", "-", "-"] * len(TASKS)])
                continue
            cases.append(case)
            measured.append(found)
            cells = found["unfold"]["cells"]
            row = [case.name, name, f"{cells:,}"]
            for task in TASKS:
                seconds, peak = found[task]["cpu_seconds"], found[task]["peak"]
                row += [figure(seconds), figure(1e6 * seconds / cells), figure(peak / 1e6), figure(peak / cells)]
            table.rows.append(row)
        notes.append(f"with {name}: {'; '.join(_exponents(name, series, cases, measured))}")
    how = (
        "One thread, CPU-seconds, and the peak of the resident memory in a process of its own, the result included, "
        "beyond what was resident before. On the box [-1, 1]^d; lines and knots on all of R^d; inputs on a box so "
        "small that about three of 64 gates are undecided. The exponents below the table are least-squares slopes on "
        "logarithmic scales over the later half of each series, where what a call costs by itself weighs less; where "
        "theory tells one it stands behind them. n knots make about n / 2 cells whose patterns have n bits, so that "
        "results, and the time to write them, grow with the square, an eighth of a byte a bit. A cell's own cost "
        "grows with the gates it has to be told about, with the layers, and with its vertices, about 2^d of them; "
        "from 7 dimensions on `pf.unfold` uses linear programs instead of vertices. With depth, cells level off on "
        "this box while each has more layers."
    )
    return Section("Growth", how, table, notes)


def _limit(bench: Bench) -> int:
    return QUICK_LIMIT if bench.quick else LIMIT


def _measured(bench: Bench, case: Case) -> dict[str, Measured]:
    """Seconds, cells and peak of either call."""
    ((unfolded, counted),) = bench.in_turns(
        case, [(task, 1) for task in TASKS], [None], bench.repeat_seconds / 3, _limit(bench)
    )
    if unfolded["cells"] != counted["cells"]:
        raise AssertionError(
            f"{case.label}: pf.unfold finds {unfolded['cells']:,} cells, pf.count {counted['cells']:,}"
        )
    found = {}
    for task, seconds in zip(TASKS, (unfolded, counted), strict=True):
        memory = run("run_memory", case.write(bench.folder), task, 1)
        assert memory is not None
        found[task] = seconds | {"peak": memory["peak"]}
    return found


def _exponents(name: str, series: Series, cases: list[Case], measured: list[dict[str, Measured]]) -> list[str]:
    """How the later half of a series grows, in words."""
    half = slice(len(cases) // 2 - (len(cases) < 4), None)
    sizes = [series.size(case) for case in cases[half]]
    later = measured[half]

    def fitted(values: list[float], expected: float | None) -> str:
        # Of next to nothing no logarithm is known.
        power = slope(sizes, list(np.maximum(values, 1e-9)))
        return f"{name}^{power:.2f}" + ("" if expected is None else f" (expected {expected:g})")

    words = [f"cells ~ {fitted([float(found['unfold']['cells']) for found in later], series.cells)}"]
    for task in TASKS:
        expected = (series.seconds or {}).get(task)
        seconds = [found[task]["cpu_seconds"] for found in later]
        words.append(f"seconds of `pf.{task}` ~ {fitted(seconds, expected)}")
        words.append(f"its peak ~ {fitted([found[task]['peak'] for found in later], None)}")
    if series.cells:
        per_cell = [found["unfold"]["cpu_seconds"] / found["unfold"]["cells"] for found in later]
        words.append(f"time per cell of `pf.unfold` ~ {fitted(per_cell, None)}")
    return words
