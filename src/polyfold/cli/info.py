"""polyfold info: what a network is, how many cells it can have, and what finding them would take."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyfold.cli.options import AsJson, BoxBounds, BoxFile, Model, Threads, Until, domain_of, network_named
from polyfold.cli.output import document, facts_grid, show, standard_output
from polyfold.cli.planning import planning_facts, planning_panel
from polyfold.errors import LimitError, how_many
from polyfold.network.graph import Network
from polyfold.network.head import head_json
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.size.bounds import bounds as bounds_of
from polyfold.size.estimate import estimate as estimate_cost


def info(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    max_seconds: Annotated[float, typer.Option(help="How long to try what unfolding would take; 0: not at all.")] = 2.0,
    threads: Threads = None,
    until: Until = None,
    as_json: AsJson = False,
) -> None:
    domain = domain_of(box, box_file)
    network = network_named(model, until)
    program = lower(network)
    bounds = bounds_of(network, domain)
    cost, too_large = None, None
    if max_seconds:
        if not max_seconds > 0:
            raise LimitError(
                f"--max-seconds {max_seconds:g} leaves no time: give a positive number, or 0 for no estimate"
            )
        try:
            cost = estimate_cost(program, domain, max_seconds=max_seconds, threads=threads)
        except LimitError as error:
            too_large = str(error)

    def for_people() -> None:
        standard_output().print(_panel(network, program))
        standard_output().print(planning_panel(bounds, cost, too_large))

    facts = {**_facts(network, program), **planning_facts(bounds, cost, too_large)}
    show(document(network, {"model": model}, facts), as_json, for_people)


def _facts(network: Network, program: Program) -> dict[str, Any]:
    return {
        "source": network.source,
        "inputs": [{"name": port.name, "shape": list(port.shape)} for port in network.inputs],
        "outputs": [{"name": name, "shape": list(network.shapes[name])} for name in network.outputs],
        "input_dim": network.input_dim,
        "output_dim": network.output_dim,
        "gates": program.gates,
        "stages": [stage.width for stage in program.stages],
        "head": head_json(network.head),
        "notes": list(network.notes),
        "nodes": [
            {"name": node.name, "op": type(node.op).__name__, "shape": list(network.shapes[node.name])}
            for node in network.nodes
        ],
        "digest": program.digest,
    }


def _panel(network: Network, program: Program) -> RenderableType:
    facts = _facts(network, program)
    ports = {side: [f"{p['name']} {tuple(p['shape'])}" for p in facts[side]] for side in ("inputs", "outputs")}
    head = None if network.head is None else f"{network.head}; everything else speaks of the scores before it"
    gates = f"{program.gates:,} in {how_many(len(program.stages), 'stage')} of {facts['stages']}"
    grid = facts_grid({"read from": network.source, **ports, "gates": gates, "head": head})
    for sentence in network.notes:
        grid.add_row("note", Text(sentence))
    table = Table("node", "operation", "shape", box=None, pad_edge=False)
    for node in facts["nodes"]:
        table.add_row(Text(node["name"]), node["op"], str(tuple(node["shape"])))
    return Group(grid, Text(), table)
