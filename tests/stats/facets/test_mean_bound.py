"""The mean number of facets beside 2d on all of R^d, and Euler characteristics of all the complexes seen."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import polyfold as pf
from helpers.facet_oracles import FacetPoints
from helpers.wavy import wavy

HIDDEN = {
    2: ([4], [12], [6, 6], [10, 5], [5, 10], [4, 4, 4], [6, 3, 6], [3, 3, 3, 3], [2, 8, 2, 5], [7, 6, 5]),
    3: ([4], [9], [5, 5], [8, 4], [4, 8], [4, 4, 4], [5, 3, 4], [3, 3, 3, 3], [3, 6, 2], [6, 5, 2]),
    4: ([4], [8], [5, 4], [6, 3], [3, 7], [4, 3, 3], [4, 4, 2], [3, 3, 3, 2], [4, 5], [7, 2]),
    5: ([4], [8], [5, 3], [6, 2], [3, 6], [4, 3, 2], [5, 2, 2], [3, 3, 2, 2], [4, 4], [7]),
    6: ([3], [7], [5, 2], [6, 2], [3, 5], [4, 3, 2], [4, 2, 2], [3, 2, 2, 2], [4, 4], [8]),
}


def kinds(dim: int, hidden: list[int], seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Normal or uniform weights by turns, wide and narrow biases."""
    rng = np.random.default_rng(seed)
    widths = [dim, *hidden, 1]
    scale = (0.1, 1.0, 3.0)[seed % 3]
    draw = rng.normal if seed % 2 else lambda size: rng.uniform(-1, 1, size)
    return [(draw(size=(b, a)), scale * draw(size=b)) for a, b in pairwise(widths)]


@pytest.mark.parametrize(("dim", "seed"), list(product(HIDDEN, range(2))))
def test_at_most_2d_facets_on_average(dim: int, seed: int) -> None:
    """100 networks in all. Equality does not occur: cells that reach infinity have fewer facets."""
    for number, hidden in enumerate(HIDDEN[dim]):
        atlas = pf.unfold(kinds(dim, hidden, 100 * seed + number))
        found = pf.stats.facets(atlas)
        assert not len(atlas.shared_facet)
        assert found.mean_bound.holds and found.mean_bound.mean < 2 * dim
        assert atlas.euler_characteristic() == (-1) ** dim


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "seed"), list(product(HIDDEN, range(2, 12))))
def test_the_same_of_500_more(dim: int, seed: int) -> None:
    test_at_most_2d_facets_on_average(dim, seed)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_one_box_has_exactly_2d(dim: int) -> None:
    atlas = pf.unfold([(np.ones((1, dim)), [9.0 * dim]), ([[1.0]], [0.0])], pf.box(-1, 1))
    found = pf.stats.facets(atlas).mean_bound
    assert found.mean == found.bound == 2 * dim and found.holds
    assert atlas.euler_characteristic() == 1


def test_walls_that_cut_a_box_like_a_grid_leave_exactly_2d() -> None:
    atlas = pf.unfold(
        [(np.repeat(np.eye(3), 2, axis=0), np.tile([0.3, -0.4], 3)), (np.ones((1, 6)), [0.0])], pf.box(-1, 1)
    )
    found = pf.stats.facets(atlas)
    assert len(found) == 27 and found.counts.tolist() == [6] * 27
    assert atlas.euler_characteristic() == 1


# -- what breaks it


def test_deep_networks_in_general_position_can_have_more() -> None:
    """All of ten networks with random noise: no set of measure zero would hold them all. certify proves the facets."""
    for seed in range(10):
        layers = wavy(kinks=5, copies=4, seed=seed)
        atlas = pf.unfold(layers)
        found = pf.stats.facets(atlas).mean_bound
        assert found.case == "deep" and not found.holds
        assert "more than 2d = 6" in str(found)
        assert atlas.euler_characteristic() == -1
    assert pf.certify(atlas).level == "certified"


def test_their_vertices_are_in_general_position() -> None:
    """Every vertex lies on three facets of each of its cells, and in eight cells on average."""
    atlas = pf.unfold(wavy(kinks=5, copies=2, seed=0))
    found = atlas.generators()
    vertices = found.kind == 0
    assert (np.diff(found.facet_start)[vertices] == 3).all()
    assert vertices.sum() == 8 * atlas.f_vector()[0]


def test_their_facets_are_proved_by_points() -> None:
    """More than three facets for each cell, and each has a point on which its own gate is zero and no other."""
    layers = wavy(kinks=5, copies=4, seed=0)
    atlas = pf.unfold(layers)
    points = FacetPoints(atlas, layers)
    inner = np.flatnonzero(atlas.neighbour > atlas.facet_owner)
    for facet in inner.tolist():
        signs = points.signs(points.point(facet))
        assert [gate for gate, sign in enumerate(signs) if not sign] == [atlas.facet_wall[facet]]
    assert len(inner) > 3 * len(atlas)


def test_so_can_those_that_are_not() -> None:
    """Without noise, and with a neuron that there is twice."""
    (first, bias), (second, shift), output = wavy(kinks=5, copies=4, seed=0, noise=0.0)
    twice = [(np.vstack([first, first[:1]]), np.append(bias, bias[0])), (np.hstack([second, 0 * second[:, :1]]), shift)]
    found = pf.stats.facets(pf.unfold([*twice, output])).mean_bound
    assert found.case == "coincident" and not found.holds
