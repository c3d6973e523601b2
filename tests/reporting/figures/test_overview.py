"""Small figures of an overview: weights, fits, rules, cuts and examples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polyfold as pf
from polyfold.datasets import iris
from polyfold.datasets.convolutional import mnist_conv
from polyfold.errors import DomainError
from polyfold.reporting.figures.class_figures import borders, region_classes
from polyfold.reporting.figures.class_rules import class_rules
from polyfold.reporting.figures.cuts import corners_of_a_triangle, ends_of_a_line
from polyfold.reporting.figures.data import box_around, examples, most_telling
from polyfold.reporting.figures.fit import fit
from polyfold.reporting.figures.inventory import inventory


def random_layers(seed, *widths):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def test_weights_are_counted_and_switches_have_none():
    items = inventory(pf.load(iris()))
    assert sum(item.weights for item in items) == sum(W.size + b.size for W, b in iris())
    assert [item.weights for item in items if item.kind == "Rectify"] == [0, 0, 0]
    assert items[0].least == min(iris()[0][0].min(), iris()[0][1].min())
    assert sum(item.weights for item in inventory(mnist_conv())) == 21_840


@pytest.mark.parametrize("seed", range(4))
def test_rules_hold_everywhere_in_their_boxes(seed):
    """Beside the engine: the largest score of a rival over a box, cell by cell, is no larger than the class's."""
    layers = random_layers(seed, 2, 8, 6, 3)
    atlas = pf.unfold(layers, pf.box(-1, 1))
    X = np.random.default_rng(seed).uniform(-1, 1, size=(40, 2))
    rules = class_rules(pf.stats.classes(atlas), np.full(2, -1.0), np.full(2, 1.0), X)
    assert rules
    for rule in rules:
        assert rule.proved and (rule.lo >= -1).all() and (rule.hi <= 1).all() and (rule.lo < rule.hi).all()
        inside = pf.unfold(layers, pf.box(rule.lo, rule.hi))
        for rival in {0, 1, 2} - {rule.label}:
            gap = np.eye(3)[rule.label] - np.eye(3)[rival]
            assert pf.stats.minimum(inside, output=gap).exact_value >= 0


def test_rules_need_a_bounded_box_of_inputs():
    found = pf.stats.classes(pf.unfold(random_layers(0, 2, 4, 2)))
    with pytest.raises(DomainError, match="bounded box"):
        class_rules(found, np.full(2, -np.inf), np.full(2, np.inf), np.zeros((1, 2)))


def test_classes_of_regions_agree_with_points():
    layers = random_layers(1, 2, 6, 5, 3)
    atlas = pf.unfold(layers, pf.box(-1, 1))
    merged, parts = pf.regions(atlas), pf.stats.classes(atlas)
    found = region_classes(merged, parts)
    X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
    seen = np.zeros_like(found)
    seen[merged.label[atlas.locate(X)], pf.load(layers)(X).argmax(axis=1)] = True
    assert not (seen & ~found).any() and (found.sum(axis=1) >= 1).all()


def test_borders_add_up():
    boundary = pf.stats.decision_boundary(pf.unfold(iris(), pf.box(0, 8)))
    found = borders(boundary)
    assert sum(border.pieces for border in found) == len(boundary)
    assert sum(border.measure for border in found) == pytest.approx(boundary.measures.sum())


def test_no_border_where_one_class_wins():
    alone = pf.unfold([([[1.0, 0.0], [0.0, 0.0]], [5.0, 0.0])], pf.box(0, 1))
    assert borders(pf.stats.decision_boundary(alone)) == ()


def test_fit_of_classes():
    found = fit(pf.load(iris()), np.array([[1.4, 0.2], [5.8, 2.2]]), classes=True, labels=np.array([0, 1]))
    assert found.right == 1 and found.table is not None and found.table.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    one = fit(pf.load([([[1.0]], [0.0])]), np.array([[0.0], [2.0]]), classes=True, labels=np.array([0, 0]))
    assert one.answers is not None and one.answers.tolist() == [0, 1] and one.right == 1


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=6))
def test_boxes_hold_their_data_inside(rows):
    X = np.array(rows)
    lo, hi = box_around(X)
    assert (lo < X.min(axis=0)).all() and (hi > X.max(axis=0)).all()


def test_examples_take_turns():
    label = np.array([0, 0, 0, 1, 2])
    assert examples(label, None, 4).tolist() == [0, 3, 4, 1]
    assert examples(label, np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 5).tolist() == [1, 3, 4, 2, 0]
    assert examples(label[:0], None, 3).tolist() == []


def test_features_that_matter_are_found():
    """Outputs that read two features only, of which one hardly varies, and one that is not read at all."""
    W = np.array([[0.0, 3.0, 0.0, 0.1], [0.0, -3.0, 0.0, 2.0]])
    X = np.random.default_rng(0).normal(size=(50, 4)) * [9.0, 1.0, 9.0, 0.5]
    assert most_telling(pf.unfold([(W, np.zeros(2))], pf.box(-1, 1)).program, X) == (1, 3)


def test_cuts_go_through_different_classes():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    assert ends_of_a_line(points, np.array([0, 0, 0, 1, 2])) == (0, 3)
    assert ends_of_a_line(points[:2], np.array([0, 1])) is None
    assert corners_of_a_triangle(points, np.array([0, 0, 0, 1, 2])) == (0, 3, 4)
    assert corners_of_a_triangle(points[:4], np.array([0, 0, 0, 1])) is None
