"""Faces of all dimensions: closed formulas, and the Euler characteristic of generated complexes."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError
from polyfold.testing.cases import generated_case


@pytest.mark.parametrize(("d", "n"), [(1, 5), (2, 7), (3, 6), (4, 6)])
def test_hyperplanes_in_general_position(d: int, n: int) -> None:
    """A k-face lies on d - k of the hyperplanes, which the others cut as they would cut R^k."""
    rng = np.random.default_rng(n)
    atlas = pf.unfold([(rng.normal(size=(n, d)), rng.normal(size=n)), (np.ones((1, n)), np.zeros(1))])
    expected = [comb(n, d - k) * sum(comb(n - d + k, i) for i in range(k + 1)) for k in range(d + 1)]
    assert list(atlas.f_vector()) == expected
    assert atlas.euler_characteristic() == (-1) ** d


def test_a_grid_in_a_box() -> None:
    """Two walls along x and one along y, one of them twice: 3 x 2 boxes with shared corners."""
    W, b = np.array([[1.0, 0], [1, 0], [2, 0], [0, 1]]), np.array([0.0, -0.5, -1, 0])
    atlas = pf.unfold([(W, b), (np.ones((1, 4)), np.zeros(1))], pf.box(-1, 1))
    assert atlas.f_vector() == (4 * 3, 4 * 2 + 3 * 3, 6)


def test_lines_through_a_point_share_it() -> None:
    angles = np.arange(5.0)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    atlas = pf.unfold([(W, np.zeros(5)), (np.ones((1, 5)), np.zeros(1))])
    assert atlas.f_vector() == (1, 10, 10)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_generated_complexes(first: int) -> None:
    for seed in range(first, first + 50):
        case = generated_case(seed)
        atlas = pf.unfold(case.program, case.domain)
        counts = atlas.f_vector()
        assert counts[-1] == len(atlas), case
        assert counts[-2] == atlas.inner_facets + atlas.boundary_facets, case
        if atlas.bounded.all() or not case.domain.rows:
            assert atlas.euler_characteristic() == (1 if atlas.bounded.all() else (-1) ** atlas.dim), case


def test_incomplete_atlases_have_no_f_vector() -> None:
    rng = np.random.default_rng(0)
    network = [(rng.normal(size=(9, 2)), rng.normal(size=9)), (np.ones((1, 9)), np.zeros(1))]
    with pytest.raises(PolyfoldError, match="incomplete"):
        pf.unfold(network, max_cells=4).f_vector()
