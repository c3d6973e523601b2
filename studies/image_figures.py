"""Figures of the study of locally linear attributes: maps as pictures. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polyfold.maps.clusters import centres_of
from polyfold.maps.gram import products
from polyfold.maps.transfer import fit, sum_of_squares
from polyfold.plotting.render.files import render, write
from polyfold.plotting.scene.image_grids import picture_of
from polyfold.plotting.scene.shapes import Grid, Picture
from studies.image_networks import CLASSES
from studies.image_stages import Study

# The digit of figure 6, and how many pictures figure 12 has.
DIGIT, EXAMPLES = 4, 5
CENTRES = 10


def gradient_pictures(steps: Study, networks: Sequence[str], path: Path) -> None:
    """Figure 6: the slopes of every output of every network at one picture of a four, one row per network."""
    side = steps.data.side
    example = int(np.flatnonzero(steps.data.test_labels == DIGIT)[0])
    rows: list[list[Picture | None]] = []
    for number, name in enumerate(networks):
        slopes = [np.asarray(steps.rows(name, "test", j)[example, :-1]).reshape(side, side) for j in range(CLASSES)]
        titles = [f"output {j}" if number == 0 else "" for j in range(CLASSES)]
        picture = picture_of(steps.data.test[example, 0], "input", signed=False) if number == 0 else None
        rows.append([picture, *map(picture_of, slopes, titles)])
    _draw(rows, networks, path)


def mapped_pictures(steps: Study, path: Path) -> None:
    """Figure 12: output 0 of Dense, what the map to Conv makes of it, and output 0 of Conv, at a few test pictures."""
    side = steps.data.side
    dense, conv = (steps.rows(name, "train", 0) for name in ("Dense", "Conv"))
    found = fit(products(dense, dense), products(dense, conv), sum_of_squares(conv))
    start = np.asarray(steps.rows("Dense", "test", 0)[:EXAMPLES])
    goal = np.asarray(steps.rows("Conv", "test", 0)[:EXAMPLES])
    columns = {
        "input": steps.data.test[:EXAMPLES].reshape(EXAMPLES, -1),
        "Dense": start[:, :-1],
        "Dense, mapped": (start @ found.matrix)[:, :-1],
        "Conv": goal[:, :-1],
    }
    rows = [
        [
            picture_of(values[i].reshape(side, side), title if i == 0 else "", signed=title != "input")
            for title, values in columns.items()
        ]
        for i in range(EXAMPLES)
    ]
    _draw(rows, (), path)


def centre_pictures(steps: Study, networks: Sequence[str], path: Path) -> None:
    """The centres of ten clusters of output 0, one row per network."""
    side = steps.data.side
    rows = []
    for number, name in enumerate(networks):
        centres = centres_of(steps.rows(name, "train", 0), CENTRES)[0]
        titles = [f"cluster {k}" if number == 0 else "" for k in range(len(centres))]
        rows.append([picture_of(w[:-1].reshape(side, side), title) for w, title in zip(centres, titles, strict=True)])
    _draw(rows, networks, path)


def _draw(rows: Sequence[Sequence[Picture | None]], names: Sequence[str], path: Path) -> None:
    """Pictures in rows and columns: inputs in grey, slopes with zero in the middle of the colours."""
    grid = Grid(tuple(tuple(row) for row in rows), tuple(names))
    write(render(grid, "matplotlib"), path, "matplotlib")
