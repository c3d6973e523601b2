"""Scopes "cell" and "region": the closed formula, sampling, both ways to find cells, and hybrids counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import polyfold as pf
from helpers.shapley_oracles import by_definition, layers_of
from polyfold.errors import DomainError, PolyfoldError, ShapeError
from polyfold.testing import Case, wide_case
from polyfold.testing.strategies import cases

PROMISED = 1e-9
CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


@pytest.fixture(scope="module")
def network() -> pf.Network:
    return pf.load(layers_of(np.random.default_rng(0), 3, 6, 4, 2))


@pytest.fixture(scope="module")
def atlas(network: pf.Network) -> pf.Atlas:
    return pf.unfold(network, pf.box(-2, 2))


@pytest.fixture(scope="module")
def points() -> Any:
    return np.random.default_rng(1).uniform(-2, 2, size=(40, 3))


@pytest.fixture(scope="module")
def samples() -> Any:
    return np.random.default_rng(2).uniform(-2, 2, size=(200_000, 3))


def test_uniform_is_the_closed_formula(atlas: pf.Atlas, points: Any, network: pf.Network) -> None:
    found = pf.explain.shapley(atlas, points, background="uniform", scope="cell")
    maps = pf.local(network, points)
    centres = atlas.centroids(atlas.locate(points))
    assert np.abs(found.values - (maps.A * (points - centres)[:, None, :]).transpose(0, 2, 1)).max() < PROMISED
    # A cell is convex: its centroid lies in it, and the local model there is the network.
    assert np.abs(found.base_values - network(centres)).max() < PROMISED
    assert np.array_equal(found.cells, atlas.locate(points)) and found.exact
    assert found.local is not None and not found.local.continued.any() and not found.local.on_wall.any()


@pytest.mark.parametrize("scope", ["cell", "region"])
def test_uniform_against_sampling(atlas: pf.Atlas, points: Any, network: pf.Network, samples: Any, scope: Any) -> None:
    """The mean of f(x) - f(sample) over uniform samples of the cell, feature by feature, within its own error."""
    found = pf.explain.shapley(atlas, points, background="uniform", scope=scope)
    label = pf.regions(atlas).label if scope == "region" else np.arange(len(atlas))
    of_point, of_sample = label[atlas.locate(points)], label[atlas.locate(samples)]
    looked_at = 0
    for i in range(len(points)):
        inside = samples[of_sample == of_point[i]]
        if len(inside) < 500:
            continue
        A = pf.local(network, points[i : i + 1]).A[0]
        gains = (points[i] - inside)[:, :, None] * A.T
        error = 5 * gains.std(axis=0) / np.sqrt(len(inside))
        assert (np.abs(gains.mean(axis=0) - found.values[i]) <= error + PROMISED).all()
        base = network(inside)
        assert (np.abs(base.mean(axis=0) - found.base_values[i]) <= 5 * base.std(axis=0) / np.sqrt(len(inside))).all()
        looked_at += 1
    assert looked_at > 20


def affine(network: pf.Network, x: Any) -> Callable[[list[Any]], list[Any]]:
    """The local model around a point."""
    maps = pf.local(network, x[None])
    return lambda h: list(maps.A[0] @ h + maps.c[0])


def test_the_formula_is_the_shapley_value_of_the_local_model(atlas: pf.Atlas, points: Any, network: pf.Network) -> None:
    """By definition, with features outside a coalition averaged over the background points of the cell."""
    background = np.random.default_rng(3).uniform(-2, 2, size=(3000, 3))
    found = pf.explain.shapley(atlas, points[:5], background=background, scope="cell")
    where = atlas.locate(background)
    for i in range(5):
        inside = background[where == found.cells[i]]
        model = affine(network, points[i])
        values = np.mean([by_definition(model, points[i], b) for b in inside], axis=0)
        assert np.abs(values.astype(float) - found.values[i]).max() < PROMISED
        assert found.local is not None and found.local.points[i] == len(inside)
        assert np.abs(network(inside).mean(axis=0) - found.base_values[i]).max() < PROMISED


def test_the_network_alone_gives_the_same(atlas: pf.Atlas, points: Any, network: pf.Network, samples: Any) -> None:
    background = samples[:5000]
    one, other = (pf.explain.shapley(each, points, background=background, scope="cell") for each in (atlas, network))
    assert np.abs(one.values - other.values).max() < PROMISED
    assert np.abs(one.base_values - other.base_values).max() < PROMISED
    # Without an atlas cells have numbers in order of appearance: the same ones where the atlas has the same ones.
    assert other.cells is not None and one.cells is not None and other.cells[0] == 0
    assert len(set(zip(one.cells, other.cells, strict=True))) == len(set(one.cells)) == len(set(other.cells))


def test_a_region_of_several_cells() -> None:
    useless = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))]
    atlas = pf.unfold(useless, pf.box([-1, -1], [2, 3]))
    found = pf.explain.shapley(atlas, [[1.0, 2.0], [0.5, -0.5]], background="uniform", scope="region")
    assert found.local is not None and found.local.regions is not None
    assert found.local.regions[0] == found.local.regions[1] and found.cells[0] != found.cells[1]
    assert np.allclose(found.local.means, [[1.0, 1.0]] * 2, rtol=0, atol=1e-12)
    by_cell = pf.explain.shapley(atlas, [[1.0, 2.0]], background="uniform", scope="cell")
    assert by_cell.local is not None and np.allclose(by_cell.local.means, [[1.0, 1.5]], rtol=0, atol=1e-12)
    points = [[0.5, 1.0], [1.5, -1.0], [-0.5, 0.0]]
    of_points = pf.explain.shapley(atlas, [[1.0, 2.0]], background=points, scope="region")
    assert of_points.local is not None and of_points.local.means[0].tolist() == [1.0, 0.0]


def test_where_no_background_point_is(network: pf.Network, atlas: pf.Atlas, points: Any) -> None:
    background = points[:1] + 1e-9
    alone = np.flatnonzero(atlas.locate(points) != atlas.locate(background)[0])
    with pytest.raises(PolyfoldError, match=rf"cell of input {alone[0]}, nor of {len(alone) - 1} other.*empty='all'"):
        pf.explain.shapley(network, points, background=background, scope="cell")
    everywhere = pf.explain.shapley(network, points, background=background, empty="all", scope="cell")
    assert everywhere.local is not None and np.array_equal(np.flatnonzero(everywhere.local.continued), alone)
    assert np.array_equal(everywhere.local.means, np.tile(background, (len(points), 1)))
    assert f"{len(alone)} inputs" in everywhere.background
    uniform = pf.explain.shapley(atlas, points, background=background, empty="uniform", scope="cell")
    expected = pf.explain.shapley(atlas, points, background="uniform", scope="cell")
    assert np.array_equal(uniform.values[alone], expected.values[alone])
    assert uniform.local is not None and not uniform.local.continued.any()
    with pytest.raises(PolyfoldError, match="got 'nearest'"):
        pf.explain.shapley(network, points, background=background, empty="nearest", scope="cell")


def test_means_that_are_given(network: pf.Network, atlas: pf.Atlas, points: Any) -> None:
    A = pf.local(network, points).A
    one = pf.explain.shapley(network, points, means=points[0], scope="cell")
    assert np.abs(one.values - (A * (points - points[0])[:, None, :]).transpose(0, 2, 1)).max() < PROMISED
    assert one.local is not None and not one.local.continued[0]
    cells = atlas.locate(points)
    assert np.array_equal(one.local.continued, cells != cells[0])
    each = pf.explain.shapley(network, points, means=atlas.centroids(cells), scope="cell")
    uniform = pf.explain.shapley(atlas, points, background="uniform", scope="cell")
    assert np.abs(each.values - uniform.values).max() < PROMISED
    mapped = pf.explain.shapley(
        atlas, points, means={cell: atlas.centroids([cell])[0] for cell in set(cells.tolist())}, scope="cell"
    )
    assert np.abs(mapped.values - uniform.values).max() < PROMISED
    with pytest.raises(PolyfoldError, match="means has none for cell"):
        pf.explain.shapley(atlas, points, means={}, scope="cell")
    with pytest.raises(ShapeError, match=r"one row of 3 numbers.*\(2, 2\)"):
        pf.explain.shapley(atlas, points, means=np.zeros((2, 2)), scope="cell")
    with pytest.raises(ShapeError, match="mean for input 0 is not finite"):
        pf.explain.shapley(atlas, points, means=[0, 0, np.nan], scope="cell")


def test_on_a_wall_one_of_the_cells_is_taken() -> None:
    found = pf.explain.shapley(CORNER, [[0.0, 1.0], [2.0, 1.0], [0.0, 0.0]], means=[1.0, 1.0], scope="cell")
    assert found.local is not None and found.local.on_wall.tolist() == [True, False, True]
    # Gates that are zero are off: to the left of the wall the first feature does nothing.
    assert found.values[0, :, 0].tolist() == [-0.0, 0.0] and found.local.continued.tolist() == [True, False, True]
    atlas = pf.unfold(CORNER, pf.box(-2, 2))
    there = pf.explain.shapley(atlas, [[0.0, 1.0], [2.0, 1.0]], background="uniform", scope="cell")
    assert there.local is not None and there.local.on_wall.tolist() == [True, False]
    assert there.cells is not None and there.cells[0] == atlas.locate([[0.0, 1.0]])[0]


def test_a_gate_that_vanishes_all_around_is_no_wall() -> None:
    dead = [(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    found = pf.explain.shapley(dead, [[1.0, 0.0]], means=[0.5, 0.0], scope="cell")
    assert found.local is not None and not found.local.on_wall[0]


def test_hybrids_of_a_triangle() -> None:
    """Below x + y = 0 in a square: hybrids of two of its points that lie above, by hand."""
    layers = [(np.array([[1.0, 1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))]
    atlas = pf.unfold(layers, pf.box(-4, 4))
    X = np.array([[-3.0, 2.0], [-1.0, -1.0]])
    background = np.array([[2.0, -3.0], [-2.0, -2.0], [-3.0, 3.0], [1.0, 1.0]])
    found = pf.explain.shapley(atlas, X, background=background, scope="cell")
    assert found.local is not None and found.local.points.tolist() == [3, 3]
    hybrids = found.hybrids()
    # (-3, 2) with (2, -3): (-3, -3) stays and (2, 2) leaves; with (-2, -2): (-3, -2) stays and (-2, 2) lies on the
    # wall; with (-3, 3): the same point on the wall, and the point itself. (-1, -1): (2, -1) and (-1, 3) leave.
    assert hybrids.tried.tolist() == [6, 6] and hybrids.complete.all()
    assert hybrids.left.tolist() == [1, 2] and hybrids.unsure.tolist() == [2, 0]
    assert hybrids.leaving.tolist() == [True, True] and "3 of 12 hybrids" in repr(hybrids)
    drawn = pf.explain.shapley(layers, X, background=background, scope="cell").hybrids(at_most=5)
    assert drawn.tried.tolist() == [5, 5] and not drawn.complete.any()
    # With the mean where there are no points: of (-1, -1) and the triangle's centroid none leave.
    assert pf.explain.shapley(atlas, X[1:], background="uniform", scope="cell").hybrids().left.tolist() == [0]


def test_hybrids_agree_between_cells_and_regions(atlas: pf.Atlas, points: Any, samples: Any) -> None:
    background = samples[:2000]
    cells, regions = (pf.explain.shapley(atlas, points, background=background, scope=s) for s in ("cell", "region"))
    assert len(pf.regions(atlas)) == len(atlas)
    one, other = cells.hybrids(at_most=2000), regions.hybrids(at_most=2000)
    assert one.left.sum() > 0 and np.array_equal(one.left, other.left) and np.array_equal(one.tried, other.tried)


def test_on_a_slice_features_are_the_parameters(network: pf.Network) -> None:
    domain = pf.plane([0, 0, 0], [1, 0, 1], [0, 1, 1], pf.box(-1, 1))
    atlas = pf.unfold(network, domain)
    U = np.random.default_rng(0).uniform(-1, 1, size=(20, 2))
    found = pf.explain.shapley(atlas, U, background="uniform", scope="cell")
    assert found.values.shape == (20, 2, 2)
    assert np.abs(found.base_values - network(atlas.lift(atlas.centroids(found.cells)))).max() < PROMISED
    assert np.abs(found.base_values + found.values.sum(axis=1) - network(atlas.lift(U))).max() < PROMISED
    assert found.hybrids().tried.tolist() == [2] * 20


def unless_ill_conditioned(maps: Any, X: Any, *arguments: Any, **options: Any) -> pf.explain.LocalShapley | None:
    """Values; None if they are refused: they may be so only where terms of the local models cancel out all digits."""
    try:
        return pf.explain.shapley(*arguments, scope="cell", **options)
    except PolyfoldError as error:
        A, c = maps
        terms = np.abs(A) @ np.abs(X)[:, :, None]
        assert "float64 does not suffice" in str(error)
        assert (terms[:, :, 0] + np.abs(c)).max() * 2.0**-53 > 1e-5
        return None


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=5))
@example(wide_case(267, size=3))  # refused: all digits cancel
@example(wide_case(51, size=3))  # slopes of 1e13 in a cell that is 1e-13 wide
@example(wide_case(1195, size=3))  # slopes of 1e9
@example(wide_case(8247, size=1))  # a first layer that reads nothing
@example(wide_case(27, size=5))  # weights of mixed sizes, up to values of 1e14
def test_generated_networks_add_up(case: Case) -> None:
    atlas = pf.unfold(case.program, case.domain, max_cells=40)
    if not len(atlas):
        return
    # A witness that no float was proved for may be rounded into another cell.
    cells = np.array([k for k in np.flatnonzero(atlas.bounded).tolist() if k not in atlas.exact_witnesses], dtype=int)
    inside = atlas.witnesses[cells]
    outputs = case.program.evaluate(atlas.lift(inside))[0]
    found = unless_ill_conditioned(atlas.maps(cells, over="parameters"), inside, atlas, inside, background="uniform")
    if found is not None:
        gap = np.abs(found.base_values + found.values.sum(axis=1) - outputs).max(axis=1)
        # Weights of mixed sizes make values that are large and cancel.
        size = np.maximum(found.scale, np.abs(found.values).sum(axis=1).max(axis=1))
        assert (gap <= PROMISED * np.maximum(size, 1.0)).all()
    if not case.domain.is_slice:
        # Half of the witnesses against the others, in the network and at points that lie on walls.
        X = np.concatenate([atlas.witnesses[::2], np.rint(atlas.witnesses[:3])])
        A, c = pf.local(case.program, X).A, pf.local(case.program, X).c
        background = atlas.witnesses[1:] if len(atlas) > 1 else X
        found = unless_ill_conditioned((A, c), X, case.program, X, background=background, empty="all")
        if found is None:
            return
        assert found.local is not None
        means = found.local.means
        size = np.abs(A).max(initial=1.0) * max(1.0, float(np.abs(means).max()), float(np.abs(X).max()))
        expected = (A * (X - means)[:, None, :]).transpose(0, 2, 1)
        assert np.abs(found.values - expected).max() <= PROMISED * size
        base = np.einsum("nij,nj->ni", A, means) + c
        assert np.abs(found.base_values - base).max() <= PROMISED * max(size, float(np.abs(c).max()))


def test_bad_input(network: pf.Network, atlas: pf.Atlas) -> None:
    X = np.zeros((2, 3)) + 0.1
    with pytest.raises(DomainError, match=r"cell of input 0 .* is unbounded.*pf\.box"):
        pf.explain.shapley(pf.unfold(network), 1000 * X, background="uniform", scope="cell")
    with pytest.raises(DomainError, match="pass an atlas"):
        pf.explain.shapley(network, X, background="uniform", scope="cell")
    with pytest.raises(PolyfoldError, match="scope='region' needs an atlas"):
        pf.explain.shapley(network, X, background=X, scope="region")
    with pytest.raises(PolyfoldError, match=r"incomplete.*pf\.resume"):
        pf.explain.shapley(pf.unfold(network, pf.box(-2, 2), max_cells=3), X, background=X, scope="region")
    with pytest.raises(PolyfoldError, match="needs one of background='uniform'"):
        pf.explain.shapley(network, X, scope="cell")
    with pytest.raises(PolyfoldError, match="needs one of"):
        pf.explain.shapley(network, X, background=X, means=X, scope="cell")
    with pytest.raises(PolyfoldError, match="background must be 'uniform' or an array of points, got 'mean'"):
        pf.explain.shapley(network, X, background="mean", scope="cell")
    with pytest.raises(ShapeError, match=r"\[1, .\] is (nan|inf|-inf)"):
        pf.explain.shapley(network, [[0, 0, 0], [np.nan, 0, 0]], background=X, scope="cell")
    with pytest.raises(ShapeError, match=r"rows of 3 numbers.*\(2, 2\)"):
        pf.explain.shapley(network, X, background=np.zeros((2, 2)), scope="cell")
    with pytest.raises(ShapeError, match="no points"):
        pf.explain.shapley(network, X, background=np.zeros((0, 3)), scope="cell")
    with pytest.raises(DomainError, match=r"input 1, \[9.0, 0.0, 0.0\], lies outside the atlas's domain"):
        pf.explain.shapley(atlas, [[0.1, 0.1, 0.1], [9.0, 0, 0]], background="uniform", scope="cell")
    assert pf.explain.shapley(network, np.zeros((0, 3)), means=X[0], scope="cell").values.shape == (0, 3, 2)
