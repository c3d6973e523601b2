"""A run that was stopped and goes on gives what an unbroken run gives."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.forged_atlases import keeping_cells
from polyfold.engine.method import GENERATORS, PROGRAMS
from polyfold.testing.cases import Case
from polyfold.testing.strategies import cases

Layers = list[tuple[np.ndarray, np.ndarray]]


def network(widths: tuple[int, ...], seed: int = 0) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def assert_unbroken(resumed: pf.Atlas, whole: pf.Atlas) -> None:
    assert resumed.certificate.level == whole.certificate.level
    assert resumed.certificate.method == whole.certificate.method
    for name in ("patterns", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize(
    ("widths", "domain", "method"),
    [
        ((1, 20, 20, 1), None, GENERATORS),
        ((2, 12, 12, 1), None, GENERATORS),
        ((3, 10, 10, 1), pf.box(-2, 2), GENERATORS),
        ((3, 6, 6, 6, 1), None, GENERATORS),
        ((7, 6, 6, 6, 1), pf.box(-1, 1), PROGRAMS),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_step_by_step(widths: tuple[int, ...], domain: pf.Domain | None, method: str, threads: int) -> None:
    layers = network(widths)
    whole = pf.unfold(layers, domain)
    assert whole.certificate.method == method
    step = max(1, len(whole) // 4)
    atlas = pf.unfold(layers, domain, max_cells=step, threads=threads)
    while not atlas.complete:
        before = len(atlas)
        atlas = pf.resume(atlas, max_cells=step, threads=threads)
        assert atlas.complete or len(atlas) == before + step
    assert_unbroken(atlas, whole)


@settings(deadline=None, max_examples=60)
@given(case=cases(max_size=6), share=st.floats(0, 1))
def test_any_network(case: Case, share: float) -> None:
    whole = pf.unfold(case.program, case.domain)
    stopped = pf.unfold(case.program, case.domain, max_cells=max(1, int(share * len(whole))))
    assert_unbroken(pf.resume(stopped), whole)


@settings(deadline=None, max_examples=60)
@given(case=cases(max_size=6, degenerate=True), data=st.data())
def test_any_cells_may_be_missing(case: Case, data: st.DataObject) -> None:
    """Threads stop all over the tree: here every cell is lost or not, as it comes."""
    whole = pf.unfold(case.program, case.domain)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))), dtype=bool)
    assert_unbroken(pf.resume(only(whole, kept)), whole)


def only(atlas: pf.Atlas, kept: np.ndarray) -> pf.Atlas:
    """The atlas that a run would have given if it had found only these cells."""
    stopped = dataclasses.replace(atlas.certificate, complete=False, level="counted", checks=())
    return dataclasses.replace(keeping_cells(atlas, kept), certificate=stopped)


def test_a_stopped_run_that_was_saved(tmp_path: Path) -> None:
    layers = network((3, 12, 12, 1))
    pf.unfold(layers, max_cells=100).save(tmp_path / "atlas.parquet")
    stopped = pf.open(tmp_path / "atlas.parquet")
    assert not stopped.complete
    resumed = pf.resume(stopped)
    assert_unbroken(resumed, pf.unfold(layers))
    assert pf.certify(resumed).level == "certified"


def test_time_limits_and_progress() -> None:
    layers = network((4, 48, 48, 1))
    atlas, seen = pf.unfold(layers, max_seconds=0.05), list[int]()
    assert not atlas.complete
    found = len(atlas)
    atlas = pf.resume(atlas, max_seconds=0.2, progress=lambda event: seen.append(event.done))
    assert not atlas.complete
    assert atlas.certificate.stopped_by == "max_seconds"
    assert len(atlas) > found
    assert max(seen) > found  # progress counts the cells that were there


def test_nothing_is_left_to_do() -> None:
    whole = pf.unfold(network((2, 5, 1)))
    assert pf.resume(whole) is whole


def test_what_cannot_be_resumed() -> None:
    layers = network((3, 12, 12, 1))
    explored = pf.explore(layers, np.zeros(3), max_cells=5)
    with pytest.raises(pf.PolyfoldError, match="cannot be resumed"):
        pf.resume(explored)
    with pytest.raises(pf.PolyfoldError, match="list is no atlas"):
        pf.resume(layers)  # type: ignore[arg-type]
