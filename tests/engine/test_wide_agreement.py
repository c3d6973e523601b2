"""Every path of the compiled engine against the reference engine on 2,000 generated networks of every kind."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.agreement import assert_same
from polyfold._core import FoundCells, OpenDomain
from polyfold._core import count as core_count
from polyfold._core import find_cells as find_cells_by
from polyfold.atlas import core_problem as problem
from polyfold.atlas.core_problem import core_problem
from polyfold.domain.domain import Domain
from polyfold.engine.method import GENERATORS, PROGRAMS, VERTICES
from polyfold.engine.run import Leave
from polyfold.errors import LimitError
from polyfold.program.program import Program
from polyfold.testing import Case, wide_case
from polyfold.testing.reference import ReferenceAtlas, reference_unfold

CASES, BATCH = 2000, 20
MOST_CELLS = 300
# Thirteen of the eighty smaller ones take two thirds of the time.
SECONDS_EACH = (4, 5, 6, 11, 12, 15, 17, 20, 38, 43, 52, 64, 74)
ARRAYS = ("patterns", "witnesses", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_every_path_of_the_engine(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        assert_every_path_agrees(wide_case(seed), monkeypatch)


@pytest.mark.parametrize("batch", range(4))
def test_every_path_of_the_engine_on_the_smaller_ones(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        if seed not in SECONDS_EACH:
            assert_every_path_agrees(wide_case(seed, size=4), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SECONDS_EACH)
def test_every_path_of_the_engine_on_the_larger_of_the_smaller_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_every_path_agrees(wide_case(seed, size=4), monkeypatch)


def assert_every_path_agrees(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = reference_unfold(case.program, case.domain)
    assert len(reference) <= MOST_CELLS, case
    walks = {GENERATORS: walk(case, monkeypatch, by_programs=False)}
    if all(reference.bounded):
        walks[PROGRAMS] = walk(case, monkeypatch, by_programs=True)
    else:
        with pytest.raises(OpenDomain):
            walk(case, monkeypatch, by_programs=True)
    for atlas in walks.values():
        assert_same(atlas, reference)
    public = pf.unfold(case.program, case.domain, threads=3)
    assert_equal(public, walks[public.certificate.method], case)
    assert_right_conclusions(public, case)
    assert_same_in_pieces(public, case)
    if public.dim <= 2:
        assert_same_by_vertices(public, reference, case, monkeypatch)


def walk(case: Case, monkeypatch: pytest.MonkeyPatch, *, by_programs: bool) -> pf.Atlas:
    """The atlas by one of the core's walks, whichever the engine would choose; the same with two threads."""

    def find_cells(
        program: Program, domain: Domain, threads: int, max_cells: int, leave: Leave, **options: Any
    ) -> tuple[FoundCells, str]:
        found = find_cells_by(core_problem(program, domain), by_programs, threads, max_cells, leave.keep_going)
        return found, PROGRAMS if by_programs else GENERATORS

    with monkeypatch.context() as patch:
        patch.setattr("polyfold.engine.unfold.find_cells", find_cells)
        alone, together = (pf.unfold(case.program, case.domain, threads=threads) for threads in (1, 2))
    assert_equal(together, alone, case)
    assert alone.complete and alone.certificate.level == "checked", case
    return alone


def assert_equal(one: pf.Atlas, two: pf.Atlas, case: Case) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(two, name)), (name, case)
    assert one.exact_witnesses == two.exact_witnesses, case


def assert_right_conclusions(atlas: pf.Atlas, case: Case) -> None:
    """What else is said of an atlas that is known to be right."""
    assert pf.certify(atlas).level == "certified", case
    counted = pf.count(case.program, case.domain)
    assert counted.complete and counted.cells == len(atlas), case
    assert not counted.certificate.failed_checks, (case, counted)
    for by_programs in (False, True):
        with suppress(OpenDomain):  # linear programs need a bounded domain
            given = core_problem(case.program, atlas.domain)
            assert core_count(given, by_programs, 2, lambda cells: True) == (len(atlas), True), case
    assert_faces_add_up(atlas, case)


def assert_same_in_pieces(atlas: pf.Atlas, case: Case) -> None:
    """Stopped and resumed, block by block, and from neighbour to neighbour."""
    part = pf.unfold(case.program, case.domain, max_cells=max(1, len(atlas) // 2))
    assert_equal(pf.resume(part), atlas, case)
    *_, last = pf.unfold_in_blocks(case.program, case.domain, first=max(1, len(atlas) // 3))
    assert_equal(last.atlas, atlas, case)
    around = pf.explore(case.program, atlas.witnesses[0], domain=case.domain)
    assert around.complete and len(around) == len(atlas), case
    assert {row.tobytes() for row in around.patterns} == {row.tobytes() for row in atlas.patterns}, case


def assert_same_by_vertices(
    atlas: pf.Atlas, reference: ReferenceAtlas, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As lines and planes through large programs are unfolded and counted, whose every sign is proved as well."""
    with monkeypatch.context() as patch:
        patch.setattr(problem, "_MOST_NUMBERS", -1)
        if not atlas.bounded.all():
            with pytest.raises(LimitError, match="unbounded"):
                pf.count(case.program, case.domain)
            return
        by_vertices = pf.unfold(case.program, case.domain)
        assert by_vertices.certificate.method == VERTICES
        assert by_vertices.certificate.level == "checked", (case, by_vertices.certificate)
        assert_same(by_vertices, reference)
        *_, last = pf.unfold_in_blocks(case.program, case.domain, first=max(1, len(atlas) // 3))
        assert_equal(last.atlas, by_vertices, case)
        counted = pf.count(case.program, case.domain)
        assert (counted.cells, counted.certificate.level) == (len(atlas), "checked"), (case, counted)
        assert counted.method == VERTICES


def assert_faces_add_up(atlas: pf.Atlas, case: Case) -> None:
    """Cells and facets are known otherwise, and the alternating sum is known on bounded domains and on all of R^d."""
    counts = atlas.f_vector()
    assert counts[-2:] == (atlas.inner_facets + atlas.boundary_facets, len(atlas)), case
    if atlas.bounded.all():
        assert atlas.euler_characteristic() == 1, case
    elif not atlas.domain.rows:
        assert atlas.euler_characteristic() == (-1) ** atlas.dim, case
