"""An atlas in numbers: the fields of the command line's JSON, and the same for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyfold._base.words import in_digits
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Check
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.regions import Regions
from polyfold.compare.equivalence.result import Equivalence
from polyfold.engine.count import Count
from polyfold.errors import how_many
from polyfold.network.graph import Network
from polyfold.network.head import head_json
from polyfold.program.program import Program

# Counting faces costs far more than finding cells; a summary does it only where nobody notices.
_FACES_AT_ONCE = 1_000_000
# Of long lists of numbers, so many are shown.
_NUMBERS_SHOWN = 10


def atlas_facts(atlas: Atlas, regions: Regions | None) -> dict[str, Any]:
    """What `polyfold unfold --json` prints."""
    counts = atlas.f_vector() if atlas.complete and len(atlas) * 3**atlas.dim <= _FACES_AT_ONCE else None
    return {
        "cells": len(atlas),
        "regions": None if regions is None else len(regions),
        "gates": atlas.gates,
        "dim": atlas.dim,
        "inputs": atlas.program.input_dim,
        "outputs": atlas.outputs,
        "head": head_json(atlas.program.head),
        "bounded_cells": int(atlas.bounded.sum()),
        "facets": atlas.inner_facets,
        "boundary_facets": atlas.boundary_facets,
        "f_vector": None if counts is None else list(counts),
        "complete": atlas.complete,
        "stopped_by": atlas.certificate.stopped_by,
        "certificate": atlas.certificate.level,
        "evidence": evidence_of(atlas).to_json(),
        "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in atlas.certificate.checks],
        "seconds": atlas.certificate.seconds,
        "threads": atlas.certificate.threads,
        "network_digest": atlas.certificate.network_digest,
        "domain_digest": atlas.certificate.domain_digest,
    }


def count_facts(found: Count, faces: bool) -> dict[str, Any]:
    """What `polyfold count --json` prints."""
    return {
        **found.to_json(),
        "f_vector": list(found.f_vector) if faces and found.complete else None,
    }


def network_facts(network: Network, program: Program) -> dict[str, Any]:
    """What `polyfold info --json` prints."""
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


def atlas_panel(atlas: Atlas, regions: Regions | None) -> RenderableType:
    """The atlas for a terminal."""
    grid = _grid()
    for name, value in atlas.in_words().items():
        grid.add_row(name, value)
    if regions is not None:
        grid.add_row("linear regions", f"{len(regions):,}")
    _add_checks(grid, atlas.certificate.checks)
    return grid


def count_panel(found: Count, faces: bool) -> RenderableType:
    """A number of cells for a terminal."""
    grid = _grid()
    for name, value in count_facts(found, faces).items():
        if value is not None and name not in ("checks", "head"):
            grid.add_row(name.replace("_", " "), _for_people(value))
    if found.program.head is not None:
        grid.add_row("head", f"{found.program.head}; cells are those of the scores before it")
    _add_checks(grid, found.certificate.checks)
    return grid


def _add_checks(grid: Table, checks: Iterable[Check]) -> None:
    for item in checks:
        grid.add_row(Text("ok", "green") if item.passed else Text("FAILED", "bold red"), f"{item.name}: {item.detail}")


def equivalence_panel(found: Equivalence) -> RenderableType:
    """A comparison of two networks for a terminal."""
    grid = _grid()
    style = {"equal": "bold green", "different": "bold red", "unknown": "bold yellow"}[found.verdict]
    within = f" within {in_digits(found.tolerance)}" if found.tolerance else ""
    grid.add_row("verdict", Text(found.verdict.upper() + within, style))
    for name, head in zip(("first", "second"), found.heads, strict=True):
        if head is not None:
            grid.add_row(f"{name} model's head", str(head))
    grid.add_row(
        "largest difference", str(found.worst) + ("" if found.compared == "outputs" else f", of {found.compared}")
    )
    if found.x is not None:
        shown = ", ".join(f"{value:.9g}" for value in found.x[:_NUMBERS_SHOWN])
        grid.add_row("at the input", shown + (", ..." if len(found.x) > _NUMBERS_SHOWN else ""))
    if len(found.by_output) > 1:
        grid.add_row("output by output", "; ".join(str(one) for one in found.by_output[:_NUMBERS_SHOWN]))
    grid.add_row("how", found.method)
    _add_checks(grid, found.certificate.checks if found.certificate is not None else ())
    if found.stopped_by is not None:
        grid.add_row("stopped by", found.stopped_by)
    grid.add_row("seconds", f"{found.seconds:.3g}")
    return grid


def facts_panel(facts: dict[str, Any]) -> RenderableType:
    """Facts one below the other, without those that are not known."""
    grid = _grid()
    for name, value in facts.items():
        if value is not None:
            grid.add_row(name.replace("_", " "), _for_people(value))
    return grid


def network_panel(network: Network, program: Program) -> RenderableType:
    """The network for a terminal."""
    grid = _grid()
    facts = network_facts(network, program)
    grid.add_row("read from", network.source)
    for side in ("inputs", "outputs"):
        grid.add_row(side, ", ".join(f"{p['name']} {tuple(p['shape'])}" for p in facts[side]))
    grid.add_row("gates", f"{program.gates:,} in {how_many(len(program.stages), 'stage')} of {facts['stages']}")
    if network.head is not None:
        grid.add_row("head", f"{network.head}; everything else speaks of the scores before it")
    for sentence in network.notes:
        grid.add_row("note", sentence)
    table = Table("node", "operation", "shape", box=None, pad_edge=False)
    for node in facts["nodes"]:
        table.add_row(node["name"], node["op"], str(tuple(node["shape"])))
    return Group(grid, Text(), table)


def _for_people(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_for_people, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    return grid
