"""Base point, generators and sectors of one truncation map, against its definition and the atlas of the layer."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import layers_of, points_in

SHAPES = [(2, 2), (3, 3), (2, 3), (1, 3), (3, 2), (4, 2), (5, 3), (4, 4)]


def layer(gates: int, dim: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return layers_of(np.random.default_rng([gates, dim, seed]), [dim, gates])[0]


@pytest.mark.parametrize(("gates", "dim"), SHAPES)
def test_tau_is_the_base_and_the_generators_that_are_on(gates: int, dim: int) -> None:
    W, b = layer(gates, dim)
    tau = pf.layers.truncation_map(W, b)
    X = points_in(np.random.default_rng(1), 50, dim)
    inverse = np.linalg.pinv(W)
    np.testing.assert_allclose(tau(X), (np.maximum(X @ W.T + b, 0) - b) @ inverse.T, rtol=0, atol=1e-12)
    a = tau.coordinates(X)
    by_generators = tau.base + np.where(a > 0, a, 0.0) @ tau.generators
    np.testing.assert_allclose(tau(X), by_generators, rtol=0, atol=1e-12)
    # p + sum of all a_i v_i is the projection on the row space: x itself where W is injective.
    np.testing.assert_allclose(tau.base + a @ tau.generators, X @ (inverse @ W).T, rtol=0, atol=1e-12)
    assert tau.rank == np.linalg.matrix_rank(W)
    if tau.surjective:
        np.testing.assert_allclose(W @ tau.generators.T, np.eye(gates), rtol=0, atol=1e-12)
        np.testing.assert_allclose(W @ tau.base + b, 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("gates", "dim"), SHAPES)
def test_sectors_are_the_cells_of_the_layer(gates: int, dim: int) -> None:
    W, b = layer(gates, dim)
    tau = pf.layers.truncation_map(W, b)
    found = tau.sectors()
    atlas = pf.unfold([(W, b), (np.ones((1, gates)), np.zeros(1))])
    assert sorted(map(tuple, found.patterns)) == sorted(map(tuple, atlas.signs()))
    if tau.surjective:
        assert len(found) == 2**gates
        assert len(found.of_kind("kept")) == len(found.of_kind("collapsed")) == 1
    else:
        assert len(found) < 2**gates
    assert sum(len(found.of_kind(kind)) for kind in ("kept", "collapsed", "mixed")) == len(found)
    maps = found.atlas.maps()
    rng = np.random.default_rng(2)
    for cell, sector in enumerate(found):
        np.testing.assert_allclose(sector.map[0], maps[0][cell], rtol=0, atol=1e-12)
        np.testing.assert_allclose(sector.map[1], maps[1][cell], rtol=0, atol=1e-12)
        witness = found.atlas.witnesses[cell]
        assert sector.contains(witness[None]).all() and found[cell].kind == sector.kind
        np.testing.assert_allclose(
            tau(witness[None])[0], sector.map[0] @ witness + sector.map[1], rtol=0, atol=1e-9 * np.abs(witness).max()
        )
        # The sector as a domain is one cell of the map, and all of it is this one.
        inside = pf.unfold(tau.network, sector.domain)
        assert len(inside) == 1 and inside.signs().tolist() == [sector.on.tolist()]
        # It is a cone: going on from the base does not leave it.
        if tau.base_on_all_walls:
            far = tau.base + rng.uniform(0, 50) * (witness - tau.base)
            a = tau.coordinates(far[None])[0]
            assert (np.where(sector.on, a, -a) >= -1e-9 * np.abs(a).max()).all()


@pytest.mark.parametrize(("gates", "dim"), [(2, 2), (3, 3), (2, 3), (1, 2)])
def test_what_sectors_collapse_to(gates: int, dim: int) -> None:
    """Of a surjective layer: a face of S+ with one dimension for each gate that is on, and all of it."""
    tau = pf.layers.truncation_map(*layer(gates, dim))
    assert tau.surjective and tau.base_on_all_walls
    rng = np.random.default_rng(3)
    for sector in tau.sectors():
        image = sector.collapses_to
        if sector.kind == "collapsed":
            assert np.array_equal(image, tau.base)
            continue
        atlas = pf.unfold(tau.network, image)
        assert atlas.dim == sector.on.sum()
        # A point of the image comes from the sector, and every point of the sector goes there.
        u = rng.uniform(0, 5, (20, atlas.dim))
        targets = tau.base + u @ sector.generators
        behind = targets - rng.uniform(0, 5, (20, gates - atlas.dim)) @ tau.generators[~sector.on]
        np.testing.assert_allclose(tau(behind), targets, rtol=0, atol=1e-9)
        a = tau.coordinates(tau(behind))
        np.testing.assert_allclose(a[:, sector.on], u, rtol=0, atol=1e-9)
        np.testing.assert_allclose(a[:, ~sector.on], 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("gates", "dim"), [(2, 2), (3, 3), (2, 3), (1, 3)])
def test_identity_on(gates: int, dim: int) -> None:
    tau = pf.layers.truncation_map(*layer(gates, dim))
    domain = tau.identity_on
    atlas = pf.unfold(tau.network, domain)
    assert atlas.dim == gates and len(atlas) == 1 and atlas.signs().all()
    points = atlas.lift(atlas.witnesses)
    np.testing.assert_allclose(tau(points), points, rtol=0, atol=1e-9 * (1 + np.abs(points).max()))
    X = points_in(np.random.default_rng(4), 200, dim)
    stays = np.abs(tau(X) - X).max(axis=1) < 1e-9
    on = tau.kept.contains(X)
    if tau.injective:
        assert np.array_equal(stays, on) and 0 < on.sum() < len(X)
    else:
        np.testing.assert_allclose(tau(X[on]), X[on] @ (tau.inverse @ tau.weight).T, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("gates", "dim"), [(2, 2), (3, 3), (2, 3), (4, 6), (10, 10)])
def test_truncation_separates_what_is_away_from_the_negative_sector(gates: int, dim: int) -> None:
    """One class in S-, the other away from it, on all sides: afterwards a hyperplane tells them apart.

    Behind tau the sum of all a_i is 0 on the first class, and at least the largest a_i on the second.
    """
    tau = pf.layers.truncation_map(*layer(gates, dim, seed=1))
    assert tau.surjective
    rng = np.random.default_rng([gates, dim])
    a = rng.normal(size=(400, gates))
    first, second = -np.abs(a[:200]), a[200:][a[200:].max(axis=1) > 0.1]
    kernel = np.eye(dim) - tau.inverse @ tau.weight
    X, Y = (tau.base + part @ tau.generators + rng.normal(size=(len(part), dim)) @ kernel.T for part in (first, second))
    normal, offset = tau.weight.sum(axis=0), tau.bias.sum()
    sides = [tau(part) @ normal + offset for part in (X, Y)]
    assert sides[0].max() < 1e-9 and sides[1].min() > 0.1 - 1e-9
    # Before, this hyperplane told nothing, or the test would be empty.
    assert (Y @ normal + offset).min() < 0


def test_walls_that_do_not_meet() -> None:
    tau = pf.layers.truncation_map([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -1.0])
    assert not tau.base_on_all_walls and len(tau.sectors()) == 7
    assert pf.layers.truncation_map([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0]).base_on_all_walls
    # 0.1 + 0.2 is not 0.3: the three lines miss each other by less than floats show.
    assert not pf.layers.truncation_map([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.1, 0.2, 0.3]).base_on_all_walls


def test_sectors_of_deeper_layers_and_domains() -> None:
    from polyfold.datasets.blobs import blobs

    found = pf.layers.truncation(blobs())
    for tau in found.maps:
        assert len(tau.sectors()) == 4 and len(tau.sectors(pf.box(-3, 3))) <= 4
        assert tau.sectors(max_cells=2).atlas.complete is False


def test_errors() -> None:
    tau = pf.layers.truncation_map(np.eye(2), np.zeros(2))
    with pytest.raises(pf.PolyfoldError, match="as many of True and False"):
        tau.sector([1, 0])
    with pytest.raises(pf.PolyfoldError, match="rows of 2 numbers"):
        tau([1.0, 2.0, 3.0])
    assert tau([1.0, -2.0]).tolist() == [[1.0, 0.0]]
    with pytest.raises(pf.PolyfoldError, match="not 'lost'"):
        tau.sectors().of_kind("lost")
    with pytest.raises(pf.PolyfoldError, match=r"\(2, 3\) and \(3,\)"):
        pf.layers.truncation_map(np.ones((2, 3)), np.zeros(3))
    with pytest.raises(pf.PolyfoldError, match="infinity or NaN"):
        pf.layers.truncation_map([[np.inf]], [0.0])
    zero = pf.layers.truncation_map(np.zeros((2, 2)), np.ones(2))
    assert zero.rank == 0 and zero([[3.0, 4.0]]).tolist() == [[0.0, 0.0]]
    with pytest.raises(pf.PolyfoldError, match="all zero"):
        _ = zero.identity_on
