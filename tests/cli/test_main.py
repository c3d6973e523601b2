"""The command line: what it prints and writes, its exit codes, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MODELS
from polyfold._core import instructions
from polyfold.datasets import iris

onnx = pytest.importorskip("onnx")
pytest.importorskip("pyarrow")

FIELDS = {
    "cells": int,
    "regions": int,
    "gates": int,
    "dim": int,
    "outputs": int,
    "bounded_cells": int,
    "facets": int,
    "f_vector": (list, type(None)),
    "complete": bool,
    "certificate": str,
    "seconds": float,
}
WEIGHTS = {"W": np.eye(2), "b": [0.0, 0.0], "V": [[1.0], [1.0]], "c": [0.0]}
BODY = "h = Gemm(x, W, b) r = Relu(h) y = Gemm(r, V, c)"


def write_model(path: Path, body: str = BODY, **changed: object) -> Path:
    text = f'<ir_version: 8, opset_import: ["": 17]> net (float[1,2] x) => (float[1,1] y) {{ {body} }}'
    model = onnx.parser.parse_model(text)
    for name, numbers in {**WEIGHTS, **changed}.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(numbers, dtype=np.float32), name))
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def refused(run, tmp_path):
    """Runs what must be refused: exit code 2, one line, no traceback, nothing written; returns the line."""

    def call(*arguments: object, command: str = "unfold") -> str:
        before = sorted(str(path) for path in tmp_path.rglob("*"))
        code, out, err = run(command, *arguments)
        assert code == 2, err
        assert out == ""
        assert err.count("\n") == 1 and err.startswith("error: ")
        assert "Traceback" not in err
        assert sorted(str(path) for path in tmp_path.rglob("*")) == before
        return err

    return call


@pytest.fixture
def model(tmp_path) -> Path:
    return write_model(tmp_path / "corner.onnx")


# -- what it prints and writes


def test_json_is_one_object_with_the_promised_fields(run, model):
    code, out, err = run("unfold", model, "--box", -1, 1, "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert out.count("\n") == 1
    assert all(isinstance(facts[name], kind) for name, kind in FIELDS.items())
    assert (facts["cells"], facts["regions"], facts["gates"], facts["dim"], facts["outputs"]) == (4, 4, 2, 2, 1)
    assert (facts["bounded_cells"], facts["facets"], facts["complete"]) == (4, 4, True)
    assert facts["certificate"] == "checked"
    assert facts["f_vector"] == [9, 12, 4]
    assert facts["seconds"] >= 0


def test_certify(run, model, tmp_path):
    code, out, err = run("unfold", model, "--certify", "--json", "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert json.loads(out)["certificate"] == "certified"
    assert pf.open(tmp_path / "out" / "atlas.parquet").certificate.level == "certified"
    code, out, _ = run("unfold", model, "--certify", "--json", "--max-cells", 2)
    assert (code, json.loads(out)["certificate"]) == (3, "counted")


def test_on_the_whole_space_and_on_a_bundled_network(run):
    code, out, _ = run("unfold", "iris", "--json")
    facts, atlas = json.loads(out), pf.unfold(iris())
    assert code == 0
    assert (facts["cells"], facts["facets"]) == (len(atlas), atlas.inner_facets)
    assert facts["regions"] == len(pf.regions(atlas))
    assert facts["bounded_cells"] == int(atlas.bounded.sum()) < facts["cells"]


def test_for_people(run, model):
    code, out, err = run("unfold", model, "--box", -1, 1)
    assert (code, err) == (0, "")
    assert "4 (4 bounded)" in out
    assert "linear regions" in out
    assert "checked, complete" in out
    assert "facets pair up" in out


def test_info(run, model):
    code, out, err = run("info", model)
    assert (code, err) == (0, "")
    assert "2 in 1 stage of" in out and "Rectify" in out
    code, out, err = run("info", model, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert (facts["gates"], facts["input_dim"], facts["output_dim"]) == (2, 2, 1)
    assert [node["op"] for node in facts["nodes"]] == ["Linear", "Rectify", "Linear"]


def test_info_plans(run):
    code, out, err = run("info", "iris", "--box", 0, 8, "--max-seconds", 30)
    cells = len(pf.unfold(iris(), pf.box(0, 8)))
    assert (code, err) == (0, "") and f"all {cells:,} cells were found" in out
    assert "Serra 2018" in out and "at most 5,104" in out
    code, out, err = run("info", "iris", "--box", 0, 8, "--max-seconds", 30, "--json")
    facts = json.loads(out)
    assert code == 0 and facts["estimate"]["exact"] and facts["estimate"]["cells"] == cells
    assert facts["bounds"]["upper"] == 5104 == pf.size.bounds(iris()).upper
    code, out, err = run("info", "iris", "--max-seconds", 0, "--json")
    assert code == 0 and json.loads(out)["estimate"] is None
    code, out, err = run("info", "iris", "--max-seconds", -1)
    assert code == 2 and "--max-seconds -1" in err and len(err.splitlines()) == 1


def test_info_estimates_what_it_cannot_find_in_time(run, tmp_path):
    rng = np.random.default_rng(0)
    changed = {"W": rng.normal(size=(2, 9000)), "b": rng.normal(size=9000), "V": np.ones((9000, 1))}
    model = write_model(tmp_path / "wide.onnx", **changed)
    code, out, err = run("info", model, "--box", -3, 3, "--max-seconds", 0.5)
    assert (code, err) == (0, "") and "did not come to its end" in out
    assert "standard errors" in out or "give more" in out
    code, out, err = run("info", model, "--max-seconds", 0.2, "--json")
    estimate = json.loads(out)["estimate"]
    assert code == 0 and estimate["cells"] is None and "boxes" in estimate["reason"] and estimate["least"] > 0


def test_an_output_folder_is_made_and_filled(run, model, tmp_path):
    out_folder = tmp_path / "new" / "folder"
    code, out, _ = run("unfold", model, "--box", -1, 1, "--out", out_folder, "--json")
    assert code == 0
    assert sorted(os.listdir(out_folder)) == ["atlas.parquet", "summary.json"]
    facts, summary = json.loads(out), json.loads((out_folder / "summary.json").read_text())
    assert facts.pop("atlas") == str(out_folder / "atlas.parquet")
    assert facts == summary
    assert len(pf.open(out_folder / "atlas.parquet")) == 4
    code, out, _ = run("unfold", model, "--out", out_folder)
    assert code == 0
    assert str(out_folder / "atlas.parquet") in out
    assert not pf.open(out_folder / "atlas.parquet").bounded.any()
    assert sorted(os.listdir(out_folder)) == ["atlas.parquet", "summary.json"]


@pytest.mark.parametrize(
    "text", ["-1,1\n0,2\n", "-1, 1\r\n0, 2\r\n", "\ufeff-1,1\n0,2", "\n-1.0,1e0\n\n0,2\n\n", '"-1","1"\n"0","2"\n']
)
def test_a_box_file_is_a_row_for_every_input(run, model, tmp_path, text):
    path = tmp_path / "box.csv"
    path.write_text(text, encoding="utf-8")
    code, out, _ = run("unfold", model, "--box-file", path, "--json")
    assert code == 0
    assert json.loads(out)["cells"] == 2
    expected = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box([-1, 0], [1, 2]))
    assert json.loads(out)["domain_digest"] == expected.certificate.domain_digest


def test_a_stopped_run_is_resumed(run, model, tmp_path):
    run("unfold", model, "--max-cells", 1, "--out", tmp_path / "out")
    code, out, err = run("resume", tmp_path / "out", "--max-cells", 1, "--json", "--out", tmp_path / "more")
    facts = json.loads(out)
    assert (code, facts["cells"], facts["model"]) == (3, 2, str(model))
    assert err.endswith(f"polyfold resume {tmp_path / 'more'} goes on\n")
    code, out, err = run("resume", tmp_path / "more", "--certify", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert (facts["cells"], facts["complete"], facts["certificate"]) == (4, True, "certified")
    assert pf.open(tmp_path / "more" / "atlas.parquet").complete
    assert not pf.open(tmp_path / "out" / "atlas.parquet").complete


def test_there_is_nothing_to_resume(run, tmp_path):
    code, out, err = run("resume", tmp_path / "nothing")
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and "nothing" in err
    assert not (tmp_path / "nothing").exists()
    (tmp_path / "atlas.parquet").touch()
    code, out, err = run("resume", tmp_path / "atlas.parquet")
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and "is a file: give the folder" in err


def test_a_limit_has_its_own_exit_code(run, model, tmp_path):
    code, out, err = run("unfold", model, "--max-cells", 3, "--json", "--out", tmp_path / "out")
    facts = json.loads(out)
    assert code == 3
    assert (facts["cells"], facts["complete"], facts["certificate"]) == (3, False, "counted")
    folder = tmp_path / "out"
    assert err == f"incomplete: stopped by max_cells after 3 cells; there are more: polyfold resume {folder} goes on\n"
    assert not pf.open(folder / "atlas.parquet").complete
    code, out, _ = run("unfold", model, "--max-cells", 4, "--max-seconds", 60, "--threads", 2, "--json")
    assert code == 0
    assert json.loads(out)["complete"]


# -- what it refuses


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"hello", "neither an .onnx nor a .pt2 file"),
        ("text.onnx", b"this is no network", "not a readable ONNX file"),
        ("empty.onnx", b"", "is empty"),
        ("random.onnx", np.random.default_rng(0).bytes(4000), "not a readable ONNX file"),
        ("zeros.onnx", bytes(4000), "not a readable ONNX file"),
        ("weights.pt", b"PK", "weights"),
        ("model.h5", b"\x89HDF", "Keras"),
    ],
)
def test_files_that_are_no_network(refused, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    for command in ("unfold", "info"):
        line = refused(path, command=command)
        assert name in line and words in line


def test_a_network_cut_short_anywhere(run, model, tmp_path):
    """Some beginnings of a file are still a network of their own; none of them may end in a traceback."""
    content = model.read_bytes()
    path = tmp_path / "short.onnx"
    codes = []
    for length in range(1, len(content), 7):
        path.write_bytes(content[:length])
        code, _, err = run("info", path)
        assert "Traceback" not in err
        assert code == 0 or (code == 2 and err.startswith("error: ") and err.count("\n") == 1)
        codes.append(code)
    assert codes.count(2) > len(codes) * 0.8


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"b": [0.0, np.nan]}, "contains nan"),
        ({"W": [[np.inf, 0.0], [0.0, 1.0]]}, "contains inf"),
        ({"c": [-np.inf]}, "contains -inf"),
        ({"body": BODY.replace("Relu", "Sin")}, "(Sin) is not supported"),
        ({"body": BODY.replace("Relu", "Tanh")}, "(Tanh) is not supported"),
        ({"body": BODY.replace("Relu", "NoSuchOp")}, "NoSuchOp"),
        ({"W": np.eye(3), "b": np.zeros(3)}, "h"),
        ({"V": [[1.0], [1.0], [1.0]]}, "y"),
    ],
)
def test_networks_that_cannot_be_unfolded(refused, tmp_path, changed, words):
    path = write_model(tmp_path / "bad.onnx", **changed)
    line = refused(path, "--box", -1, 1, "--json", "--out", tmp_path / "out")
    assert "bad.onnx" in line and words in line


@pytest.mark.parametrize(
    ("box", "words"),
    [
        (("1", "-1"), "from 1.0 to -1.0"),
        (("1", "1"), "the box is flat"),
        (("nan", "1"), "NaN"),
        (("inf", "inf"), "empty"),
        (("0", "1e400"), "the bound 1e400 is larger than floats can be"),
        (("zero", "1"), "--box zero 1 must be two numbers LO HI"),
    ],
)
def test_empty_and_inverted_boxes(refused, model, tmp_path, box, words):
    assert words in refused(model, "--box", *box, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"-1,1\n", "in R^2 it needs (2,)"),
        (b"-1,1\n-1,1\n-1,1\n", "in R^2 it needs (2,)"),
        (b"lo,hi\n-1,1\n", "two numbers"),
        (b"-1;1\n-1;1\n", "two numbers"),
        (b"-1,1,0\n-1,1,0\n", "two numbers"),
        (b"-1,1\n-1,nan\n", "NaN"),
        (b"-1,1\n1,-1\n", "empty in dimension 1"),
        (b"-1,1\n-1e999,1\n", "the bound -1e999 is larger than floats can be"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b'"' + b"1" * 200_000, "cannot be read"),
    ],
)
def test_bad_box_files(refused, model, tmp_path, content, words):
    path = tmp_path / "box.csv"
    path.write_bytes(content)
    assert words in refused(model, "--box-file", path, "--out", tmp_path / "out")


def test_box_files_that_are_not_there(refused, model, tmp_path):
    assert "absent.csv" in refused(model, "--box-file", tmp_path / "absent.csv")
    assert "cannot be read" in refused(model, "--box-file", tmp_path)
    assert "exclude each other" in refused(model, "--box-file", tmp_path / "a", "--box", 0, 1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--max-cells", 0),
        ("--max-cells", -5),
        ("--max-cells", 10**12),
        ("--max-seconds", 0),
        ("--max-seconds", -1),
        ("--max-seconds", "nan"),
        ("--threads", 0),
        ("--threads", 10**9),
    ],
)
def test_limits_that_are_none(refused, model, tmp_path, option, value):
    assert option.strip("-").replace("-", "_") in refused(model, option, value, "--out", tmp_path / "out")


def test_folders_that_cannot_be_written(refused, model, tmp_path):
    """Below a regular file not even root can write."""
    for place in (model, model / "out", model / "deep" / "out"):
        assert "is not a folder" in refused(model, "--out", place)


def test_targets_that_cannot_be_replaced(run, model, tmp_path):
    for name in ("atlas.parquet", "summary.json"):
        folder = tmp_path / name[:3]
        (folder / name).mkdir(parents=True)
        code, out, err = run("unfold", model, "--out", folder)
        assert (code, out) == (2, "")
        assert err.startswith("error: cannot write to") and err.count("\n") == 1
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.shared("models")
def test_a_lyapunov_network_with_a_product(refused, tmp_path):
    line = refused(MODELS / "lsnc_quadrotor2d.onnx", "--json", "--out", tmp_path / "out")
    assert "lsnc_quadrotor2d.onnx" in line
    assert "Mul" in line


@pytest.mark.parametrize("arguments", [["--help"], ["unfold", "--help"], ["info", "--help"]])
def test_help(run, arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "Usage" in out


# -- as a program of its own


# The package under test, also where the working directory is another one.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(pf.__file__).parents[1])}


def program(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "polyfold", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=ENVIRONMENT,
        **options,
    )


def test_python_dash_m(tmp_path):
    done = program("unfold", "iris", "--box", "0", "8", "--json", "--out", "here", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["complete"]
    assert sorted(os.listdir(tmp_path / "here")) == ["atlas.parquet", "summary.json"]
    done = program("unfold", "iris", "--box", "8", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the box is empty") and done.stderr.count("\n") == 1


def test_ctrl_c_gives_what_there_is(tmp_path, interruptible):
    """The process says when it unfolds; then it is interrupted, and ends with code 3 and an incomplete atlas."""
    wide = tmp_path / "wide.npz"
    rng = np.random.default_rng(0)
    shapes = [(40, 6), (40, 40), (40, 40), (1, 40)]
    np.savez(
        wide, *[part for rows, columns in shapes for part in (rng.normal(size=(rows, columns)), rng.normal(size=rows))]
    )
    script = f"""
import sys
import numpy as np
from polyfold.network.read.arrays import from_arrays
from polyfold.cli import unfold as cli
from polyfold.cli.main import main

parts = list(np.load({str(wide)!r}).values())
cli.network_named = lambda *given: from_arrays(list(zip(parts[::2], parts[1::2])))
unfold = cli.unfold_network

def watched(*arguments, **options):
    def report(cells):
        print("working", file=sys.stderr, flush=True)

    return unfold(*arguments, **{{**options, "progress": report}})

cli.unfold_network = watched
sys.argv = ["polyfold", "unfold", "wide", "--box", "-1", "1", "--json", "--out", {str(tmp_path / "out")!r}]
main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 3, err
    facts = json.loads(out)
    assert (facts["complete"], facts["stopped_by"]) == (False, "interrupt")
    assert f"stopped by interrupt after {facts['cells']:,} cells; there are more: polyfold resume" in err
    assert len(pf.open(tmp_path / "out" / "atlas.parquet")) == facts["cells"]


def test_the_version(run) -> None:
    assert run("--version") == (0, f"polyfold {pf.__version__}\n", "")


def test_the_compiled_core(run) -> None:
    code, out, err = run("--core")
    assert (code, err) == (0, "")
    assert out.startswith(f"compiled core for {instructions}; this processor runs ") and out.count("\n") == 1


def test_seconds_that_are_no_number(run, model):
    code, out, err = run("info", model, "--max-seconds", "nan")
    assert (code, out) == (2, "") and "--max-seconds nan leaves no time" in err
