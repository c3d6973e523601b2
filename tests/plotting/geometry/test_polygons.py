"""Polygons of cells cover a view once: areas add up, each lies in its cell, and none is forgotten."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from polyfold.errors import DomainError
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.view import view_of


def random_network(seed: int, widths: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    sizes = (2, *widths, 1)
    return [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(sizes)]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    widths=st.sampled_from([(3,), (8,), (5, 4), (8, 8)]),
    domain=st.sampled_from([None, pf.box(-1, 1), pf.box(-3, 2)]),
    view=st.sampled_from([(-0.5, 0.75, -0.25, 0.5), (-1.0, 1.0, -1.0, 1.0), (0.0, 1e-3, 0.0, 1e-3)]),
)
def test_cover_the_view_once(seed: int, widths: tuple[int, ...], domain: object, view: tuple[float, ...]) -> None:
    atlas = pf.unfold(random_network(seed, widths), domain)
    window = view_of(atlas, view)
    found = polygons(atlas, window)
    assert (found.areas > 0).all()
    assert found.areas.sum() == pytest.approx(window.area, rel=1e-9)
    assert (found.points >= window.lo - 1e-9).all() and (found.points <= window.hi + 1e-9).all()
    # A point within a polygon belongs to its cell.
    middles = np.array([found.corners(i).mean(axis=0) for i in range(len(found))])
    large = found.areas > 1e-6 * window.area
    assert (atlas.locate(middles[large]) == found.cells[large]).all()


def test_all_of_a_bounded_domain_is_seen_without_a_view() -> None:
    atlas = pf.unfold(random_network(0, (6, 6)), pf.box([-1, 0], [2, 1]))
    window = view_of(atlas)
    assert window.lo.tolist() == [-1, 0] and window.hi.tolist() == [2, 1]
    found = polygons(atlas, window)
    assert found.cells.tolist() == list(range(len(atlas)))
    np.testing.assert_allclose(found.areas, atlas.volumes(), rtol=1e-9)


def test_cells_without_vertices() -> None:
    atlas = pf.unfold([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    window = view_of(atlas)
    assert window.lo.tolist() == [-1, -1] and window.hi.tolist() == [1, 1]
    assert polygons(atlas, window).areas.tolist() == [2.0, 2.0]


def test_part_of_the_cells() -> None:
    atlas = pf.unfold(random_network(1, (6,)), pf.box(-1, 1))
    assert polygons(atlas, view_of(atlas), [2, 0]).cells.tolist() == [2, 0]


@pytest.mark.parametrize("view", [(0, 1, 2), (0, 0, 1, 1), (0, np.inf, 0, 1), "view"])
def test_no_view(view: object) -> None:
    atlas = pf.unfold(random_network(1, (3,)), pf.box(-1, 1))
    with pytest.raises(DomainError, match="view"):
        view_of(atlas, view)


def test_no_plane() -> None:
    with pytest.raises(DomainError, match="dimension 2, not 1"):
        view_of(pf.unfold([([[1.0]], [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1)))
