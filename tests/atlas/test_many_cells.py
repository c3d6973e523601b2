"""What is asked of many cells at once goes through the core, on threads: the answers are those of the slow ways."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import by_hand, unfolded
from helpers.slow_params import quick_then_slow
from polyfold._base.clock import Clock, OutOfTimeError
from polyfold.atlas import regions
from polyfold.atlas.geometry import chebyshev, generators, locate
from polyfold.atlas.patterns import pattern_texts
from polyfold.testing import wide_case


@pytest.fixture(scope="module")
def wide() -> pf.Atlas:
    """More cells than the core walks to together."""
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in ((3, 40), (40, 32), (32, 2))]
    atlas = pf.unfold(layers, pf.box(-1, 1), threads=2)
    assert len(atlas) > 3 << 12
    return atlas


def wide_atlas(seed):
    case = wide_case(seed)
    return pf.unfold(case.program, case.domain, threads=1)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_regions_are_those_that_are_found_without_the_core(batch, monkeypatch):
    settled = 0
    for seed in range(batch, 120, 4):
        for atlas in (unfolded(seed)[1], wide_atlas(seed)):
            said = regions._by_core(atlas, 1)
            one, two = regions.merged(atlas, 1), regions.merged(atlas, 2)
            with monkeypatch.context() as patch:
                patch.setattr(regions, "_by_core", lambda atlas, threads: None)
                slowly = regions.merged(atlas)
            assert np.array_equal(one.label, slowly.label), seed
            assert np.array_equal(two.label, slowly.label), seed
            settled += 0 if said is None else int((said > 0).sum())
    assert settled > 1000


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_points_are_in_the_cells_that_are_found_without_the_core(batch, monkeypatch):
    rng = np.random.default_rng(batch)
    monkeypatch.setattr(locate, "_MANY", 1)
    asked = 0
    for seed in range(batch, 100, 4):
        atlas = unfolded(seed)[1] if seed % 3 else wide_atlas(seed)
        # Inside, on corners where many cells meet, somewhere, and outside.
        corners = np.concatenate([np.zeros((0, atlas.dim)), *atlas.vertices()])
        points = [atlas.witnesses, corners, np.round(atlas.witnesses, 1), atlas.witnesses + rng.normal(size=atlas.dim)]
        U = np.concatenate(points)
        U = U[np.isfinite(U).all(axis=1) & (np.abs(U) < 1e100).all(axis=1)]
        U = U[rng.permutation(len(U))[:120]]
        found = locate._by_core(atlas, U)
        assert np.array_equal(
            atlas.locate(U, outside="ignore"), locate._looked_up(atlas, U, np.arange(len(U)), "ignore")
        )
        asked += int((found >= 0).sum())
    assert asked > 100


def test_points_outside_are_named_by_their_rows(wide):
    U = np.tile(wide.witnesses[:1], (5000, 1))
    U[4321] = 7.0
    with pytest.raises(pf.errors.DomainError, match=r"point 4321, \[7\.0, 7\.0, 7\.0\]"):
        wide.locate(U)
    found = wide.locate(U, outside="ignore")
    assert found[4321] == -1
    assert (np.delete(found, 4321) == 0).all()


def test_measures_and_generators_do_not_depend_on_threads(wide):
    one, two = (generators.find_measures(wide.program, wide.domain, wide.patterns, k) for k in (1, 2))
    for name in ("volumes", "centroids", "facets"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert one.volumes.sum() == pytest.approx(8, rel=1e-12)
    assert np.array_equal(one.facets, np.diff(wide.facet_start))
    one, two = (generators.find_generators(wide.program, wide.domain, wide.patterns, k) for k in (1, 2))
    for name in ("start", "points", "kind", "facet_start", "facet"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert [len(each) for each in one.each_vertices()] == np.diff(one.start).tolist()


def test_cells_in_any_order_are_those_cells(wide):
    some = np.random.default_rng(0).permutation(len(wide))[:5000]
    volumes, centroids = wide.measures(some)
    assert np.allclose(volumes, wide.volumes()[some], rtol=1e-9, atol=0)
    assert np.allclose(centroids, wide.centroids()[some], rtol=0, atol=1e-12)
    vertices = wide.vertices(some)
    assert all(len(mine) == len(whole) for mine, whole in zip(vertices, (wide.vertices(some[:50])), strict=False))


def test_measures_of_all_cells_are_found_once(wide, monkeypatch):
    wide.volumes()

    def never(*given):
        raise AssertionError("walked again")

    monkeypatch.setattr(generators.core, "measure", never)
    volumes = wide.volumes()
    volumes[0] = -1.0
    assert wide.volumes()[0] > 0
    assert wide.centroids([3, 1]).shape == (2, 3)


def test_vertices_of_cells_with_rays_leave_these_out():
    for atlas in by_hand():
        found = atlas.generators()
        assert [each.tolist() for each in atlas.vertices()] == [found.vertices(i).tolist() for i in range(len(found))]


def test_balls_do_not_depend_on_threads_and_fit(wide):
    rows = wide.halfspaces()
    one, two = (chebyshev.chebyshev_balls(rows.start, rows.A, rows.b, wide.witnesses, threads=k) for k in (1, 2))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])
    owner = np.repeat(np.arange(len(wide)), np.diff(rows.start))
    left = rows.b - np.einsum("rd,rd->r", rows.A, one[0][owner]) - one[1][owner] * np.linalg.norm(rows.A, axis=1)
    assert left.min() > -1e-9
    # As many walls as there are dimensions, and one more, touch each: else it could grow.
    touching = np.bincount(owner[np.abs(left) < 1e-9 * np.linalg.norm(rows.A, axis=1)], minlength=len(wide))
    assert (touching >= wide.dim + 1).mean() > 0.99


def test_balls_in_thin_cells_have_an_end():
    # Walls that are 1e-13 apart: the joint program of many cells called such balls endless.
    layers = [(np.array([[1.0, 0.0], [1.0, 1e-13]]), np.array([0.0, -1e-13])), (np.ones((1, 2)), np.zeros(1))]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    assert np.isfinite(atlas.chebyshev()[1]).all()


@pytest.mark.parametrize("ask", ["volumes", "vertices", "covariances"])
def test_time_that_is_over_is_heard(ask):
    # So many cells that nobody is done with them in the moment that is left to whoever has to hurry.
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in ((3, 64), (64, 56), (56, 2))]
    fresh = pf.unfold(layers, pf.box(-1, 1), threads=2)
    assert len(fresh) > 60_000
    with pytest.raises(OutOfTimeError), Clock(0.001):
        getattr(fresh, ask)()


def test_texts_of_patterns(wide):
    signs = wide.signs(range(20))
    assert pattern_texts(wide.patterns[:20], wide.gates) == ["".join("01"[on] for on in row) for row in signs.tolist()]
    assert pattern_texts(np.zeros((2, 0), dtype=np.uint8), 0) == ["", ""]


def test_saved_patterns_come_back(wide, tmp_path):
    wide.save(tmp_path / "wide.parquet")
    assert np.array_equal(pf.open(tmp_path / "wide.parquet").patterns, wide.patterns)
