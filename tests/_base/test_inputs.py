"""Rows, labels and names out of whatever users have them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyfold._base.inputs import class_numbers, classes_of, features_of, labels_of, rows_of
from polyfold.errors import DataError, PolyfoldError, ShapeError

pandas = pytest.importorskip("pandas")
torch = pytest.importorskip("torch")

SAME = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "given",
    [
        SAME,
        SAME.astype(np.float32),
        SAME.astype(int),
        SAME.tolist(),
        tuple(map(tuple, SAME.tolist())),
        [SAME[0], SAME[1]],
        SAME[:, :, None],
        torch.tensor(SAME, requires_grad=True),
        pandas.DataFrame(SAME),
        pandas.DataFrame(SAME, columns=["a", "b"]),
        pandas.DataFrame(SAME, columns=["a", "b"], dtype=object),
    ],
)
def test_rows_come_in_many_forms(given: Any) -> None:
    rows = rows_of(given, 2)
    assert rows.dtype == np.float64 and np.array_equal(rows, SAME)
    assert not np.shares_memory(rows, SAME)


@pytest.mark.parametrize("given", [[1, 2], np.array([1, 2]), torch.tensor([1, 2]), pandas.Series([1, 2])])
def test_one_vector_is_one_row(given: Any) -> None:
    assert rows_of(given, 2).tolist() == [[1.0, 2.0]]


def test_a_vector_of_inputs_of_one_number_each() -> None:
    assert rows_of([1, 2, 3], 1).tolist() == [[1.0], [2.0], [3.0]]
    assert rows_of([7], 1).tolist() == [[7.0]]


def test_one_image_is_one_row() -> None:
    image = np.arange(24.0).reshape(2, 3, 4)
    assert rows_of(image, 24, shape=(2, 3, 4)).shape == (1, 24)
    assert rows_of(image[None], 24, shape=(2, 3, 4)).shape == (1, 24)
    assert rows_of(np.zeros((5, 2, 3, 4)), 24, shape=(2, 3, 4)).shape == (5, 24)
    with pytest.raises(ShapeError, match=r"\(2, 3, 4\)"):
        rows_of(image, 24)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[1, 2, 3]], r"X must be rows of 2 numbers, or one such row; its shape is \(1, 3\)"),
        ([1, 2, 3, 4], r"its shape is \(4,\)"),
        (5, r"its shape is \(\)"),
        ([], r"its shape is \(0,\)"),
        ([[1, 2], [3]], "X must be rows of 2 numbers"),
        ([["a", "b"]], "X must be rows of 2 numbers.*'a'"),
        ([[1, 2j]], "complex"),
        ([[1, 2], [np.inf, 0]], r"X\[1, 0\] is inf: every entry must be a finite number"),
        ([1, np.nan], r"X\[0, 1\] is nan"),
        (None, "X must be rows"),
    ],
)
def test_what_does_not_fit_is_quoted(given: Any, said: str) -> None:
    with pytest.raises(ShapeError, match=said):
        rows_of(given, 2)


def test_large_numbers_whose_sum_overflows_are_finite() -> None:
    assert rows_of([[1e308, 1e308]], 2).tolist() == [[1e308, 1e308]]


def test_no_rows_are_rows() -> None:
    assert rows_of(np.zeros((0, 2)), 2).shape == (0, 2)


def test_columns_are_matched_by_name() -> None:
    frame = pandas.DataFrame({"b": [2.0, 4.0], "a": [1.0, 3.0]})
    assert np.array_equal(rows_of(frame, 2, names=["a", "b"]), SAME)
    assert rows_of(frame.iloc[0], 2, names=["a", "b"]).tolist() == [[1.0, 2.0]]
    assert np.array_equal(rows_of(SAME, 2, names=["a", "b"]), SAME)
    with pytest.raises(ShapeError, match="X lacks the column 'c': the columns must be a, c, in any order"):
        rows_of(frame, 2, names=["a", "c"])
    with pytest.raises(ShapeError, match="X has a column too many, 'b'"):
        rows_of(frame, 1, names=["a"])
    with pytest.raises(ShapeError, match="two columns named 'a'"):
        rows_of(pandas.DataFrame(SAME, columns=["a", "a"]), 2)


def test_a_column_of_texts_is_named() -> None:
    frame = pandas.DataFrame({"a": [1.0, 2.0], "species": ["x", "y"]})
    with pytest.raises(ShapeError, match="column 'species'"):
        rows_of(frame, 2)


def test_float32_is_kept_if_asked() -> None:
    single = SAME.astype(np.float32)
    assert rows_of(single, 2, single=True).dtype == np.float32
    assert np.shares_memory(rows_of(single, 2, single=True), single)
    assert rows_of(torch.tensor(single), 2, single=True).dtype == np.float32
    assert rows_of(SAME.astype(int), 2, single=True).dtype == np.float64


def test_names() -> None:
    frame = pandas.DataFrame(SAME, columns=["a", "b"])
    assert features_of(None, frame, 2) == features_of(None, frame.iloc[0], 2) == ("a", "b")
    assert features_of(None, pandas.DataFrame(SAME), 2) == features_of(None, SAME, 2) == ("x0", "x1")
    assert features_of(["p", "q"], frame, 2) == ("p", "q")
    assert features_of(None, SAME, 2, "feature ") == ("feature 0", "feature 1")
    with pytest.raises(ShapeError, match="2 features"):
        features_of(["p"], SAME, 2)


@pytest.mark.parametrize(
    "given", [["b", "a"], np.array(["b", "a"]), pandas.Series(["b", "a"]), pandas.DataFrame({"y": ["b", "a"]})]
)
def test_labels_come_in_many_forms(given: Any) -> None:
    assert labels_of(given, 2).tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1], r"y must have one label per row of X, which has 2 rows; its shape is \(1,\)"),
        ([[1, 2], [3, 4]], r"its shape is \(2, 2\)"),
        ([1.0, np.nan], r"y\[1\] is nan"),
        ([1, "1"], r"y\[0\] is 1 and y\[1\] is '1'"),
    ],
)
def test_labels_that_do_not_fit(given: Any, said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        labels_of(given, 2)


@pytest.mark.parametrize("given", [[0, 1], [0.0, 1.0], [False, True], torch.tensor([0, 1]), [[0], [1]]])
def test_numbers_of_classes(given: Any) -> None:
    found = class_numbers(given, 2, 2)
    assert found.dtype == np.int64 and found.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("given", "said"), [([0, 2], r"y\[1\] is 2"), ([0, -1], "-1"), ([0, 0.5], "0.5"), (list("ab"), "a")]
)
def test_what_is_no_class(given: Any, said: str) -> None:
    with pytest.raises(ShapeError, match=said):
        class_numbers(given, 2, 2)


def test_rows_of_any_width() -> None:
    assert rows_of([[1, 2, 3], [4, 5, 6]], None).shape == (2, 3)
    assert rows_of([1, 2, 3], None).tolist() == [[1, 2, 3]]
    for wrong in (1.0, [], np.zeros((2, 0)), np.zeros((2, 2, 2))):
        with pytest.raises(ShapeError, match="X must be rows of numbers"):
            rows_of(wrong, None)


def test_no_rows_have_a_width_too() -> None:
    assert rows_of(np.zeros((0, 2)), 2).shape == (0, 2)
    with pytest.raises(ShapeError, match=r"rows of 2 numbers.*\(0, 3\)"):
        rows_of(np.zeros((0, 3)), 2)


def test_labels_become_classes() -> None:
    labels, numbers = classes_of(np.array(["b", "a", "b"]), 3)
    assert labels == ("a", "b") and numbers.tolist() == [1, 0, 1]
    assert classes_of(torch.tensor([[2], [0]]), 2)[0] == (0, 2)
    with pytest.raises(ShapeError, match="one label per row of X"):
        classes_of([1], 2)
    with pytest.raises(DataError, match="cannot be sorted"):
        classes_of(np.array([(1, 2), None], dtype=object), 2)
