"""The decision boundary: closed forms, tied outputs at every point, areas against Qhull, no piece missing."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.spatial import ConvexHull

import polyfold as pf
from helpers.known_networks import HAT, XOR, random_classifier, unit_square
from polyfold.testing.strategies import cases


def test_exclusive_or_by_hand():
    found = pf.stats.decision_boundary(pf.stats.classes(unit_square(XOR), threshold=0.5))
    assert len(found) == 2 and found.measures == pytest.approx([sqrt(0.5), sqrt(0.5)])
    ends = sorted(sorted(found.vertices(piece).round(12).tolist()) for piece in range(2))
    assert ends == [[[0.0, 0.5], [0.5, 0.0]], [[0.5, 1.0], [1.0, 0.5]]]
    assert found.pair.tolist() == [[0, 1], [0, 1]] and found.bounded.all()
    # Each lies within one cell.
    assert np.array_equal(found.cells[:, 0], found.cells[:, 1])
    assert np.array_equal(found.classes.label[found.parts], found.pair)


def test_a_boundary_along_a_wall():
    # Class 1 is where a single gate is on: the boundary is its wall, between two cells.
    atlas = pf.unfold([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1))
    found = pf.stats.decision_boundary(atlas)
    assert len(found) == 1 and found.measures == pytest.approx([2.0])
    assert set(found.cells[0]) == {0, 1}


def test_points_in_one_dimension():
    found = pf.stats.decision_boundary(pf.stats.classes(pf.unfold(HAT), threshold=0.25))
    assert sorted(found.points.ravel().round(12).tolist()) == [0.25, 1.75]
    assert found.measures.tolist() == [1.0, 1.0]


def test_rays_and_lines():
    # The larger of x and y on the plane: one line. The largest of 0, x and y: three rays.
    line = pf.stats.decision_boundary(pf.unfold([(np.eye(2), np.zeros(2))]))
    assert len(line) == 1 and line.measures.tolist() == [np.inf] and not line.bounded.any()
    three = pf.stats.decision_boundary(pf.unfold([([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.zeros(3))]))
    rays = {tuple(np.round(direction / np.abs(direction).max(), 9)) for direction in three.points[three.kind == 1]}
    assert {(0.0, -1.0), (-1.0, 0.0), (1.0, 1.0)} <= rays
    assert {tuple(pair) for pair in three.pair.tolist()} == {(0, 1), (0, 2), (1, 2)}
    space = pf.stats.decision_boundary(pf.unfold([(np.eye(3)[:2], np.zeros(2))]))
    assert (space.kind == 2).any() and len(space.vertices(0)) == 1


def test_polygons_have_their_corners_in_order():
    atlas = pf.unfold(random_classifier(np.random.default_rng(0), 3, 8, 5, 3), pf.box(-1, 1))
    found = pf.stats.decision_boundary(atlas)
    assert len(found) > 20
    for piece in range(len(found)):
        corners = found.vertices(piece)
        following = np.roll(corners, -1, axis=0)
        # A sum of cross products is the area only if the corners go around.
        area = np.linalg.norm(np.cross(corners - corners[0], following - corners[0]).sum(axis=0)) / 2
        assert area == pytest.approx(found.measures[piece], rel=1e-6, abs=1e-12)
        turns = np.cross(following - corners, np.roll(following, -1, axis=0) - following)
        assert np.all(turns @ turns.sum(axis=0) >= -1e-12)


@pytest.mark.parametrize("dim", [3, 4, 5])
def test_measures_against_qhull(dim):
    atlas = pf.unfold(random_classifier(np.random.default_rng(dim), dim, 6, 2), pf.box(-1, 1))
    found = pf.stats.decision_boundary(atlas)
    assert len(found) > 3
    for piece in range(len(found)):
        corners = found.vertices(piece)
        away = corners - corners.mean(axis=0)
        _, sizes, axes = np.linalg.svd(away)
        assert sizes[dim - 1] < 1e-9  # flat
        assert found.measures[piece] == pytest.approx(
            ConvexHull(away @ axes[:-1].T, qhull_options="QJ").volume, rel=1e-5
        )


def test_a_sphere_of_boundary():
    # max(|x|, |y|, |z|) > 1/2: the boundary is the surface of a cube. As one output of absolute values' maxima.
    gates = np.concatenate([np.eye(3), -np.eye(3)])
    six = [
        (gates, np.zeros(6)),
        (np.vstack([np.zeros(6), np.concatenate([np.eye(3), np.eye(3)], axis=1)]), [0.5, 0, 0, 0]),
    ]
    found = pf.stats.decision_boundary(pf.unfold(six, pf.box(-1, 1)))
    inner = (found.pair == 0).any(axis=1)
    assert found.measures[inner].sum() == pytest.approx(6.0)
    assert pf.stats.class_areas(found.classes).areas[0] == pytest.approx(1.0)


@given(cases())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_outputs_tie_on_every_piece(case):
    atlas = pf.unfold(case.program, case.domain, max_cells=200)
    if not atlas.complete:
        return
    found = pf.stats.decision_boundary(atlas)
    label, parts = found.classes.label, found.classes.atlas
    # No piece is missing: every pair of neighbours of different classes is there, once.
    owner = parts.facet_owner
    expected = {
        frozenset((int(a), int(b)))
        for a, b in zip(owner, parts.neighbour, strict=True)
        if b >= 0 and label[a] != label[b]
    }
    assert {frozenset(pair) for pair in found.parts.tolist()} == expected and len(found) == len(expected)
    piece = np.repeat(np.arange(len(found)), np.diff(found.start))
    vertex = found.kind == 0
    points, piece = found.points[vertex], piece[vertex]
    values = atlas.program.evaluate(atlas.lift(points))[0]
    scale = 1e-6 * (np.abs(values).max(initial=0.0) + np.abs(points).max(initial=0.0) + 1)
    if atlas.outputs == 1:
        assert np.all(np.abs(values) <= scale)
    else:
        rows = np.arange(len(points))
        for side in range(2):
            assert np.all(np.abs(values[rows, found.pair[piece, side]] - values.max(axis=1)) <= scale)
