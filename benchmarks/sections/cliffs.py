"""Do networks on which gates vanish where others do take longer than ordinary ones?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cliff_networks as networks
from processes import ROOT, WorkerError, run
from report import Section, Table, figure
from settings import Bench
from workers.archive import Layers, write

BEFORE = ROOT / "build" / "0.1" / "venv" / "bin" / "python"
CALLS = ("count", "unfold")
# By dimension: hidden layers that make some thousands of cells.
SHAPES = {1: (512, 512), 2: (96, 96), 3: (32, 32), 4: (18, 18), 5: (13, 13)}
QUICK = {2: (64, 64), 3: (24, 24), 5: (10, 10)}
KINDS = {
    "integer weights": networks.integers,
    "no biases": networks.without_biases,
    "walls twice": networks.duplicated,
    "parallel walls": networks.parallel,
    "walls through a point": networks.meeting,
}


@dataclass(frozen=True)
class Cliff:
    """A network on a box, and the name of the ordinary one of its widths that it is compared with, if any."""

    name: str
    layers: Layers
    low: float
    high: float
    beside: str = ""


def section(bench: Bench) -> Section:
    before = BEFORE.exists() and not bench.quick
    headings = ["network", "cells", *(f"`pf.{call}`, us per cell" for call in CALLS)]
    headings += [f"`pf.{call}`, ordinary = 1" for call in CALLS]
    table = Table([*headings, *(f"0.1 `pf.{call}`, us per cell" for call in CALLS)] if before else headings)
    known: dict[str, list[float]] = {}
    for number, cliff in enumerate(_quick_cliffs() if bench.quick else _cliffs()):
        path = bench.folder / f"cliff_{number}.npz"
        inputs = cliff.layers[0][0].shape[1]
        write(path, cliff.layers, (np.full(inputs, cliff.low), np.full(inputs, cliff.high)))
        bench.say(cliff.name)
        seconds = bench.repeat_seconds / 3
        cells, times = _times(path, seconds)
        known[cliff.name] = times
        others = known.get(cliff.beside)
        shares = [f"{a / b:.1f}" for a, b in zip(times, others, strict=True)] if others else ["-"] * len(CALLS)
        table.rows.append([cliff.name, f"{cells:,}", *map(figure, times), *shares])
        if before:
            table.rows[-1] += _times_before(path, seconds)
    how = (
        "One thread, CPU-seconds, the least of several runs. Tents fold an interval again and again: gates vanish at "
        "every vertex. Lattices are minima of maxima of affine forms, two-level lattice networks: gates vanish on "
        "whole cells. The others are ordinary networks of Gaussian weights and degenerate ones of the same widths, on "
        "[-2, 2]^d; `ordinary = 1` compares what a cell takes. Where there are few cells, what a call takes anyway "
        "weighs more than they do, and `pf.count` looks its number over by listing."
    )
    return Section("Cliffs", how, table)


def _times(path: Path, seconds: float, python: str = sys.executable) -> tuple[int, list[float]]:
    """Cells, and microseconds that each takes, by call."""
    measured = run("run_cliff", path, seconds, python=python)
    assert measured is not None
    return measured["cells"], [1e6 * measured[call] / measured["cells"] for call in CALLS]


def _times_before(path: Path, seconds: float) -> list[str]:
    try:
        return [*map(figure, _times(path, seconds, str(BEFORE))[1])]
    except WorkerError:
        return ["-"] * len(CALLS)


def _quick_cliffs() -> Iterator[Cliff]:
    yield Cliff("tents, depth 14", networks.tents(14), 0, 1)
    yield Cliff("tents, depth 50, on 2^-40 of the interval", networks.tents(50), 0.3, 0.3 + 2**-40)
    yield from _beside(_lattice(8), "lattice of 8 x 8")
    for dimension, hidden in QUICK.items():
        yield from _degenerate((dimension, *hidden, 1))


def _cliffs() -> Iterator[Cliff]:
    for depth in (14, 18, 22):
        yield Cliff(f"tents, depth {depth}", networks.tents(depth), 0, 1)
    yield Cliff("tents, depth 50, on 2^-36 of the interval", networks.tents(50), 0.3, 0.3 + 2**-36)
    for size in (8, 16, 24):
        yield from _beside(_lattice(size), f"lattice of {size} x {size}")
    for dimension, hidden in SHAPES.items():
        yield from _degenerate((dimension, *hidden, 1))
    for lines in (500, 1000, 2000):
        yield Cliff(f"2,{lines},1", networks.ordinary((2, lines, 1)), -1, 1)
    for order in ("sorted", "reversed", "shuffled"):
        for count in (20_000, 50_000):  # an atlas's patterns grow by the square
            yield Cliff(f"{count:,} knots, {order}", networks.knots(count, order), -1, 1)


def _lattice(size: int) -> Layers:
    return networks.lattice(size, size)


def _beside(layers: Layers, name: str) -> Iterator[Cliff]:
    """An ordinary network of the same widths, and then the network."""
    widths = (layers[0][0].shape[1], *(len(bias) for _, bias in layers))
    ordinary = f"ordinary, as the {name}"
    yield Cliff(ordinary, networks.ordinary(widths), -1, 1)
    yield Cliff(name, layers, -1, 1, ordinary)


def _degenerate(widths: tuple[int, ...]) -> Iterator[Cliff]:
    name = ",".join(map(str, widths))
    yield Cliff(f"{name}, ordinary", networks.ordinary(widths), -2, 2)
    for kind, make in KINDS.items():
        if widths[0] > 1 or kind != "parallel walls":
            yield Cliff(f"{name}, {kind}", make(widths), -2, 2, f"{name}, ordinary")
