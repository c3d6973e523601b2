"""polyfold reduce: the same function with fewer neurons, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
    MaxSeconds,
    Model,
    ShowProgress,
    Until,
    check_file,
    domain_of,
    network_named,
    shown,
)
from polyfold.cli.output import document, facts_grid, say, show, standard_output
from polyfold.errors import how_many
from polyfold.network.write.save import ENDINGS, save
from polyfold.rewrite.reduction.reduce import reduce as reduce_network
from polyfold.rewrite.reduction.result import Reduction, Step


def reduce(
    model: Model,
    out: Annotated[Path | None, typer.Option(help=f"A file for the smaller network ({', '.join(ENDINGS)}).")] = None,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    rounding: Annotated[
        str, typer.Option(help="nearest: round weights that are no floats, once; never: leave such neurons alone.")
    ] = "nearest",
    skips: Annotated[bool, typer.Option("--skips", help="Allow connections past a layer, which save neurons.")] = False,
    max_seconds: MaxSeconds = None,
    until: Until = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    if out is not None:
        check_file(out, ENDINGS)
    found = reduce_network(
        network_named(model, until),
        domain_of(box, box_file),
        rounding=rounding,  # type: ignore[arg-type]  # looked up there
        skips=skips,
        max_seconds=max_seconds,
        progress=shown(progress),
    )
    if out is not None:
        save(found.network, out)

    def for_people() -> None:
        standard_output().print(_panel(found))
        if out is not None:
            say(f"written to {out}")

    given = {"model": model, "out": None if out is None else str(out)}
    show(document(found, given), as_json, for_people)


def _panel(found: Reduction) -> RenderableType:
    facts = {
        "neurons before": found.neurons_before,
        "neurons after": found.neurons_after,
        "layers before": list(found.layers_before),
        "layers after": [stage.width for stage in found.program.stages],
        "guarantee": found.guarantee,
        "head": None if found.head is None else str(found.head),
        "undecided": how_many(len(found.undecided), "neuron") if found.undecided else None,
        "seconds": found.seconds,
    }
    table = Table("layer", "went", "why", "for example", box=None, pad_edge=False)
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in found.steps:
        groups.setdefault((step.neuron.partition("[")[0], step.kind), []).append(step)
    for (layer, kind), steps in groups.items():
        table.add_row(Text(layer), f"{len(steps):,}", kind, Text(str(steps[0])))
    return Group(facts_grid(facts), Text(), table) if found.steps else facts_grid(facts)
