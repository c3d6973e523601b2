"""The study of Iris cells: what it finds is what was written down, and follows from the bundled weights and flowers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import polyfold as pf
from polyfold.datasets import iris, iris_test, read
from studies.iris_cells import facts, iris_cells, main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def same(found: object, expected: object) -> bool:
    """The same structure, numbers up to rounding."""
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(map(same, found.values(), expected.values()))
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    return found == pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else found == expected


def test_it_finds_what_was_written_down():
    assert same(facts(iris_cells()), json.loads((HERE / "iris_cells.json").read_text(encoding="utf-8")))


def test_the_picture_is_the_one_in_the_documents(tmp_path, capsys):
    main(["--figure", str(tmp_path / "cells.svg")])
    assert (tmp_path / "cells.svg").read_text() == (ROOT / "docs" / "images" / "iris_cells.svg").read_text()
    assert "60 test flowers fall in 4 of 137 cells" in capsys.readouterr().out


def test_the_picture_shows_cells_squares_and_flowers():
    text = (ROOT / "docs" / "images" / "iris_cells.svg").read_text()
    (boxes,) = re.findall(r'<g class="line box"><path d="([^"]*)"', text)
    sides = np.array([[float(x) for x in side] for side in re.findall(r"M(\S+) (\S+)L(\S+) ([0-9.]+)", boxes)])
    assert len(sides) == 4 * 4
    for square in sides.reshape(4, 4, 4):
        width, height = np.ptp(square.reshape(-1, 2), axis=0)
        assert width == pytest.approx(height, abs=0.3)
    assert len(re.findall(r"<title>cell \d+</title>", text)) == 4
    assert text.count("<title>test flower</title>") == 60


def test_by_hand():
    """Patterns by a plain forward pass, corners by Qhull's hull of the cell's vertices."""
    petals, species = iris_test()
    value, patterns = petals, []
    for k, (weight, bias) in enumerate(iris()):
        value = (np.maximum(value, 0) if k else value) @ weight.T + bias
        patterns.append(value > 0)
    signs = np.concatenate(patterns[:-1], axis=1)
    found = iris_cells()
    distinct, counts = np.unique(signs, axis=0, return_counts=True)
    assert sorted(counts.tolist()) == sorted(found.counts.tolist())
    assert {tuple(row) for row in found.atlas.signs(found.ids).tolist()} == {tuple(row) for row in distinct.tolist()}
    right = value.argmax(axis=1) == [read("iris").outputs.index(name) for name in species]
    assert found.correct.sum() == right.sum() and right.mean() == pytest.approx(
        read("iris").facts["test_accuracy"], abs=1e-4
    )
    for i, corners in enumerate(found.atlas.vertices(found.ids)):
        assert found.boxes.volumes[i] == pytest.approx(ConvexHull(corners).volume)
        assert found.boxes.size[i] == pytest.approx(np.ptp(corners, axis=0).max())


def test_the_bundled_flowers_are_the_ones_kept_for_testing():
    sklearn = pytest.importorskip("sklearn.datasets")
    from sklearn.model_selection import train_test_split

    data, training = sklearn.load_iris(), read("iris").facts["training"]
    _, petals, _, species = train_test_split(
        data.data[:, 2:],
        data.target,
        test_size=training["test_share"],
        random_state=training["seed"],
        stratify=data.target,
    )
    assert (iris_test()[0] == petals).all()
    assert list(iris_test()[1]) == [data.target_names[k] for k in species]


def test_json_and_a_place_that_cannot_be_written(tmp_path, capsys):
    main(["--json"])
    assert json.loads(capsys.readouterr().out)["cells_with_test_data"] == 4
    with pytest.raises(SystemExit) as ended:
        main(["--figure", str(tmp_path / "nowhere" / "cells.svg")])
    assert ended.value.code == 2
    assert "cannot write to" in capsys.readouterr().err


def test_regions_are_cells_here():
    found = iris_cells()
    assert len(pf.regions(found.atlas)) == len(found.atlas)
