"""polyfold truncate: what it writes and prints, and one line for whatever is wrong with the files."""

from __future__ import annotations

import csv
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from polyfold.datasets import iris_test
from polyfold.datasets.blobs import blobs, blobs_data

pytest.importorskip("onnx")
pytest.importorskip("matplotlib")
FILES = ["film_strip.png", "states.csv", "table.csv", "table.json"]


@pytest.fixture
def run(run):
    """Runs `polyfold truncate ARGUMENTS`."""
    return partial(run, "truncate")


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path, Path]:
    """The bundled network as ONNX, its points and their labels as words with a heading."""
    X, y = blobs_data()
    model, data, labels = (tmp_path / name for name in ("blobs.onnx", "x.csv", "y.csv"))
    pf.load(blobs()).save_onnx(model)
    data.write_text("\n".join(",".join(map(repr, row)) for row in X.tolist()))
    labels.write_text("\n".join(["cluster", *(["top", "left", "right"][k] for k in y)]))
    return model, data, labels


@pytest.fixture
def refused(run, tmp_path):
    """Runs what must be refused: exit code 2, one line, nothing written; returns the line."""

    def call(*arguments: object) -> str:
        before = sorted(str(path) for path in tmp_path.rglob("*"))
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), err
        assert err.count("\n") == 1 and err.startswith("error: ")
        assert sorted(str(path) for path in tmp_path.rglob("*")) == before
        return err

    return call


def test_it_writes_the_film_strip_and_the_tables(run, files, tmp_path):
    model, data, labels = files
    out_folder = tmp_path / "a" / "strip"
    code, out, err = run(model, "--data", data, "--labels", labels, "--out", out_folder)
    assert (code, err) == (0, "")
    assert "cone score 0.661" in out and "to a point" in out and "film_strip.png" in out
    assert sorted(path.name for path in out_folder.iterdir()) == FILES
    assert (out_folder / "film_strip.png").read_bytes().startswith(b"\x89PNG")
    X, y = blobs_data()
    truncation = pf.layers.truncation(blobs())
    names = np.array(["top", "left", "right"])[y]
    with (out_folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = truncation.interpret(X, names).table()
    assert len(rows) == len(expected) == 9
    for row, truth in zip(rows, expected, strict=True):
        assert row["class"] == truth["class"] and row["at_a_point"] == str(truth["at_a_point"])
        assert float(row["spread_after"]) == truth["spread_after"]
    with (out_folder / "states.csv").open(newline="") as file:
        states = list(csv.DictReader(file))
    assert len(states) == 4 * 180
    last = np.array([[float(row["x0"]), float(row["x1"])] for row in states if row["truncations"] == "3"])
    assert np.array_equal(last, truncation.states(X)[3])


def test_json_says_what_python_says(run, files, tmp_path, monkeypatch):
    model, data, _ = files
    monkeypatch.chdir(tmp_path)
    code, out, err = run(model, "--data", data, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    facts = json.loads(out)
    X, _ = blobs_data()
    seen = pf.layers.truncation(blobs()).interpret(X)
    assert facts["holds"] is True and facts["labels"] is None and facts["classes"] == [0, 1, 2]
    assert facts["table"] == json.loads(json.dumps(seen.table()))
    assert [layer["cone_score"] for layer in facts["layers"]] == seen.layer_score.tolist()
    assert [Path(name).name for name in facts["files"]] == ["film_strip.png", "table.csv", "states.csv", "table.json"]
    kept = json.loads((tmp_path / "truncation" / "table.json").read_text())
    assert kept == {name: value for name, value in facts.items() if name != "files"}


def test_a_note_where_floats_do_not_suffice(run, files, tmp_path):
    thin = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-50]])
    pf.load([(thin, np.array([0.5, -0.25])), (np.eye(2), np.zeros(2))]).save_onnx(tmp_path / "thin.onnx")
    arguments = (tmp_path / "thin.onnx", "--data", files[1], "--out", tmp_path / "out", "--json")
    code, out, err = run(*arguments)
    assert code == 0 and err.startswith("note: the weights up to 'relu1'") and err.count("\n") == 1
    assert json.loads(out)["layers"][0]["floats_suffice"] is False
    code, out, err = run(*arguments, "--exact")
    facts = json.loads(out)
    assert (code, err) == (0, "") and facts["exact"] is True and facts["layers"][0]["residual"] == 0.0


def test_whole_numbers_are_ordered_as_numbers(run, files, tmp_path):
    labels = tmp_path / "numbers.csv"
    labels.write_text("\n".join(str([10, 9, -2][k]) for k in blobs_data()[1]))
    _, out, _ = run(files[0], "--data", files[1], "--labels", labels, "--out", tmp_path / "out", "--json")
    assert json.loads(out)["classes"] == [-2, 9, 10]


def test_a_network_without_hidden_layers(run, files, tmp_path):
    pf.load([(np.eye(2), np.zeros(2))]).save_onnx(tmp_path / "linear.onnx")
    code, out, _ = run(tmp_path / "linear.onnx", "--data", files[1], "--out", tmp_path / "out", "--json")
    facts = json.loads(out)
    assert code == 0 and (facts["holds"], facts["layers"], facts["table"]) == (True, [], [])
    assert (tmp_path / "out" / "film_strip.png").exists()


def test_bundled_networks_lifting_and_no_picture(run, tmp_path, monkeypatch):
    """Without matplotlib the tables can still be had."""
    data = tmp_path / "petals.csv"
    data.write_text("length,width\n" + "\n".join(f"{a},{b}" for a, b in iris_test()[0].tolist()))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out_folder = tmp_path / "out"
    arguments = ("iris", "--data", data, "--lift", "--out", out_folder)
    code, out, _ = run(*arguments, "--no-picture", "--json")
    facts = json.loads(out)
    assert code == 0 and (facts["dim"], facts["lifted"], facts["holds"]) == (5, True, False)
    assert [layer["proposition_proved"] for layer in facts["layers"]] == [True, False, False]
    assert sorted(path.name for path in out_folder.iterdir()) == FILES[1:]
    code, _, err = run(*arguments)
    assert code == 2 and "needs the package 'matplotlib'" in err and "--no-picture" in err


def test_what_is_wrong_is_said_in_one_line(refused, files, tmp_path):
    model, data, labels = files
    out = ("--out", tmp_path / "out")
    assert "takes 2 numbers" in refused("iris", "--data", labels, *out)
    assert "cannot be read" in refused(model, "--data", tmp_path / "none.csv", *out)
    few = tmp_path / "few.csv"
    few.write_text("a\nb\n")
    assert "has 2 labels, and there are 180 points" in refused(model, "--data", data, "--labels", few, *out)
    assert "line 1 of" in refused(model, "--data", data, "--labels", data, *out)
    assert "cannot be read" in refused(model, "--data", data, "--labels", tmp_path / "none.csv", *out)
    assert "is not a folder" in refused(model, "--data", data, "--out", few)
    assert "'relu1' has 2 gates for 2 inputs" in refused(model, "--data", data, "--lift", *out)


def test_networks_that_are_no_chains(refused, files, tmp_path):
    torch = pytest.importorskip("torch")
    nn = torch.nn
    leaky = nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU(), nn.Linear(2, 1))
    pf.load(leaky).save_onnx(tmp_path / "leaky.onnx")
    said = refused(tmp_path / "leaky.onnx", "--data", files[1], "--out", tmp_path / "out")
    assert "chains of dense layers" in said and "slopes are 1 and 0.01" in said


def test_a_failed_picture_leaves_nothing_half_written(run, files, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fails)
    out = tmp_path / "out"
    code, _, err = run(files[0], "--data", files[1], "--out", out)
    assert code == 2 and "No space left" in err
    assert list(out.iterdir()) == []
