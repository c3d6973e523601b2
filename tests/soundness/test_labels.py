"""1, 1.0 and "1" are one class where classes have numbers, and never two classes of one set of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.cli.csv_rows import read_labels
from polyfold.errors import DataError, PolyfoldError
from polyfold.reporting.subject import subject

NETWORK = pf.load([(np.eye(2), [0.0, 0.0]), (np.eye(2), [0.0, 0.0])])
X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "labels", [[0, 1, 0], [0.0, 1.0, 0.0], ["0", "1", "0"], ["0.0", "1.0", "0.0"], np.array([0, 1, 0], np.float32)]
)
@pytest.mark.parametrize("names", [None, ["0", "1"], ["no", "yes"], ["0.0", "1.0"]])
def test_the_report_knows_all_ways_to_write_a_number(labels: Any, names: Any) -> None:
    found = subject(NETWORK, X, labels, output_names=names)
    assert found.labels is not None and found.labels.tolist() == [0, 1, 0]


def test_names_that_are_numbers_come_before_numbers() -> None:
    assert subject(NETWORK, X, [1.0, 0.0, 1.0], output_names=["1", "0"]).labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("labels", [[0, 1, 2], [0.5, 1, 0], ["0", "one", "0"]])
def test_other_labels_are_refused(labels: Any) -> None:
    with pytest.raises(DataError, match="is none of the classes"):
        subject(NETWORK, X, labels)


@pytest.mark.parametrize("text", ["0\n1\n0\n", "0.0\n1.0\n0.0\n", "class\n0\n1.0\n0\n"])
def test_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    assert read_labels(tmp_path / "labels.csv", 3) == [0, 1, 0]


@pytest.mark.parametrize("labels", [[1, "1", 2], [1.0, 2, "1"], np.array([1, "1", 2], dtype=object)])
def test_numbers_and_texts_are_not_mixed(labels: Any) -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(PolyfoldError, match="labels must be all numbers or all texts"):
        pf.separation.clustered(points, labels)
    with pytest.raises(PolyfoldError, match="labels must be all numbers or all texts"):
        pf.layers.truncation(NETWORK).interpret(points, labels)
