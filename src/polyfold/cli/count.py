"""polyfold count: how many cells a network has."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
    Cells,
    MaxSeconds,
    Model,
    ShowProgress,
    Threads,
    Until,
    domain_of,
    network_named,
    shown,
)
from polyfold.cli.output import add_checks, document, end_if_incomplete, facts_grid, show, standard_output
from polyfold.engine.count import count as count_network
from polyfold.engine.method import CellsOf

# What people see: everything but lists, and what is said in other words.
_HIDDEN = ("schema", "kind", "model", "notes", "checks", "head", "evidence", "asked")


def count(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    cells: Cells = "gates",
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    faces: Annotated[bool, typer.Option("--faces", help="Count the faces of all dimensions, too.")] = False,
    until: Until = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    network = network_named(model, until)
    found = count_network(
        network,
        domain_of(box, box_file),
        cells=cast(CellsOf, cells),
        progress=shown(progress),
        max_seconds=max_seconds,
        threads=threads,
    )
    facts = document(found, {"model": model, "notes": list(network.notes)})
    facts["f_vector"] = list(found.f_vector) if faces and found.complete else None

    def for_people() -> None:
        head = f"{network.head}; cells are those of the scores before it" if network.head is not None else None
        grid = facts_grid({name: facts[name] for name in facts if name not in _HIDDEN} | {"head": head})
        add_checks(grid, found.certificate.checks)
        standard_output().print(grid)

    show(facts, as_json, for_people)
    end_if_incomplete(found.stopped_by, found.cells, none_found=found.certificate.none_found)
