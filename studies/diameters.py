"""How far apart cells can be: the diameter of the dual graph against width and depth, beside what a segment can cross.

    python -m studies.diameters [--quick] [--figure FILE.svg] [--json]

The experiment is that of "Characterizing the Discrete Geometry of ReLU Networks": random networks in 2 to 5 dimensions,
unfolded on all of R^d. A straight way crosses at most prod(n_l + 1) - 1 facets, so that no two cells are farther apart.
Diameters are exact.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from polyfold.engine.unfold import unfold
from polyfold.graph.diameter import diameter
from studies.chart import Panel, Series, draw, powers
from studies.command import write_figure
from studies.small_networks import random_network


@dataclass(frozen=True)
class Settings:
    """Widths of hidden layers by dimension and depth, and how many random networks of each."""

    widths: dict[int, dict[int, tuple[int, ...]]]
    seeds: int


FULL = Settings(
    widths={
        2: {1: (2, 4, 8, 16, 32, 64), 2: (2, 4, 8, 16, 32, 64), 3: (2, 4, 8, 16, 32, 64)},
        3: {1: (2, 4, 8, 16, 32), 2: (2, 4, 8, 16, 32), 3: (2, 4, 8, 16)},
        4: {1: (2, 4, 8, 16, 24), 2: (2, 4, 8, 12), 3: (2, 4, 8, 10)},
        5: {1: (2, 4, 8, 16), 2: (2, 4, 8, 10), 3: (2, 4, 6, 8)},
    },
    seeds=5,
)
QUICK = Settings(widths={2: {1: (2, 4), 2: (3, 5)}, 3: {1: (2, 4), 2: (3, 4)}}, seeds=2)


@dataclass(frozen=True)
class Row:
    """The networks of one width and depth in one dimension: the largest numbers among them, and the mean diameter."""

    dim: int
    depth: int
    width: int
    cells: int
    diameter: int
    mean_diameter: float
    bound: int


def diameters(settings: Settings) -> list[Row]:
    """All of them."""
    return [
        _row(dim, depth, width, settings.seeds)
        for dim, depths in settings.widths.items()
        for depth, widths in depths.items()
        for width in widths
    ]


def _row(dim: int, depth: int, width: int, seeds: int) -> Row:
    atlases = [unfold(random_network((dim, *[width] * depth, 1), seed)) for seed in range(seeds)]
    found = [diameter(atlas).lower for atlas in atlases]
    return Row(dim, depth, width, max(map(len, atlases)), max(found), sum(found) / len(found), (width + 1) ** depth - 1)


def figure(rows: Sequence[Row]) -> str:
    """A panel a depth: diameter over width, a colour a dimension, the bound dashed."""
    panels = []
    dims = sorted({row.dim for row in rows})
    for depth in sorted({row.depth for row in rows}):
        here = [row for row in rows if row.depth == depth]
        bound = sorted({(float(row.width), float(row.bound)) for row in here})
        series = [Series("prod(n_l + 1) - 1", bound, 5, True)]
        for colour, dim in enumerate(dims):
            points = [(float(row.width), row.mean_diameter) for row in here if row.dim == dim and row.mean_diameter]
            series.append(Series(f"d = {dim}, mean of the diameters", points, colour))
        panels.append(Panel(f"{depth} hidden layer{'s' * (depth > 1)}", series))
    x = powers("width of each layer", [float(row.width) for row in rows], 2)
    y = powers("facets crossed", [value for row in rows for value in (row.mean_diameter, row.bound) if value])
    return draw("Diameter of the dual graph against width and depth", panels, x, y)


def table(rows: Sequence[Row]) -> str:
    """The study for people."""
    lines = ["  d  layers  width    cells  diameter    mean    bound"]
    for row in rows:
        lines.append(
            f"{row.dim:3} {row.depth:7} {row.width:6} {row.cells:8,} {row.diameter:9} {row.mean_diameter:7.2f} "
            f"{row.bound:8,}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study; draw it if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.diameters", description="Diameters of dual graphs beside their bound."
    )
    parser.add_argument("--quick", action="store_true", help="small networks, a few seconds")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw diameters over width, a panel a depth")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    rows = diameters(QUICK if options.quick else FULL)
    write_figure(parser, options.figure, lambda: figure(rows))
    if options.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}, allow_nan=False))
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
