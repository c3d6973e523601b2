"""Dual space: distinct maps, merged exactly, with the data that sit there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf


def hat(last: float):
    """relu(x) - 2 relu(x - 1) + last relu(x - 2): 0, x, 2 - x, and beyond 2 nearly 0 again."""
    return [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, last]], [0.0])]


def whole_numbers(widths, seed):
    """Small whole weights: then maps in floats are exact."""
    rng = np.random.default_rng(seed)
    return [(rng.integers(-2, 3, size=(b, a)), rng.integers(-2, 3, size=b)) for a, b in pairwise(widths)]


def test_the_same_map_far_away_is_one_point():
    dual = pf.maps.dual_space(pf.unfold(hat(1.0)), X=[[-3.0], [-1.0], [0.5], [7.0]])
    assert len(dual.atlas) == 4 and len(dual) == 3
    assert sorted(dual.points.tolist()) == [[-1.0, 2.0], [0.0, 0.0], [1.0, 0.0]]
    flat = dual.points.tolist().index([0.0, 0.0])
    assert dual.cells[flat] == 2 and dual.samples[flat] == 3
    assert dual.point_of_sample.tolist() == [flat, flat, dual.points.tolist().index([1.0, 0.0]), flat]


def test_maps_that_differ_in_the_last_bit_are_two_points():
    dual = pf.maps.dual_space(pf.unfold(hat(1.0 + 2.0**-52)))
    assert len(dual) == 4


def test_maps_that_floats_cannot_tell_apart_are_compared_exactly():
    # Beyond x = 1 the slope is 1 + 2^60 - 2^60 + more; a float sum may lose the 1.
    for more, points in ((0.0, [[0.0, 0.0], [1.0, 0.0]]), (1.0, None)):
        walls = ([[1.0], [1.0], [1.0], [1.0]], [0.0, -1.0, -1.0, -1.0])
        dual = pf.maps.dual_space(pf.unfold([walls, ([[1.0, 2.0**60, -(2.0**60), more]], [0.0])]))
        assert len(dual.atlas) == 3 and len(dual) == (2 if points else 3)
        assert points is None or sorted(dual.points.tolist()) == points


@pytest.mark.parametrize("seed", range(6))
def test_against_rows_of_whole_numbers(seed):
    network = whole_numbers([2, 5, 4, 2], seed)
    atlas = pf.unfold(network)
    X = np.random.default_rng(seed).normal(size=(200, 2))
    for output in range(2):
        dual = pf.maps.dual_space(atlas, output=output, X=X)
        A, c = atlas.maps()
        rows, label = np.unique(np.column_stack([A[:, output], c[:, output]]) + 0.0, axis=0, return_inverse=True)
        assert len(dual) == len(rows)
        assert len({*zip(label.tolist(), dual.point_of_cell.tolist(), strict=True)}) == len(rows)
        assert np.array_equal(dual.points[dual.point_of_cell], np.column_stack([A[:, output], c[:, output]]))
        assert dual.first_cell.tolist() == sorted(dual.first_cell.tolist())
        assert dual.samples.sum() == 200 and dual.cells.sum() == len(atlas)
        there = dual.points[dual.point_of_sample]
        value = (there[:, :2] * X).sum(axis=1) + there[:, 2]
        assert value == pytest.approx(pf.load(network)(X)[:, output], abs=1e-9)


def test_regions_are_never_more_than_one_point():
    atlas = pf.unfold(whole_numbers([2, 6, 5, 1], 1), pf.box(-3, 3))
    dual, regions = pf.maps.dual_space(atlas), pf.regions(atlas)
    assert len(dual) <= len(regions)
    for cells in regions.cells:
        assert len(np.unique(dual.point_of_cell[cells])) == 1
    assert dual.volumes.sum() == pytest.approx(36.0)


def test_on_a_slice_points_are_over_its_parameters():
    network = whole_numbers([3, 6, 1], 2)
    atlas = pf.unfold(network, pf.line([0.0, 0.0, 0.0], [4.0, 2.0, -6.0]))
    u = np.linspace(0.0, 1.0, 40)[:, None]
    dual = pf.maps.dual_space(atlas, X=u)
    there = dual.points[dual.point_of_sample]
    assert dual.points.shape[1] == 2
    assert there[:, 0] * u[:, 0] + there[:, 1] == pytest.approx(pf.load(network)(atlas.lift(u))[:, 0])


def test_as_a_table():
    frame = pf.maps.dual_space(pf.unfold(hat(1.0)), X=[[0.5]]).to_pandas()
    assert list(frame.columns) == ["w_0", "b", "first_cell", "cells", "samples"]
    assert frame["cells"].sum() == 4 and frame["samples"].sum() == 1


def test_of_a_network_on_a_domain():
    dual, of_atlas = pf.maps.dual_space(hat(1.0), pf.box(-1, 1)), pf.maps.dual_space(pf.unfold(hat(1.0), pf.box(-1, 1)))
    assert np.array_equal(dual.points, of_atlas.points) and dual.asked.question == "maps.dual_space"
    assert dual.to_json()["points"] == dual.points.tolist()


def test_what_has_no_dual_space():
    atlas = pf.unfold(hat(1.0), pf.box(-1, 1))
    with pytest.raises(pf.PolyfoldError, match="an atlas has a domain of its own"):
        pf.maps.dual_space(atlas, pf.box(-2, 2))
    with pytest.raises(pf.PolyfoldError, match="there is no output 1: the network has 1 output"):
        pf.maps.dual_space(atlas, output=1)
    with pytest.raises(pf.PolyfoldError, match="outside"):
        pf.maps.dual_space(atlas, X=[[5.0]])
