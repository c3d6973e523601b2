"""The table of a job's cells: written once, to a file that counts among the job's files."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import httpx
import numpy as np

import polyfold as pf
from helpers.explorers import random_layers, without_workers
from polyfold.explorer.answers import NUMBERS_AT_A_TIME, Opened, write_csv
from polyfold.explorer.api import COOKIE, make_app
from polyfold.explorer.drawing import draw_cells, save_arrays, view_in
from polyfold.explorer.guard import Rules
from polyfold.explorer.pool import Job
from polyfold.explorer.sessions import Session
from polyfold.explorer.state import State


def write_job(folder: Path, *widths: int, side: float = 3.0) -> pf.Atlas:
    """What a worker leaves, as far as tables need it."""
    atlas = pf.unfold(random_layers(4, 2, *widths), pf.box(-side, side))
    save_arrays(folder / "cells.npz", draw_cells(atlas, view_in((-side, -side), (side, side))))
    atlas.save(folder / "atlas.parquet")
    return atlas


def test_patterns_in_more_than_one_go(tmp_path: Path) -> None:
    atlas = write_job(tmp_path, 20, 60, 1)
    assert len(atlas) * atlas.gates > NUMBERS_AT_A_TIME
    write_csv(Opened(tmp_path), tmp_path / "cells.csv")
    with (tmp_path / "cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cell"]) for row in rows] == list(range(len(atlas)))
    for number in np.random.default_rng(1).choice(len(atlas), 200).tolist():
        assert rows[number]["pattern"] == atlas[number].pattern
    assert not (tmp_path / "cells.part").exists()


def finished_job(state: State, session: Session) -> Job:
    job = state.sessions.start(session, {"kind": "unfold"})
    write_job(Path(job.task["folder"]), 6, 2)
    job.end("done", None, {})
    return job


def test_a_table_is_written_once() -> None:
    state = without_workers()
    session = state.sessions.new()
    job = finished_job(state, session)
    written = Path(job.task["folder"]) / "cells.csv"

    async def ask() -> tuple[set[bytes], int, int]:
        transport = httpx.ASGITransport(make_app(state, Rules(None, None, 1_000_000)))
        async with httpx.AsyncClient(transport=transport, base_url="http://here", cookies={COOKIE: session.id}) as http:
            path = f"/api/jobs/{job.id}/export.csv"
            found = await asyncio.gather(*(http.get(path) for _ in range(8)))
            first = written.stat().st_ino
            found.append(await http.get(path))
            return {each.content for each in found}, first, written.stat().st_ino

    try:
        contents, first, last = asyncio.run(ask())
        assert contents == {written.read_bytes()} and first == last
    finally:
        state.close()


def test_tables_count_among_the_files() -> None:
    state = without_workers()
    session = state.sessions.new()
    old, other = (finished_job(state, session) for _ in range(2))
    size = sum(file.stat().st_size for job in (old, other) for file in Path(job.task["folder"]).iterdir())
    state.close()

    state = without_workers(results=size + 1000)
    session = state.sessions.new()
    old, other = (finished_job(state, session) for _ in range(2))
    assert set(session.jobs) == {old.id, other.id}
    folder = Path(old.task["folder"])
    write_csv(Opened(folder), folder / "cells.csv")
    state.sessions.files_have_grown(old)
    assert (folder / "cells.csv").stat().st_size > 2000
    # What was just asked for stays.
    assert set(session.jobs) == {old.id} and not Path(other.task["folder"]).exists()
    state.close()
