"""polyfold unfold: every cell of a network, in a folder if one is given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from polyfold._base.files import atomically
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.regions import Regions
from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
    Cells,
    Certify,
    MaxCells,
    MaxSeconds,
    Model,
    ShowProgress,
    Threads,
    Until,
    check_folder,
    domain_of,
    make_folder,
    network_named,
    shown,
)
from polyfold.cli.output import (
    add_checks,
    document,
    end_if_a_check_failed,
    end_if_incomplete,
    facts_grid,
    say,
    show,
    standard_output,
    write_json,
)
from polyfold.engine.method import CellsOf
from polyfold.engine.proof.certify import certify as certify_atlas
from polyfold.engine.regions import regions
from polyfold.engine.unfold import unfold as unfold_network
from polyfold.network.head import head_json

ATLAS, SUMMARY = "atlas.parquet", "summary.json"

# Somebody who set a limit does not want to wait for the regions of what was found.
_REGIONS_AT_ONCE = 50_000
# Counting faces costs far more than finding cells; a summary does it only where nobody notices.
_FACES_AT_ONCE = 1_000_000


def unfold(
    model: Model,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    cells: Cells = "gates",
    max_cells: MaxCells = None,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    certify: Certify = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the atlas (atlas.parquet) and its summary.")] = None,
    until: Until = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    domain = domain_of(box, box_file)
    network = network_named(model, until)
    if out is not None:
        check_folder(out)
    atlas = unfold_network(
        network,
        domain,
        cells=cast(CellsOf, cells),
        progress=shown(progress),
        max_cells=max_cells,
        max_seconds=max_seconds,
        threads=threads,
    )
    given = {"model": model, "notes": list(network.notes)}
    finish(atlas, given, out, certify=certify, threads=threads, progress=shown(progress), as_json=as_json)


def finish(
    atlas: Atlas,
    given: dict[str, Any],
    out: Path | None,
    *,
    certify: bool,
    threads: int | None,
    progress: bool,
    as_json: bool,
) -> None:
    """Certify, write and print what was found; exit codes say what is wrong with it."""
    if certify and atlas.complete:
        atlas = atlas.with_certificate(certify_atlas(atlas, progress=progress, threads=threads))
    merged = regions(atlas) if atlas.complete or len(atlas) <= _REGIONS_AT_ONCE else None
    facts = document(atlas, given, _facts(atlas, merged))
    written = None
    if out is not None:
        written = _write(atlas, facts, out)
        facts["atlas"] = str(written)

    def for_people() -> None:
        grid = facts_grid({**atlas.in_words(), "linear regions": None if merged is None else len(merged)})
        add_checks(grid, atlas.certificate.checks)
        standard_output().print(grid)
        if written is not None:
            say(f"atlas written to {written}; read it with polyfold.open({str(written)!r})")

    show(facts, as_json, for_people)
    end_if_a_check_failed(atlas.certificate)
    end_if_incomplete(
        atlas.certificate.stopped_by, len(atlas), out, none_found=not len(atlas) and atlas.certificate.none_found
    )


def _facts(atlas: Atlas, merged: Regions | None) -> dict[str, Any]:
    counts = atlas.f_vector() if atlas.complete and len(atlas) * 3**atlas.dim <= _FACES_AT_ONCE else None
    certificate = atlas.certificate
    return {
        # Where none was found yet, there is one all the same.
        "cells": max(len(atlas), int(atlas.certificate.none_found)),
        "cells_of": atlas.cells_of,
        "regions": None if merged is None else len(merged),
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
        "stopped_by": certificate.stopped_by,
        "certificate": certificate.level,
        "evidence": evidence_of(atlas).to_json(),
        "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in certificate.checks],
        "seconds": certificate.seconds,
        "threads": certificate.threads,
        "network_digest": certificate.network_digest,
        "domain_digest": certificate.domain_digest,
    }


def _write(atlas: Atlas, facts: dict[str, Any], folder: Path) -> Path:
    make_folder(folder)
    with atomically(folder / SUMMARY) as summary:
        write_json(facts, summary)
        atlas.save(folder / ATLAS)
    return folder / ATLAS
