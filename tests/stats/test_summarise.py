"""Summaries of data: against counting by hand, forward passes and sampling."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas
import pytest
from hypothesis import given, settings

import polyfold as pf
from polyfold._base.words import in_words
from polyfold.datasets import iris, read
from polyfold.domain.points import bounded_lift
from polyfold.errors import DomainError, PolyfoldError, ShapeError
from polyfold.program.passes.bounded import bounded_forward
from polyfold.testing.strategies import cases

NAMES = ["petal length", "petal width"]
CORNER = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))]


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    return pf.unfold(iris(), pf.box([0, 0], [8, 3]))


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform([0, 0], [8, 3], size=(500, 2)), rng.integers(0, 3, size=500)


def test_counts_classes_and_predictions(atlas, data):
    X, y = data
    found = pf.summarise(atlas, X, y)
    cells, winners = atlas.locate(X), pf.load(iris())(X).argmax(axis=1)
    support = Counter(cells.tolist())
    assert found.counts.sum() == 500 and found.outside == 0
    assert found.unused == len(atlas) - len(support)
    assert (found.item == cells).all()
    assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == support
    assert found.classes == ("0", "1", "2")
    for i, cell in enumerate(found.ids):
        here = cells == cell
        assert found.class_counts[i].tolist() == np.bincount(y[here], minlength=3).tolist()
        assert found.predicted_counts[i].tolist() == np.bincount(winners[here], minlength=3).tolist()
        assert found.correct[i] == (winners[here] == y[here]).sum()
        assert found.accuracy[i] == pytest.approx((winners[here] == y[here]).mean())


def test_ranked_by_support_then_by_number(atlas, data):
    found = pf.summarise(atlas, data[0])
    keys = [(-count, cell) for cell, count in zip(found.ids.tolist(), found.counts.tolist(), strict=True)]
    assert keys == sorted(keys)
    assert found.classes is None and found.class_counts is None and found.correct is None and found.accuracy is None


def test_boxes_and_models_are_those_of_the_cells(atlas, data):
    found = pf.summarise(atlas, data[0], feature_names=NAMES)
    expected = pf.stats.boxes(atlas, ids=found.ids)
    assert (found.boxes.lo == expected.lo).all() and (found.boxes.hi == expected.hi).all()
    A, c = atlas.maps(found.ids)
    assert found.models[0][1] == in_words(A[0, 1], c[0, 1], NAMES)
    for i in range(len(found)):
        here = data[0][found.item == found.ids[i]]
        np.testing.assert_allclose(here @ found.maps[0][i].T + found.maps[1][i], pf.load(iris())(here), atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(cases(max_size=4))
def test_regions_add_up_their_cells(case):
    atlas = pf.unfold(case.program, case.domain, threads=1)
    rng = np.random.default_rng(0)
    # Witnesses, and points between two of them.
    pairs = rng.integers(len(atlas), size=(2, 40))
    X = np.concatenate([atlas.witnesses, atlas.witnesses[pairs].mean(axis=0)])
    merged = pf.regions(atlas)
    by_cell, by_region = pf.summarise(atlas, X, outside="ignore"), pf.summarise(merged, X, outside="ignore")
    inside = by_cell.item >= 0
    assert (by_region.item[inside] == merged.label[by_cell.item[inside]]).all()
    assert by_region.outside == by_cell.outside == (~inside).sum()
    assert by_region.counts.sum() == by_cell.counts.sum() == inside.sum()
    assert len(by_region) + by_region.unused == len(merged)
    # A region's one linear model gives what the forward pass gives at all of its points.
    outputs = bounded_forward(atlas.program, bounded_lift(atlas.domain, X[inside])).outputs
    rank = {int(region): i for i, region in enumerate(by_region.ids)}
    at = [rank[int(region)] for region in by_region.item[inside]]
    A, c = by_region.maps
    found = np.einsum("kij,kj->ki", A[at], X[inside]) + c[at]
    # Witnesses may lie very far out; the forward pass says how far it can be wrong there.
    doubt = outputs.errors + 1e-9 * (np.einsum("kij,kj->ki", np.abs(A[at]), np.abs(X[inside])) + np.abs(c[at]))
    assert (np.abs(found - outputs.values) <= doubt).all()


def test_labels_by_name_or_by_number(data):
    atlas, names = pf.unfold(CORNER, pf.box(-1, 1)), ["red", "blue"]
    X = np.array([[0.5, 0.1], [0.1, 0.5], [0.2, 0.7]])
    by_number = pf.summarise(atlas, X, [0, 1, 0], output_names=names)
    by_name = pf.summarise(atlas, X, ["red", "blue", "red"], output_names=names)
    assert by_number.correct.tolist() == by_name.correct.tolist() == [2]
    assert set(by_number.classes) == set(by_name.classes) == set(names)
    assert pf.summarise(atlas, X, [True, False, True]).correct.tolist() == [1]
    assert pf.summarise(atlas, X, np.array([0.0, 1.0, 1.0])).correct.tolist() == [3]
    assert pf.summarise(atlas, X, pandas.Series(["red", "blue", "red"]), output_names=names).correct.tolist() == [2]


def test_one_output_has_no_predictions():
    atlas = pf.unfold([([[1.0]], [0.0]), ([[2.0]], [1.0])], pf.box(-3, 3))
    found = pf.summarise(atlas, [[1.0], [-1.0]], ["ill", "well"])
    assert found.predicted_counts is None and found.correct is None
    assert found.class_counts.tolist() == [[0, 1], [1, 0]]


def test_points_outside(atlas):
    X = [[1.0, 1.0], [9.0, 1.0], [1.0, -0.5]]
    with pytest.raises(DomainError, match=r"point 1, \[9.0, 1.0\], lies outside the domain"):
        pf.summarise(atlas, X)
    found = pf.summarise(atlas, X, [0, 1, 2], outside="ignore")
    assert found.outside == 2 and found.counts.tolist() == [1] and found.item.tolist()[1:] == [-1, -1]
    assert "2 points outside" in repr(found)


def test_an_incomplete_atlas(atlas, data):
    part = pf.unfold(iris(), pf.box([0, 0], [8, 3]), max_cells=6)
    with pytest.raises(DomainError, match="incomplete"):
        pf.summarise(part, data[0])
    found = pf.summarise(part, data[0], outside="ignore")
    assert found.outside == (part.locate(data[0], outside="ignore") < 0).sum() > 0


def test_on_a_slice_features_are_parameters():
    atlas = pf.unfold(iris(), pf.line([1.0, 0.2], [6.0, 2.0]))
    found = pf.summarise(atlas, np.linspace(0, 1, 30)[:, None], feature_names=["t"])
    assert found.counts.sum() == 30 and "x t" in found.models[0][0]
    assert (found.boxes.lo >= 0).all() and (found.boxes.hi <= 1).all()


def test_unbounded_cells():
    found = pf.summarise(pf.unfold(CORNER), [[1.0, 2.0], [-1.0, 3.0]])
    assert "x0 0 to inf" in str(found) and "x0 -inf to 0" in str(found)


def test_for_people(atlas):
    network = read("iris")
    X, y = [[1.4, 0.2], [5.0, 1.9], [5.2, 2.0], [4.9, 1.4]], [0, 2, 2, 1]
    found = pf.summarise(atlas, X, y, feature_names=network.inputs, output_names=network.outputs)
    assert repr(found) == "Summary: 4 points in 2 of 18 cells, 16 without any; checked, complete"
    text = str(found)
    assert text.startswith(repr(found))
    assert "cell 16: 3 points (75.0%): virginica 2, versicolor 1; predicted virginica" in text
    assert "where petal length (cm) 2.04 to 8, petal width (cm) 0 to 2.77" in text
    assert "  setosa = -1.87 x petal length (cm) - 2.18 x petal width (cm) + 5.55" in text
    html = pf.summarise(atlas, X, feature_names=["<a>", "b"])._repr_html_()
    assert "&lt;a&gt;" in html and "<a>" not in html
    frame = found.to_pandas()
    assert frame.loc[16, "points"] == 3 and frame.loc[16, "class virginica"] == 2
    assert frame.loc[16, "hi petal length (cm)"] == 8.0
    assert frame.loc[16, "model setosa"] == found.models[0][0]


def test_a_data_frame_names_its_features(atlas):
    frame = pandas.DataFrame({"length": [1.0, 5.0], "width": [0.2, 1.9]})
    assert pf.summarise(atlas, frame).feature_names == ("length", "width")
    turned = pf.summarise(atlas, frame[["width", "length"]], feature_names=["length", "width"])
    assert turned.feature_names == ("length", "width")
    assert turned.item.tolist() == pf.summarise(atlas, frame).item.tolist()
    with pytest.raises(ShapeError, match="X lacks the column 'petal length'"):
        pf.summarise(atlas, frame, feature_names=NAMES)


def test_many_cells_are_not_all_written_out():
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(12, 2)), rng.normal(size=12)), (rng.normal(size=(1, 12)), np.zeros(1))]
    found = pf.summarise(pf.unfold(layers, pf.box(-3, 3)), rng.uniform(-3, 3, size=(3000, 2)))
    assert len(found) > 20
    assert str(found).endswith(f"and {len(found) - 20} cells more with fewer points")
    assert len(found.to_pandas()) == len(found)


def test_no_points(atlas):
    found = pf.summarise(atlas, np.zeros((0, 2)), np.zeros(0, dtype=int))
    assert len(found) == 0 and found.unused == len(atlas) and str(found) == repr(found)
    assert len(found.to_pandas()) == 0


def test_words():
    assert in_words(np.array([0.0, 0.0]), 0.0, NAMES) == "0"
    assert in_words(np.array([-1.0, 0.0]), -2.0, NAMES) == "-1 x petal length - 2"
    assert in_words(np.array([0.0, 1234567.0]), 0.0, NAMES) == "1.23e+06 x petal width"
    slopes = np.arange(1.0, 13.0)
    text = in_words(slopes, 1.0, [f"x{k}" for k in range(12)])
    assert text.startswith("5 x x4 + 6 x x5") and text.endswith("+ 12 x x11 + 1 + 4 smaller terms")


def test_bad_input(atlas):
    X = [[1.0, 1.0]]
    with pytest.raises(ShapeError, match="there are 2 features; these are the names"):
        pf.summarise(atlas, X, feature_names=["length"])
    with pytest.raises(ShapeError, match="two features are named 'a'"):
        pf.summarise(atlas, X, feature_names=["a", "a"])
    with pytest.raises(ShapeError, match="there are 3 outputs"):
        pf.summarise(atlas, X, output_names="abc")
    with pytest.raises(ShapeError, match=r"y must have one label per row of X, which has 1 row; its shape is \(2,\)"):
        pf.summarise(atlas, X, [0, 1])
    with pytest.raises(ShapeError, match=r"y must be classes.*begins with \[0.5\]"):
        pf.summarise(atlas, X, [0.5])
    with pytest.raises(PolyfoldError, match="class '7' in y is none of the outputs 0, 1, 2"):
        pf.summarise(atlas, X, [7])
    with pytest.raises(PolyfoldError, match="class 'rose' in y is none of the outputs setosa"):
        pf.summarise(atlas, X, ["rose"], output_names=read("iris").outputs)
    with pytest.raises(ShapeError, match="rows of 2 numbers"):
        pf.summarise(atlas, [[1.0]])
    with pytest.raises(PolyfoldError, match=r"'iris' is neither an \.onnx nor"):
        pf.summarise("iris", X)
