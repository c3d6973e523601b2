"""Intervals of cells cover a view once, and breakpoints are where slopes change."""

from __future__ import annotations

import numpy as np

import polyfold as pf
from polyfold.plotting.geometry.intervals import intervals
from polyfold.plotting.geometry.view import view_of

# Kinks at -1, 0.5 and 2; slopes 0, 1, 3, 2.
KINKS = [([[1.0], [1.0], [1.0]], [1.0, -0.5, -2.0]), ([[1.0, 2.0, -1.0]], [0.0])]


def test_unbounded_pieces_are_cut_off_at_the_view() -> None:
    atlas = pf.unfold(KINKS)
    found = intervals(atlas, view_of(atlas, (-3.0, 4.0), dim=1))
    np.testing.assert_allclose(found.ends, [[-3.0, -1.0], [-1.0, 0.5], [0.5, 2.0], [2.0, 4.0]], rtol=1e-12)
    np.testing.assert_allclose(found.breakpoints, [-1.0, 0.5, 2.0], rtol=1e-12)
    assert atlas.maps(found.cells)[0].ravel().tolist() == [0.0, 1.0, 3.0, 2.0]


def test_breakpoints_outside_the_view_are_not_shown() -> None:
    atlas = pf.unfold(KINKS)
    found = intervals(atlas, view_of(atlas, (-0.5, 1.0), dim=1))
    np.testing.assert_allclose(found.ends, [[-0.5, 0.5], [0.5, 1.0]], rtol=1e-12)
    np.testing.assert_allclose(found.breakpoints, [0.5], rtol=1e-12)


def test_without_a_view_all_breakpoints_are_seen() -> None:
    atlas = pf.unfold(KINKS)
    window = view_of(atlas, dim=1)
    assert window.lo[0] < -1 and window.hi[0] > 2
    assert len(intervals(atlas, window)) == 4


def test_cells_left_out_leave_no_breakpoints() -> None:
    atlas = pf.unfold(KINKS, pf.box(-3, 3))
    order = np.argsort(atlas.witnesses[:, 0])
    window = view_of(atlas, dim=1)
    np.testing.assert_allclose(window.limits, [(-3.0, 3.0)], rtol=1e-12)
    found = intervals(atlas, window, order[[0, 2, 3]])
    np.testing.assert_allclose(found.ends, [[-3.0, -1.0], [0.5, 2.0], [2.0, 3.0]], rtol=1e-12)
    np.testing.assert_allclose(found.breakpoints, [2.0], rtol=1e-12)


def test_along_a_line_through_many_inputs() -> None:
    rng = np.random.default_rng(0)
    network = [(rng.normal(size=(12, 5)), rng.normal(size=12)), (rng.normal(size=(2, 12)), np.zeros(2))]
    atlas = pf.unfold(network, pf.line(-np.ones(5), np.ones(5)))
    found = intervals(atlas, view_of(atlas, dim=1))
    np.testing.assert_allclose(found.ends[[0, -1], [0, 1]], [0.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(found.ends[1:, 0], found.ends[:-1, 1], rtol=1e-12)
    np.testing.assert_allclose(found.breakpoints, found.ends[:-1, 1])
