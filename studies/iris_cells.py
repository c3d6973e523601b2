"""The cells that hold test data of Iris, each with the smallest hypercube around it.

    python -m studies.iris_cells [--figure FILE.svg] [--json]

A network with hidden layers of 5, 7 and 4 ReLUs learned the species from petal length and width; 40 % of the flowers
were kept for testing. The experiment is that of "Any Deep ReLU Network is Shallow", section 5.2, where the test flowers
fall in five regions. Weights and test flowers come with polyfold, so every run prints the same.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from polyfold._base.files import atomically
from polyfold.datasets import iris_test, read
from polyfold.engine.regions import regions
from polyfold.engine.unfold import unfold
from polyfold.errors import StorageError
from polyfold.stats.summarise import Summary, summarise
from studies.iris_figure import draw

# How many regions with test data the paper's figure shows.
PUBLISHED = 5


def iris_cells() -> Summary:
    """The cells of the bundled network, on all of the plane, that hold test flowers."""
    network = read("iris")
    petals, species = iris_test()
    atlas = unfold(list(network.layers))
    return summarise(atlas, petals, species, feature_names=network.inputs, output_names=network.outputs)


def facts(found: Summary) -> dict[str, Any]:
    """The study in numbers."""
    around = found.boxes
    return {
        "cells": len(found.atlas),
        "regions": len(regions(found.atlas)),
        "cells_with_test_data": len(found),
        "published_regions_with_test_data": PUBLISHED,
        "test_points": found.points,
        "found": [
            {
                "cell": int(found.ids[i]),
                "points": int(found.counts[i]),
                "classes": _counted(found.classes, found.class_counts, i),
                "predicted": _counted(found.output_names, found.predicted_counts, i),
                "correct": None if found.correct is None else int(found.correct[i]),
                "box": {"lo": around.lo[i].tolist(), "hi": around.hi[i].tolist()},
                "hypercube": {"centre": around.centre[i].tolist(), "size": float(around.size[i])},
                "part_of_the_hypercube": float(around.cube_faithfulness[i]),
                "models": dict(zip(found.output_names, found.models[i], strict=True)),
            }
            for i in range(len(found))
        ],
    }


def _counted(names: Any, counts: Any, i: int) -> dict[str, int]:
    return {name: int(count) for name, count in zip(names, counts[i], strict=True) if count}


def in_words(found: Summary) -> str:
    """The study for people."""
    numbers = facts(found)
    lines = [
        f"{numbers['test_points']} test flowers fall in {len(found)} of {numbers['cells']} cells, which are "
        f"{numbers['regions']} linear regions. Published: {PUBLISHED} regions with test data.",
        "",
        str(found),
        "",
        "smallest hypercubes: centre, side, part of it that is the cell",
    ]
    for one in numbers["found"]:
        centre = ", ".join(f"{x:.2f}" for x in one["hypercube"]["centre"])
        side, part = one["hypercube"]["size"], one["part_of_the_hypercube"]
        lines.append(f"cell {one['cell']}: ({centre}), {side:.2f}, {part:.0%}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study; draw it if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.iris_cells", description="The cells that hold test data of Iris."
    )
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the cells and their hypercubes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    found = iris_cells()
    if options.figure is not None:
        try:
            with atomically(options.figure) as file:
                file.write_text(draw(found, iris_test()[0]), encoding="utf-8")
        except StorageError as error:
            parser.error(str(error))
    print(json.dumps(facts(found), allow_nan=False) if options.json else in_words(found))


if __name__ == "__main__":
    main()
