"""polyfold explain: what it prints and writes, that it adds up, and one line for whatever is wrong with the files."""

from __future__ import annotations

import csv
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from polyfold.datasets import iris, iris_test, read

onnx = pytest.importorskip("onnx")
NAMES = list(read("iris").inputs)
PETALS = iris_test()[0][:6]


def write(path: Path, rows: object, names: list[str] | None = None) -> Path:
    lines = [] if names is None else [",".join(names)]
    path.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in np.asarray(rows).tolist())]) + "\n")
    return path


@pytest.fixture
def data(tmp_path) -> Path:
    return write(tmp_path / "petals.csv", PETALS, NAMES)


@pytest.fixture
def background(tmp_path) -> Path:
    return write(tmp_path / "background.csv", iris_test()[0], NAMES)


@pytest.fixture
def run(run):
    """Runs `polyfold explain ARGUMENTS`."""
    return partial(run, "explain")


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


def adds_up(facts: dict) -> bool:
    network = pf.load(iris())
    for row in facts["rows"]:
        values = np.array(row["values"])
        assert values.shape == (2, 3)
        np.testing.assert_allclose(values.sum(axis=0) + row["base_values"], row["outputs"], atol=1e-12)
        np.testing.assert_allclose(network([row["x"]])[0], row["outputs"], atol=1e-12)
    return bool(facts["rows"])


# -- what it says


@pytest.mark.parametrize(
    ("scope", "options"),
    [
        ("cell", ["--background", "uniform"]),
        ("cell", ["--background", "uniform", "--box", 0, 8]),
        ("region", ["--background", "uniform", "--box", 0, 8]),
        ("interventional", []),
    ],
)
def test_json_adds_up(run, data, scope, options):
    code, out, err = run("iris", "--data", data, "--scope", scope, *options, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    facts = json.loads(out)
    assert (facts["scope"], facts["exact"], facts["features"]) == (scope, True, NAMES)
    assert facts["outputs"] == list(read("iris").outputs)
    assert [row["x"] for row in facts["rows"]] == PETALS.tolist()
    assert adds_up(facts) and facts["largest_gap"] < 1e-12
    assert all(("cell" in row) == (scope in ("cell", "region")) for row in facts["rows"])
    assert all((row.get("region") is not None) == (scope == "region") for row in facts["rows"])


def test_it_says_what_python_says(run, data, background):
    _, out, _ = run("iris", "--data", data, "--background", background, "--json")
    expected = pf.explain.shapley(iris(), PETALS, background=iris_test()[0])
    rows = json.loads(out)["rows"]
    np.testing.assert_allclose([row["values"] for row in rows], expected.values, rtol=0, atol=0)
    np.testing.assert_allclose([row["base_values"] for row in rows], expected.base_values, rtol=0, atol=0)
    _, out, _ = run("iris", "--data", data, "--background", background, "--scope", "cell", "--json")
    expected = pf.explain.shapley(iris(), PETALS, background=iris_test()[0], scope="cell")
    rows = json.loads(out)["rows"]
    np.testing.assert_allclose([row["values"] for row in rows], expected.values, rtol=0, atol=0)
    assert [row["cell"] for row in rows] == expected.cells.tolist()
    _, out, _ = run("iris", "--data", data, "--box", 0, 8, "--scope", "cell", "--background", "uniform", "--json")
    atlas = pf.unfold(iris(), pf.box(0, 8))
    assert [row["cell"] for row in json.loads(out)["rows"]] == atlas.locate(PETALS).tolist()


def test_the_data_is_its_own_background(run, refused, tmp_path):
    """Within cells a row is left out of its own background; one that is alone there is refused."""
    data = write(tmp_path / "x.csv", [[1.4, 0.2], [1.5, 0.3], [5.0, 1.5]])
    code, out, err = run("iris", "--data", data, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "") and adds_up(facts) and facts["values"] == "SHAP"
    assert all(np.any(row["values"]) for row in facts["rows"])
    assert "nothing to compare with" in refused("iris", "--data", data, "--scope", "cell")
    code, out, err = run("iris", "--data", data, "--scope", "cell", "--empty", "all", "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "") and adds_up(facts) and "not SHAP" in facts["values"]
    assert [row["background_points"] for row in facts["rows"]] == [1, 1, 0]
    assert [row["continued_beyond_the_cell"] for row in facts["rows"]] == [False, False, True]


def test_baseline_takes_one_reference(run, data, tmp_path, refused):
    one = write(tmp_path / "one.csv", [[3.0, 1.0]])
    code, out, _ = run("iris", "--data", data, "--scope", "baseline", "--background", one, "--json")
    facts = json.loads(out)
    assert code == 0 and adds_up(facts)
    np.testing.assert_allclose(facts["rows"][0]["base_values"], pf.load(iris())([[3.0, 1.0]])[0], atol=1e-12)
    assert "--scope baseline compares with one input" in refused("iris", "--data", data, "--scope", "baseline")
    assert "takes one reference" in refused("iris", "--data", data, "--scope", "baseline", "--background", data)


def test_for_people(run, data, background):
    code, out, err = run("iris", "--data", data, "--background", background)
    assert (code, err) == (0, "")
    assert out.startswith("Shapley: 6 inputs, 2 features, 3 outputs, scope 'interventional'")
    assert out.count("base value") == out.count("sum = output") == 6
    table = out[out.index("row 0") :].splitlines()
    numbers = {line[:17].strip(): [float(x) for x in line[17:].split()] for line in table[2:6]}
    assert numbers[NAMES[0]][0] == PETALS[0, 0]
    for k in range(3):
        total = numbers["base value"][k] + sum(numbers[name][1 + k] for name in NAMES)
        assert total == pytest.approx(numbers["sum = output"][k], abs=1e-4)
    code, out, err = run("iris", "--data", data, "--background", background, "--scope", "cell")
    assert (code, err) == (0, "") and "row 0, cell" in out
    assert out.startswith("LocalShapley: 6 inputs, 2 features, 3 outputs, of the affine model of each cell (not SHAP")


def test_many_rows_and_features_are_cut_short_and_say_so(run, tmp_path):
    rng = np.random.default_rng(0)
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> net (float[1,20] x) => (float[1,9] score)'
        "{ h = MatMul(x, W) r = Relu(h) score = MatMul(r, V) }"
    )
    for name, shape in (("W", (20, 4)), ("V", (4, 9))):
        weight = rng.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, name))
    path = tmp_path / "wide.onnx"
    path.write_bytes(model.SerializeToString())
    data = write(tmp_path / "many.csv", rng.normal(size=(25, 20)))
    local = (path, "--data", data, "--scope", "cell", "--empty", "all")
    code, out, _ = run(*local)
    assert code == 0
    assert "8 other features" in out and "6 outputs more in --json" in out and "and 5 rows more" in out
    assert "score[0]" in out and "x19" in out
    _, out, _ = run(*local, "--json")
    facts = json.loads(out)
    assert len(facts["rows"]) == 25 and np.array(facts["rows"][0]["values"]).shape == (20, 9)
    assert facts["features"][:2] == ["x0", "x1"] and facts["outputs"][-1] == "score[8]"


def test_estimates_say_so(run, data):
    code, out, _ = run("iris", "--data", data, "--scope", "interventional", "--estimate", 4, "--json")
    facts = json.loads(out)
    assert code == 0 and adds_up(facts)
    assert facts["exact"] or all("errors" in row for row in facts["rows"])


# -- files


def test_csv_file(run, data, tmp_path):
    uniform = ("--scope", "cell", "--background", "uniform", "--box", 0, 8)
    code, out, _ = run("iris", "--data", data, *uniform, "--out", tmp_path / "e.csv")
    assert code == 0 and "written to" in out
    with (tmp_path / "e.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 3
    assert list(rows[0]) == ["row", "output", "cell", "base_value", *NAMES, "output_value"]
    atlas = pf.unfold(iris(), pf.box(0, 8))
    expected = pf.explain.shapley(atlas, PETALS, background="uniform", scope="cell")
    for number, row in enumerate(rows):
        i, k = divmod(number, 3)
        assert (row["row"], row["output"]) == (str(i), read("iris").outputs[k])
        assert [float(row[name]) for name in NAMES] == expected.values[i, :, k].tolist()
        assert float(row["base_value"]) == expected.base_values[i, k]
        assert int(row["cell"]) == expected.cells[i]


def test_json_file_is_what_is_printed(run, data, tmp_path):
    code, out, _ = run("iris", "--data", data, "--json", "--out", tmp_path / "e.json")
    assert code == 0
    assert json.loads((tmp_path / "e.json").read_text()) == json.loads(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.json", "petals.csv"]


def test_a_file_that_is_there_is_replaced_only_by_a_whole_one(run, refused, data, tmp_path):
    target = tmp_path / "e.csv"
    target.write_text("mine")
    bad = write(tmp_path / "bad.csv", [[1.0, 2.0, 3.0]])
    refused("iris", "--data", bad, "--out", target)
    assert target.read_text() == "mine"
    assert run("iris", "--data", data, "--out", target)[0] == 0
    assert target.read_text().startswith("row,output,base_value")


def test_places_that_cannot_be_written(refused, data, tmp_path):
    assert "must end in .csv or .json" in refused("iris", "--data", data, "--out", tmp_path / "e.txt")
    assert "there is no folder" in refused("iris", "--data", data, "--out", tmp_path / "no" / "e.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "it is a folder" in refused("iris", "--data", data, "--out", tmp_path / "folder.csv")
    if os.geteuid():
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        assert "permission denied" in refused("iris", "--data", data, "--out", closed / "e.csv")


# -- files that are wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no points: it needs a line of 2 numbers for each"),
        ("a,b\n", "holds no points"),
        ("1,2\n3\n", "line 2 of '{path}' has 1 value (3), and the network takes 2 numbers"),
        ("1,2,3\n", "line 1 of '{path}' has 3 values (1,2,3), and the network takes 2 numbers"),
        ("1,2\n\n3,x\n", "line 3, column 2 of '{path}' is not a number: 'x'"),
        ("length,width\n1,2\n3,\n", "line 3, column 2 (width) of '{path}' is not a number: ''"),
        ("length,width\n1,2\nnan,1\n", "line 3, column 1 (length) of '{path}' is 'nan': it must be a finite number"),
        ("1,inf\n", "line 1, column 2 of '{path}' is 'inf'"),
        ("length,width,species\n1,2,rose\n", "has 3 columns (length, width, species), and the network takes 2 numbers"),
        ("a,a\n1,2\n", "names its columns 'a', 'a': names must differ"),
        ("1;2\n3;4\n", "has 1 column (1;2)"),
        ("1,two\n3,4\n", "line 1, column 2 of '{path}' is not a number: 'two'"),
    ],
)
def test_bad_csv(refused, tmp_path, text, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert said.format(path=path) in refused("iris", "--data", path)


def test_csv_that_other_programs_write(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbf"petal, length",width\r\n 1.5 , 2e-1\r\n\r\n')
    code, out, _ = run("iris", "--data", path, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["features"] == ["petal, length", "width"] and facts["rows"][0]["x"] == [1.5, 0.2]


def test_unreadable_files(refused, tmp_path):
    assert "cannot be read as a CSV file: No such file" in refused("iris", "--data", tmp_path / "none.csv")
    assert "cannot be read as a CSV file" in refused("iris", "--data", tmp_path)
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    assert "cannot be read as a CSV file" in refused("iris", "--data", path)


def test_options_that_do_not_fit(refused, data, tmp_path):
    assert "--scope must be interventional, baseline, cell or region, got cells" in refused(
        "iris", "--data", data, "--scope", "cells"
    )
    whole = ("iris", "--data", data, "--scope", "interventional")
    assert "--box and --box-file are for cell and region" in refused(*whole, "--box", 0, 8)
    assert "--background uniform is for scopes cell and region" in refused(*whole, "--background", "uniform")
    assert "--empty is for scopes cell and region" in refused(*whole, "--empty", "all")
    assert "unfolds nothing here" in refused(*whole, "--max-seconds", 5)
    assert "--estimate is for scopes baseline" in refused("iris", "--data", data, "--scope", "cell", "--estimate", 5)
    assert "empty must be one of" in refused("iris", "--data", data, "--scope", "cell", "--empty", "none")
    other = write(tmp_path / "other.csv", PETALS, NAMES[::-1])
    assert "they must be the same, in the same order" in refused("iris", "--data", data, "--background", other)


def test_points_outside_the_box_and_cells_without_background(refused, run, data, tmp_path):
    cell = ("--scope", "cell")
    assert "input 0, [3.9, 1.2], lies outside" in refused("iris", "--data", data, *cell, "--box", 0, 1)
    far = write(tmp_path / "far.csv", [[-50.0, -50.0]], NAMES)
    options = ("iris", "--data", data, *cell, "--background", far)
    assert "no other background point lies in the cell of input 0" in refused(*options)
    code, out, _ = run(*options, "--empty", "all", "--json")
    assert code == 0 and all(row["continued_beyond_the_cell"] for row in json.loads(out)["rows"])
    assert "unbounded" in refused("iris", "--data", far, *cell, "--background", "uniform")


def test_a_limit_ends_with_3_and_nothing_is_written(run, data, tmp_path):
    code, out, err = run("iris", "--data", data, "--scope", "region", "--max-cells", 3, "--out", tmp_path / "e.csv")
    assert (code, out) == (3, "")
    assert "stopped by max_cells after 3 cells" in err
    assert not (tmp_path / "e.csv").exists()
