"""Facet statistics against linear programs, hulls, patterns and formulas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist
from torch import nn

import polyfold as pf
from helpers.facet_oracles import facets_by_programs
from polyfold.stats.facets.mean_bound import in_the_plane


def random_layers(widths: list[int], seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


@pytest.mark.parametrize("widths", [[2, 6, 4, 1], [3, 4, 4, 1], [4, 4, 2, 1]])
def test_counts_are_those_of_linear_programs(widths: list[int]) -> None:
    layers = random_layers(widths, 1)
    atlas = pf.unfold(layers)
    found = pf.stats.facets(atlas)
    assert len(atlas) > 25
    assert found.counts.tolist() == [facets_by_programs(layers, signs) for signs in atlas.signs()]
    assert found.mean == pytest.approx(found.counts.mean())
    assert found.distribution.tolist() == [int((found.counts == k).sum()) for k in range(found.counts.max() + 1)]
    assert found.bounded + found.unbounded == len(found) == len(atlas)
    assert found.bounded == np.isfinite(found.diameters).sum() == np.isfinite(found.volumes).sum()


@pytest.mark.parametrize("domain", [None, pf.box(-2, 2)])
def test_sizes_are_those_of_hulls(domain: object) -> None:
    atlas = pf.unfold(random_layers([3, 6, 4, 1], 2), domain)
    found = pf.stats.facets(atlas)
    bounded = np.flatnonzero(atlas.bounded)
    assert len(bounded) > 5
    for cell in bounded:
        corners = atlas.vertices([cell])[0]
        assert found.diameters[cell] == pytest.approx(pdist(corners).max(), rel=1e-12)
        assert found.volumes[cell] == pytest.approx(ConvexHull(corners).volume, rel=1e-6)
    assert np.isinf(found.diameters[~atlas.bounded]).all()


def test_diameters_of_cells_with_many_vertices() -> None:
    """In a box of seven dimensions: found from hundreds of vertices."""
    rng = np.random.default_rng(0)
    atlas = pf.unfold([(rng.normal(size=(2, 7)), rng.normal(size=2)), (np.ones((1, 2)), [0.0])], pf.box(-1, 1))
    found = pf.stats.facets(atlas)
    corners = atlas.vertices()
    assert max(map(len, corners)) > 100
    assert found.diameters == pytest.approx([pdist(each).max() for each in corners], rel=1e-12)


def test_diameters_of_very_small_and_very_large_cells() -> None:
    for size in (1e-200, 1e200):
        atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(0, size))
        assert pf.stats.facets(atlas).diameters == pytest.approx([size * 2**0.5], rel=1e-12)


def test_layers_form_the_facets_that_their_gates_part() -> None:
    atlas = pf.unfold(random_layers([2, 6, 5, 4, 1], 3), pf.box(-3, 3))
    found = pf.stats.facets(atlas)
    assert found.layers == ("relu1", "relu2", "relu3")
    layer = np.repeat([0, 1, 2], [6, 5, 4])
    signs = atlas.signs()
    parted = np.zeros(3, dtype=int)
    of_cells = np.zeros((len(atlas), 3), dtype=int)
    for facet in np.flatnonzero(atlas.neighbour >= 0):
        here, there = atlas.facet_owner[facet], atlas.neighbour[facet]
        earliest = layer[np.flatnonzero(signs[here] != signs[there])[0]]
        of_cells[here, earliest] += 1
        parted[earliest] += here < there
    assert found.layer_facets.tolist() == parted.tolist()
    assert (found.cell_layers == of_cells).all()
    assert found.layer_facets.sum() == atlas.inner_facets


def test_layers_have_the_users_names() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.early, self.late, self.output = nn.Linear(2, 4), nn.Linear(4, 3), nn.Linear(3, 1)
            self.bend, self.fold = nn.ReLU(), nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.output(self.fold(self.late(self.bend(self.early(x)))))

    torch.manual_seed(0)
    atlas = pf.unfold(Named())
    found = pf.stats.facets(atlas)
    assert found.layers == ("bend", "fold")
    table = found.to_pandas()
    assert list(table.columns) == [
        *("facets", "bounded", "volume", "diameter"),
        *("facets_bend", "facets_fold", "facets_domain"),
    ]
    assert (table.facets == table.facets_bend + table.facets_fold).all() and not table.facets_domain.any()
    assert table.facets_bend.sum() == 2 * found.layer_facets[0]


def test_facets_on_gates_of_two_layers_belong_to_the_earlier_one() -> None:
    # The second layer's only gate is zero where the first one's is.
    atlas = pf.unfold([([[1.0, 0.0, 0.0]], [0.0]), ([[1.0]], [0.0]), ([[1.0]], [0.0])])
    found = pf.stats.facets(atlas)
    assert len(atlas.shared_facet) == 2
    assert found.layer_facets.tolist() == [1, 0]
    assert found.mean_bound.case == "coincident"


def test_domain_facets_are_of_no_layer() -> None:
    atlas = pf.unfold([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1))
    found = pf.stats.facets(atlas)
    assert found.counts.tolist() == [4, 4] and found.layer_facets.tolist() == [1]
    assert found.to_pandas().facets_domain.tolist() == [3, 3]


# -- the mean


def test_which_case_holds() -> None:
    deep = random_layers([3, 4, 3, 1], 0)
    cases = {
        "arrangement": pf.unfold(random_layers([3, 5, 1], 0)),
        "line": pf.unfold(random_layers([1, 4, 3, 1], 0), pf.box(-1, 1)),
        "walls": pf.unfold(deep, pf.box(-1, 1)),
        "plane": pf.unfold(random_layers([2, 4, 3, 1], 0)),
        "deep": pf.unfold(deep),
        "incomplete": pf.unfold(deep, max_cells=5),
    }
    for case, atlas in cases.items():
        found = pf.stats.facets(atlas).mean_bound
        assert found.case == case
        assert found.proved == (case in ("arrangement", "line", "plane"))
        assert found.mean == Fraction(len(atlas.facet_wall), len(atlas)) and found.bound == 2 * atlas.dim
        assert ("less than" in str(found)) == (found.mean < found.bound)


def test_in_the_plane_the_mean_follows_from_the_unbounded_cells() -> None:
    """Four edges meet in every vertex; then Euler's formula leaves no choice, and equality with 4 is impossible."""
    for seed, hidden in enumerate([[3], [9], [4, 4], [8, 6], [5, 5, 5], [3, 9, 3], [4, 4, 4, 4]]):
        atlas = pf.unfold(random_layers([2, *hidden, 1], seed))
        found = pf.stats.facets(atlas)
        assert atlas.f_vector()[0] > 0
        assert found.mean_bound.mean == in_the_plane(len(found), found.unbounded) < 4


def test_in_the_plane_no_network_has_more() -> None:
    """Whole numbers, zero biases and equal neurons: lines that meet in points, and gates that are zero on cells."""
    rng = np.random.default_rng(0)
    degenerate = 0
    for number in range(60):
        widths = [2, *[(5,), (4, 4), (3, 4, 3), (6, 5), (2, 2, 2, 2)][number % 5], 1]
        layers = [
            (rng.integers(-2, 3, size=(b, a)).astype(float), rng.integers(-1, 2, size=b).astype(float))
            for a, b in pairwise(widths)
        ]
        atlas = pf.unfold(layers)
        found = pf.stats.facets(atlas)
        degenerate += len(atlas.shared_facet) > 0
        assert found.mean_bound.mean <= in_the_plane(len(found), found.unbounded) < 4
    assert degenerate > 20


@pytest.mark.parametrize("corners", [3, 4, 5, 8])
def test_in_a_polygon_the_mean_follows_from_its_corners(corners: int) -> None:
    """4 + (corners - 4) / cells: so it is exactly 2d on every rectangle, and larger where there are more corners."""
    angle = 2 * np.pi * np.arange(corners) / corners + 0.1
    polygon = pf.polytope(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(corners, 1.5))
    for hidden in ([6], [5, 4], [4, 4, 4]):
        found = pf.stats.facets(pf.unfold(random_layers([2, *hidden, 1], 5), polygon)).mean_bound
        cells = found.mean.denominator
        assert (found.mean - 4) * len(pf.unfold(random_layers([2, *hidden, 1], 5), polygon)) == corners - 4
        assert found.holds == (corners <= 4) and cells > 0
        assert ("exactly 2d" in str(found)) == (corners == 4)


def test_a_box_can_break_the_bound() -> None:
    # A plane through the middle of a cube cuts all six of its sides: two cells of seven facets.
    found = pf.stats.facets(pf.unfold([([[1.0, 1.0, 1.0]], [-1.5]), ([[1.0]], [0.0])], pf.box(0, 1)))
    assert found.counts.tolist() == [7, 7] and not found.mean_bound.holds
    assert str(found.mean_bound).startswith("7 facets per cell, more than 2d = 6: the domain has walls")


def test_what_has_no_facets_to_count() -> None:
    layers = random_layers([2, 3, 1], 0)
    whole = pf.unfold(layers)
    empty = replace(
        whole,
        **{name: getattr(whole, name)[:0] for name in ("patterns", "witnesses", "bounded", "facet_wall", "neighbour")},
        facet_start=np.zeros(1, dtype=np.int64),
    )
    with pytest.raises(pf.PolyfoldError, match=r"has no cells, and so no facets to count: pf\.resume"):
        pf.stats.facets(empty)
    with pytest.raises(ValueError, match="0 cells"):
        in_the_plane(0, 0)


def test_of_an_incomplete_atlas_what_was_found_is_counted() -> None:
    atlas = pf.unfold(random_layers([3, 6, 5, 1], 0), max_cells=20)
    found = pf.stats.facets(atlas)
    open_ends = int((atlas.neighbour == -2).sum())
    assert not atlas.complete and open_ends > 0
    assert found.layer_facets.sum() == atlas.inner_facets + open_ends
    assert found.cell_layers.sum() == found.counts.sum() == len(atlas.facet_wall)


def test_results_cannot_be_changed() -> None:
    found = pf.stats.facets(pf.unfold(random_layers([2, 4, 1], 0)))
    for array in (found.counts, found.facet_layer, found.distribution, found.layer_facets, found.cell_layers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    for array in (found.volumes, found.diameters):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
