"""How many facets cells have: over architectures, over random initialisations, and over training, beside 2d.

    python -m studies.face_counts [--quick] [--figure FILE.svg] [--training-figure FILE.svg] [--json]

The experiment is that of "Characterizing the Discrete Geometry of ReLU Networks", whose theorem says that the mean is
at most 2d on R^d for almost every network. Every network is unfolded on all of R^d.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polyfold.engine.unfold import unfold
from polyfold.stats.facets.statistics import facets as facet_statistics
from studies.chart import Panel, Series, draw, places, steps
from studies.command import write_figure
from studies.small_networks import Layers, along_training, random_network


@dataclass(frozen=True)
class Settings:
    """Hidden layers by dimension, how many random networks each, and after which epochs training is looked at."""

    hidden: dict[int, tuple[tuple[int, ...], ...]]
    seeds: int
    trained: dict[int, tuple[int, ...]]
    epochs: tuple[int, ...]


FULL = Settings(
    hidden={
        2: ((24,), (12, 12), (8, 8, 8), (6, 6, 6, 6)),
        3: ((24,), (12, 12), (8, 8, 8), (6, 6, 6, 6)),
        4: ((20,), (10, 10), (7, 7, 6), (5, 5, 5, 5)),
        5: ((16,), (8, 8), (6, 5, 5), (4, 4, 4, 4)),
    },
    seeds=8,
    trained={2: (12, 12), 3: (12, 12), 4: (9, 9), 5: (8, 8)},
    epochs=(0, 10, 30, 100, 300, 1000),
)
QUICK = Settings(
    hidden={2: ((8,), (4, 4)), 3: ((7,), (4, 3))}, seeds=2, trained={2: (5, 5), 3: (4, 4)}, epochs=(0, 10, 50)
)


@dataclass(frozen=True)
class Row:
    """Cells of some networks of one architecture, together: `shares[k]` of them have k facets."""

    dim: int
    hidden: tuple[int, ...]
    epoch: int | None
    cells: int
    mean: float
    largest_mean: float
    shares: tuple[float, ...]

    @property
    def name(self) -> str:
        return ", ".join(map(str, self.hidden))


def over_architectures(settings: Settings) -> list[Row]:
    """Random networks of every architecture."""
    return [
        _row(dim, hidden, None, [random_network((dim, *hidden, 1), seed) for seed in range(settings.seeds)])
        for dim, architectures in settings.hidden.items()
        for hidden in architectures
    ]


def over_training(settings: Settings) -> list[Row]:
    """One architecture in every dimension, at several times."""
    rows = []
    for dim, hidden in settings.trained.items():
        runs = [dict(along_training((dim, *hidden, 1), seed, settings.epochs)) for seed in range(settings.seeds)]
        rows += [_row(dim, hidden, epoch, [run[epoch] for run in runs]) for epoch in settings.epochs]
    return rows


def _row(dim: int, hidden: tuple[int, ...], epoch: int | None, networks: Sequence[Layers]) -> Row:
    found = [facet_statistics(unfold(network)) for network in networks]
    counts = np.bincount(np.concatenate([one.counts for one in found]))
    shares = tuple((counts / counts.sum()).tolist())
    mean = float(counts @ np.arange(len(counts)) / counts.sum())
    return Row(dim, hidden, epoch, int(counts.sum()), mean, max(one.mean for one in found), shares)


def architectures_figure(rows: Sequence[Row]) -> str:
    """Distributions, a panel a dimension, with a line at 2d."""
    most = 0
    panels = []
    for dim in sorted({row.dim for row in rows}):
        here = [row for row in rows if row.dim == dim]
        series = [
            Series(
                f"{len(row.hidden)} hidden layer{'s' * (len(row.hidden) > 1)}",
                [(float(k), share) for k, share in enumerate(row.shares) if share],
                len(row.hidden) - 1,
            )
            for row in here
        ]
        panels.append(Panel(f"d = {dim}; dashed: 2d = {2 * dim}", series, [(2.0 * dim, 5)]))
        most = max(most, *(len(row.shares) - 1 for row in here))
    top = max(max(row.shares) for row in rows)
    x = steps("facets of a cell", [0.0, float(most)], 4.0)
    return draw("Share of cells by number of facets", panels, x, steps("share of cells", [0.0, top], 0.1))


def training_figure(rows: Sequence[Row]) -> str:
    """Means along training, one line a dimension, with 2d dashed."""
    dims = sorted({row.dim for row in rows})
    epochs = sorted({row.epoch for row in rows if row.epoch is not None})
    series = []
    for colour, dim in enumerate(dims):
        # Epoch 0 has no place on a scale of orders: times are drawn one after the other.
        means = [(float(epochs.index(row.epoch)), row.mean) for row in rows if row.dim == dim and row.epoch is not None]
        series.append(Series(f"d = {dim}", means, colour))
        series.append(Series(f"2d = {2 * dim}", [(0.0, 2.0 * dim), (len(epochs) - 1.0, 2.0 * dim)], colour, True))
    x = places("epochs of training", [str(epoch) for epoch in epochs])
    y = steps("mean facets of a cell", [0.0, 2.0 * max(dims)], 2.0)
    return draw("Mean number of facets during training", [Panel("training", series)], x, y)


def table(rows: Sequence[Row]) -> str:
    """The study for people."""
    lines = ["  d  hidden layers   epoch    cells   mean  largest mean   2d"]
    for row in rows:
        epoch = "-" if row.epoch is None else str(row.epoch)
        lines.append(
            f"{row.dim:3}  {row.name:14} {epoch:>6} {row.cells:8,} {row.mean:6.3f}  {row.largest_mean:12.3f} "
            f"{2 * row.dim:4}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study; draw it if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.face_counts", description="How many facets cells have, beside 2d."
    )
    parser.add_argument("--quick", action="store_true", help="small networks, a few seconds")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the distributions over architectures")
    parser.add_argument("--training-figure", type=Path, metavar="FILE.svg", help="draw the means over training")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    settings = QUICK if options.quick else FULL
    architectures, training = over_architectures(settings), over_training(settings)
    figures: list[tuple[Path | None, Callable[[], str]]] = [
        (options.figure, lambda: architectures_figure(architectures)),
        (options.training_figure, lambda: training_figure(training)),
    ]
    for path, picture in figures:
        write_figure(parser, path, picture)
    rows: dict[str, Any] = {"architectures": architectures, "training": training}
    if options.json:
        print(json.dumps({name: [asdict(row) for row in part] for name, part in rows.items()}, allow_nan=False))
    else:
        print("\n\n".join(f"over {name}\n{table(part)}" for name, part in rows.items()))


if __name__ == "__main__":
    main()
