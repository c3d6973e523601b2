"""Vertices, volumes, centroids, boxes, balls and halfspaces of cells against Qhull, HiGHS and sampling."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import (
    by_hand,
    extent,
    gaps,
    largest_ball,
    normalised,
    points_inside,
    qhull_vertices,
    rows_of,
    unfolded,
    volume_and_centroid,
)
from helpers.slow_params import quick_then_slow
from polyfold.atlas.geometry.generators import LINE, RAY, VERTEX
from polyfold.testing import generated_case

SEEDS = range(100)
# Walls that are 1e-12 apart are beyond Qhull and HiGHS; for those the reference engine is the judge.
JUDGED = [seed for seed in SEEDS if "tilted" not in generated_case(seed).description]


def some_cells(atlas, rng, count=8):
    return rng.permutation(len(atlas))[:count]


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_generators_span_their_cells(batch):
    """Vertices satisfy all inequalities, rays and lines stay inside, and both lie on the facets that they name."""
    for seed in SEEDS[batch::4]:
        case, atlas = unfolded(seed)
        found = atlas.generators()
        walls = atlas.halfspaces()
        scale = max(1.0, float(np.abs(found.points).max()))
        for cell in range(len(atlas)):
            A, b = rows_of(atlas, cell)
            rows = slice(found.start[cell], found.start[cell + 1])
            points, kinds = found.points[rows], found.kind[rows]
            vertices, rays, lines = (points[kinds == kind] for kind in (VERTEX, RAY, LINE))
            assert len(vertices), case
            assert bool(atlas.bounded[cell]) == (len(rays) + len(lines) == 0), case
            assert (vertices @ A.T <= b + 1e-7 * scale).all(), case
            assert (rays @ A.T <= 1e-7 * np.linalg.norm(rays, axis=1, keepdims=True)).all(), case
            assert (np.abs(lines @ A.T) <= 1e-7 * np.linalg.norm(lines, axis=1, keepdims=True)).all(), case
            own_A, own_b = normalised(*walls[cell])
            assert len(own_A) == len(atlas.facets(cell)), case
            for g in range(rows.start, rows.stop):
                point = found.points[g]
                on = own_A @ point - (own_b if found.kind[g] == VERTEX else 0.0)
                size = scale if found.kind[g] == VERTEX else np.linalg.norm(point)
                named = found.facet[found.facet_start[g] : found.facet_start[g + 1]]
                assert len(set(named.tolist())) == len(named), case
                assert (np.abs(on[named]) <= 1e-7 * size).all(), case
        by_cell = atlas.vertices([len(atlas) - 1, 0])
        assert np.array_equal(by_cell[1], found.vertices(0))
        assert np.array_equal(by_cell[0], found.vertices(len(atlas) - 1))


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_vertices_volumes_and_centroids_against_qhull(batch):
    compared = 0
    for seed in JUDGED[batch::4]:
        case, atlas = unfolded(seed)
        volumes, centroids = atlas.volumes(), atlas.centroids()
        assert np.array_equal(np.isfinite(volumes), atlas.bounded), case
        assert np.array_equal(np.isfinite(centroids).all(axis=1), atlas.bounded), case
        cells = np.flatnonzero(atlas.bounded)[:12]
        for cell, vertices in zip(cells, atlas.vertices(cells), strict=True):
            A, b = rows_of(atlas, cell)
            size = float(np.ptp(vertices, axis=0).max())
            # Qhull works in floats: it is no judge of slivers.
            if largest_ball(A, b) < 1e-4 * size:
                continue
            expected = qhull_vertices(A, b, atlas.witnesses[cell])
            assert gaps(vertices, expected) <= 1e-6 * size, case
            volume, centroid = volume_and_centroid(vertices)
            assert volumes[cell] == pytest.approx(volume, rel=1e-7), case
            assert centroids[cell] == pytest.approx(centroid, abs=1e-7 * size + 1e-12), case
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_bounding_boxes_and_balls_against_linear_programs(batch):
    rng = np.random.default_rng(batch)
    bounded = unbounded = 0
    for seed in JUDGED[batch::4]:
        case, atlas = unfolded(seed)
        cells = some_cells(atlas, rng, 3)
        lo, hi = atlas.bounding_boxes(cells)
        centres, radii = atlas.chebyshev(cells)
        for i, cell in enumerate(cells):
            A, b = rows_of(atlas, cell)
            axis = np.eye(atlas.dim)[rng.integers(atlas.dim)]
            k = int(np.argmax(axis))
            size = max(1.0, float(np.abs(atlas.witnesses[cell]).max()))
            assert hi[i, k] == pytest.approx(extent(A, b, axis), rel=1e-5, abs=1e-5 * size), case
            assert lo[i, k] == pytest.approx(-extent(A, b, -axis), rel=1e-5, abs=1e-5 * size), case
            assert np.isfinite([lo[i], hi[i]]).all() == atlas.bounded[cell], case
            radius = largest_ball(A, b)
            assert radii[i] == pytest.approx(radius, rel=1e-5, abs=1e-6), case
            if np.isfinite(radii[i]):
                assert (A @ centres[i] + radii[i] <= b + 1e-6 * size).all(), case
                bounded += 1
            else:
                assert np.isnan(centres[i]).all(), case
                assert not atlas.bounded[cell], case
                unbounded += 1
    assert bounded > 10
    assert unbounded > 5


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_minimal_halfspaces_are_the_same_set_and_none_can_be_left_out(batch):
    rng = np.random.default_rng(batch)
    dropped = 0
    for seed in JUDGED[batch::4]:
        case, atlas = unfolded(seed)
        cells = some_cells(atlas, rng, 4)
        minimal, everything = atlas.halfspaces(cells), atlas.halfspaces(cells, minimal=False)
        assert len(minimal) == len(everything) == len(cells)
        assert (np.diff(everything.start) == atlas.gates + atlas.domain.rows).all()
        for i, cell in enumerate(cells):
            facets = atlas.facets(cell)
            assert (
                minimal.wall[minimal.start[i] : minimal.start[i + 1]].tolist()
                == atlas.facet_wall[facets.start : facets.stop].tolist()
            )
            A, b = normalised(*minimal[i])
            full_A, full_b = normalised(*everything[i])
            oracle_A, oracle_b = rows_of(atlas, cell)
            witness = atlas.witnesses[cell]
            thin = len(A) and float((b - A @ witness).min()) < 1e-5
            spread = max(1.0, float(np.abs(witness).max()))
            near = witness + rng.normal(size=(300, atlas.dim)) * 10.0 ** rng.uniform(-2, 1, size=(300, 1))
            margins = (oracle_b - near @ oracle_A.T).min(axis=1, initial=np.inf)
            for C, d in ((A, b), (full_A, full_b)):
                mine = (d - near @ C.T).min(axis=1, initial=np.inf)
                clear = np.abs(margins) > 1e-6 * spread
                assert np.array_equal(mine[clear] > 0, margins[clear] > 0), case
            if thin:
                continue
            for r in range(len(A)):
                others = np.arange(len(A)) != r
                # One more row far out keeps the program bounded.
                beyond = extent(np.vstack([A[others], A[r]]), np.append(b[others], b[r] + 1.0), A[r])
                assert beyond > b[r] + 1e-9, (case, cell, r)
                dropped += 1
    assert dropped > 50


def test_cells_of_special_shapes():
    """No gates, intervals, rays, strips and half planes; every accessor agrees with linear programs."""
    rng = np.random.default_rng(0)
    for atlas in by_hand():
        lo, hi = atlas.bounding_boxes()
        volumes, centroids = atlas.volumes(), atlas.centroids()
        centres, radii = atlas.chebyshev()
        for cell in range(len(atlas)):
            A, b = rows_of(atlas, cell)
            for k, axis in enumerate(np.eye(atlas.dim)):
                assert hi[cell, k] == pytest.approx(extent(A, b, axis), abs=1e-7)
                assert lo[cell, k] == pytest.approx(-extent(A, b, -axis), abs=1e-7)
            assert radii[cell] == pytest.approx(largest_ball(A, b), abs=1e-7)
            if np.isfinite(radii[cell]):
                assert (A @ centres[cell] + radii[cell] <= b + 1e-7).all()
            if atlas.bounded[cell]:
                expected = qhull_vertices(A, b, atlas.witnesses[cell])
                volume, centroid = volume_and_centroid(expected)
                assert volumes[cell] == pytest.approx(volume)
                assert centroids[cell] == pytest.approx(centroid)
            inside = points_inside(atlas, cell, 5, rng)
            assert (inside >= lo[cell]).all() and (inside <= hi[cell]).all()


def test_a_strip_has_a_ball_but_no_volume():
    strip = pf.unfold([(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.0, -2.0])), (np.ones((1, 2)), np.zeros(1))])
    middle = int(strip.locate([[0.5, 0.5]])[0])
    assert strip.volumes([middle])[0] == np.inf
    assert np.isnan(strip.centroids([middle])).all()
    centre, radius = strip.chebyshev([middle])
    assert radius[0] == pytest.approx(np.sqrt(2) / 2)
    assert centre[0].sum() == pytest.approx(1.0)
    assert np.isinf(strip.bounding_boxes([middle])).all()


def test_balls_do_not_depend_on_the_scale_of_weights_or_inputs():
    """A triangle with legs s: its radius is s (1 - 1 / sqrt 2), for tiny weights and far or tiny triangles too."""
    for weight in (1e-9, 1.0, 1e6):
        for size, at in ((1e-6, 0.0), (1.0, 0.0), (1.0, 1e5), (1e6, 0.0)):
            layers = [(weight * np.array([[1.0, 1.0]]), [-weight * (2 * at + size)]), (np.ones((1, 1)), [0.0])]
            atlas = pf.unfold(layers, pf.box(at, at + size))
            centres, radii = atlas.chebyshev()
            assert radii == pytest.approx(np.full(2, size * (1 - np.sqrt(0.5))), rel=1e-6)
            assert (np.abs(centres - at - size / 2) <= size / 2).all()


def test_volumes_add_up_to_the_domain():
    rng = np.random.default_rng(3)
    layers = [(rng.normal(size=(8, 3)), rng.normal(size=8)), (rng.normal(size=(5, 8)), rng.normal(size=5))]
    atlas = pf.unfold([*layers, (np.ones((1, 5)), [0.0])], pf.box(-1, 2))
    assert atlas.volumes().sum() == pytest.approx(27.0, rel=1e-9)
    assert (atlas.volumes()[:, None] * atlas.centroids()).sum(axis=0) == pytest.approx(np.full(3, 13.5), rel=1e-9)


@pytest.mark.parametrize("name", ["maps", "volumes", "centroids", "bounding_boxes", "chebyshev", "signs"])
def test_ids_may_repeat_be_a_mask_or_be_missing(name):
    _, atlas = unfolded(4)
    ask = getattr(atlas, name)
    as_list = lambda found: list(found) if isinstance(found, tuple) else [found]  # noqa: E731
    whole = as_list(ask())
    ids = np.array([1, 0, len(atlas) - 1, 1, 1])
    mask = np.zeros(len(atlas), dtype=bool)
    mask[[0, 2]] = True
    for part, full in zip(as_list(ask(ids)), whole, strict=True):
        assert np.allclose(part, full[ids], rtol=1e-9, atol=1e-9, equal_nan=True)
    for part, full in zip(as_list(ask(mask)), whole, strict=True):
        assert np.allclose(part, full[mask], rtol=1e-9, atol=1e-9, equal_nan=True)
    for part, full in zip(as_list(ask([])), whole, strict=True):
        assert part.shape == (0, *full.shape[1:])


def test_ids_of_ragged_results():
    _, atlas = unfolded(4)
    ids = [1, 0, 1]
    whole, rows, listed = atlas.generators(), atlas.halfspaces(), atlas.vertices(ids)
    found, some = atlas.generators(ids), atlas.halfspaces(ids)
    assert len(found) == len(some) == len(listed) == 3
    for i, cell in enumerate(ids):
        assert np.array_equal(found.vertices(i), whole.vertices(cell))
        assert np.array_equal(listed[i], whole.vertices(cell))
        assert all(np.array_equal(a, b) for a, b in zip(some[i], rows[cell], strict=True))
        mine, theirs = (
            [
                block.facet[block.facet_start[g] : block.facet_start[g + 1]].tolist()
                for g in range(block.start[item], block.start[item + 1])
            ]
            for block, item in ((found, i), (whole, cell))
        )
        assert mine == theirs
    for nothing in ([], np.zeros(len(atlas), dtype=bool)):
        assert atlas.vertices(nothing) == []
        assert len(atlas.generators(nothing)) == len(atlas.halfspaces(nothing)) == 0
        assert len(atlas.to_pandas(nothing)) == 0


def test_generators_name_the_facets_of_the_atlas_in_high_dimension():
    """Boxes of seven dimensions are unfolded by another method; generators must still lie on the facets they name."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(6, 7)), rng.normal(size=6)), (rng.normal(size=(1, 6)), [0.0])]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    found, walls = atlas.generators(), atlas.halfspaces()
    for cell in range(len(atlas)):
        A, b = normalised(*walls[cell])
        for g in range(found.start[cell], found.start[cell + 1]):
            named = found.facet[found.facet_start[g] : found.facet_start[g + 1]]
            assert np.abs(A[named] @ found.points[g] - b[named]).max() <= 1e-9
    assert pf.check(atlas).level == "checked"
