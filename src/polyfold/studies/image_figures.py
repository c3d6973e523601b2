"""Figures of the study of locally linear attributes: maps as pictures. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.analyses.local_maps.clusters import centres_of
from polyfold.analyses.local_maps.gram import products
from polyfold.analyses.local_maps.transfer import fit, sum_of_squares
from polyfold.network.extras import require
from polyfold.network.files import atomically
from polyfold.studies.image_networks import CLASSES
from polyfold.studies.image_stages import Study

Array = npt.NDArray[Any]
# The digit of figure 6, and how many pictures figure 12 has.
DIGIT, EXAMPLES = 4, 5
CENTRES = 10


def gradient_pictures(steps: Study, networks: Sequence[str], path: Path) -> None:
    """Figure 6: the slopes of every output of every network at one picture of a four, a row a network."""
    side = steps.data.side
    example = int(np.flatnonzero(steps.data.test_labels == DIGIT)[0])
    rows = [[np.asarray(steps.rows(name, "test", j)[example, :-1]) for j in range(CLASSES)] for name in networks]
    grid: list[list[Array | None]] = [[each.reshape(side, side) for each in row] for row in rows]
    grid = [[steps.data.test[example, 0], *row] if k == 0 else [None, *row] for k, row in enumerate(grid)]
    _draw(grid, list(networks), ["input", *(f"output {j}" for j in range(CLASSES))], path)


def mapped_pictures(steps: Study, path: Path) -> None:
    """Figure 12: output 0 of Dense, what the map to Conv makes of it, and output 0 of Conv, at a few test pictures."""
    side = steps.data.side
    dense, conv = (steps.rows(name, "train", 0) for name in ("Dense", "Conv"))
    found = fit(products(dense, dense), products(dense, conv), sum_of_squares(conv))
    start = np.asarray(steps.rows("Dense", "test", 0)[:EXAMPLES])
    goal = np.asarray(steps.rows("Conv", "test", 0)[:EXAMPLES])
    columns = [
        steps.data.test[:EXAMPLES].reshape(EXAMPLES, -1),
        *(each[:, :-1] for each in (start, start @ found.matrix, goal)),
    ]
    grid: list[list[Array | None]] = [[column[i].reshape(side, side) for column in columns] for i in range(EXAMPLES)]
    _draw(grid, [""] * EXAMPLES, ["input", "Dense", "Dense, mapped", "Conv"], path)


def centre_pictures(steps: Study, networks: Sequence[str], path: Path) -> None:
    """The centres of ten clusters of output 0, a row a network."""
    side = steps.data.side
    rows = [centres_of(steps.rows(name, "train", 0), CENTRES)[0] for name in networks]
    grid: list[list[Array | None]] = [[each[:-1].reshape(side, side) for each in row] for row in rows]
    _draw(grid, list(networks), [f"cluster {k}" for k in range(CENTRES)], path)


def _draw(grid: list[list[Array | None]], rows: list[str], columns: list[str], path: Path) -> None:
    """Pictures in rows and columns: inputs in grey, slopes with zero in the middle of the colours."""
    require("matplotlib", extra="plot", purpose="a figure")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.1 * len(columns) + 0.8, 1.15 * len(rows) + 0.4), layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    for line, row, name in zip(axes, grid, rows, strict=True):
        for axis, picture, title in zip(line, row, columns, strict=True):
            axis.set_xticks([])
            axis.set_yticks([])
            if picture is None:
                axis.axis("off")
                continue
            if title == "input":
                axis.imshow(picture, cmap="gray")
                continue
            largest = float(np.abs(picture).max()) or 1.0
            axis.imshow(picture, cmap="RdBu", vmin=-largest, vmax=largest)
        line[1 if columns[0] == "input" else 0].set_ylabel(name, fontsize=8)
    for axis, title in zip(axes[0], columns, strict=True):
        axis.set_title(title, fontsize=8)
    with atomically(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
