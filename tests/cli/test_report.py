"""polyfold report: a file that opens, and one line and no file for whatever is wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import polyfold as pf
from helpers.report_reading import Reading, rows

HAT = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
TWO = [([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -1.0]), ([[1.0, 0.0, 0.5], [0.0, 1.0, -0.5]], [0.0, 0.0])]


@pytest.fixture
def run(run):
    """Runs `polyfold report ARGUMENTS`."""
    return partial(run, "report")


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("onnx")
    path = tmp_path / "two.onnx"
    pf.load(TWO).save_onnx(path)
    return path


@pytest.fixture
def hat(tmp_path):
    pytest.importorskip("onnx")
    path = tmp_path / "hat.onnx"
    pf.load(HAT).save_onnx(path)
    return path


def written(folder, text):
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_bundled_network(run, tmp_path):
    out = tmp_path / "report.html"
    code, said, err = run("iris", "--box", 0, 8, "--out", out)
    assert (code, err) == (0, "") and str(out) in said
    reading = Reading(out.read_text(encoding="utf-8"))
    assert "58 of 60" in reading.words and "three species of iris" in reading.words and reading.loads() == []
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_data_with_names_and_labels(run, model, tmp_path):
    data = written(tmp_path, "height,width,kind\n0.1,0.9,flat\n0.9,0.2,steep\n0.8,0.1,steep\n")
    out = tmp_path / "report.html"
    assert run(model, "--data", data, "--output-names", "steep, flat", "--out", out)[0] == 0
    page = out.read_text(encoding="utf-8")
    assert rows(page, "The data, feature by feature.")[1:] == [
        ["height", "0.1", "0.8", "0.9"],
        ["width", "0.1", "0.2", "0.9"],
    ]
    words = Reading(page).words
    assert "were read from data.csv" in words and "read from the file two.onnx" in words
    assert "the network is right on 3 of 3" in words


def test_labels_by_numbers_without_a_heading(run, model, tmp_path):
    data = written(tmp_path, "0.1,0.9,1\n0.9,0.2,0\n0.8,0.1,1\n")
    out = tmp_path / "report.html"
    assert run(model, "--data", data, "--box", 0, 1, "--out", out)[0] == 0
    assert "the network is right on 2 of 3" in Reading(out.read_text(encoding="utf-8")).words


def test_true_outputs_of_a_quantity(run, hat, tmp_path):
    data = written(tmp_path, "0.5,0.5\n1.5,1.5\n")
    out = tmp_path / "report.html"
    assert run(hat, "--data", data, "--out", out)[0] == 0
    assert "off by 0.5 on average and by 1 at most" in Reading(out.read_text(encoding="utf-8")).words


def test_everywhere(run, hat, tmp_path):
    data = written(tmp_path, "0.5\n1.5\n")
    out = tmp_path / "report.html"
    assert run(hat, "--data", data, "--everywhere", "--out", out)[0] == 0
    assert "all inputs there are" in Reading(out.read_text(encoding="utf-8")).words


def test_a_box_file_with_other_names(run, model, tmp_path):
    box = tmp_path / "box.csv"
    box.write_text("0,1\n-2,2\n")
    out = tmp_path / "report.html"
    assert run(model, "--box-file", box, "--out", out)[0] == 0
    assert "x0 between 0 and 1 and x1 between −2 and 2" in Reading(out.read_text(encoding="utf-8")).words


BAD = {
    "no such model": (("nothing.onnx",), None, "nothing.onnx"),
    "no html": (("iris", "--out", "report.txt"), None, "must end in .html"),
    "no folder": (("iris", "--out", "nowhere/report.html"), None, "there is no folder 'nowhere'"),
    "empty box": (("iris", "--box", 1, 0), None, "empty"),
    "flat box": (("iris", "--box", 1, 1), None, "flat"),
    "two boxes": (("iris", "--box", 0, 1, "--everywhere"), None, "--everywhere means all inputs"),
    "no time": (("iris", "--box", 0, 8, "--max-seconds", 0), None, "leaves no time"),
    "no cells": (("iris", "--box", 0, 8, "--max-cells", 0), None, "max_cells"),
    "too few names": (("iris", "--box", 0, 8, "--output-names", "a,b"), None, "3 outputs and so 3 classes"),
    "same names": (("iris", "--box", 0, 8, "--output-names", "a,b,a"), None, "must differ"),
    "a word among numbers": (("iris", "--box", 0, 8), "1,2\n3,x,\n", "line 2 of"),
    "a wrong width": (("iris", "--box", 0, 8), "1,2,3,4\n", "takes 2 numbers"),
    "an unknown label": (("iris", "--box", 0, 8), "1,2,tulip\n", "label 'tulip' is none of the classes"),
    "an empty label": (("iris", "--box", 0, 8), "1,2,setosa\n3,1, \n", "line 2 of"),
    "no rows": (("iris", "--box", 0, 8), "length,width,kind\n", "holds no points"),
    "nan": (("iris", "--box", 0, 8), "1,nan\n", "must be a finite number"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_input_is_one_line_and_writes_nothing(run, tmp_path, monkeypatch, case):
    arguments, data, said = BAD[case]
    monkeypatch.chdir(tmp_path)
    before = ()
    if data is not None:
        before = (written(tmp_path, data).name,)
        arguments = (*arguments, "--data", "data.csv")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err and len(err.strip().splitlines()) == 1
    assert tuple(path.name for path in tmp_path.iterdir()) == before


def test_words_as_labels_of_one_output_need_names(run, hat, tmp_path):
    data = written(tmp_path, "0.5,low\n1.5,high\n")
    code, _, err = run(hat, "--data", data, "--out", tmp_path / "report.html")
    assert code == 2 and "label 'low' is not a number" in err and "--output-names" in err


def test_a_file_that_cannot_be_replaced_is_left_alone(tmp_path):
    target = tmp_path / "report.html"
    target.mkdir()
    with pytest.raises(pf.PolyfoldError, match="it is a folder"):
        pf.report(HAT, domain=pf.box(0, 1), out=target)
    assert list(tmp_path.iterdir()) == [target] and not list(target.iterdir())


def test_works_without_the_packages_for_plots(tmp_path):
    """`make run` installs neither plotly nor matplotlib."""
    import subprocess
    import sys

    heavy = ("plotly", "matplotlib", "torch", "onnx", "sklearn", "networkx", "shap", "imageio_ffmpeg", "starlette")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({heavy!r}));"
        f"sys.argv = ['polyfold', 'report', 'iris', '--box', '0', '8', '--out', {str(tmp_path / 'a.html')!r}];"
        "from polyfold.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Reading((tmp_path / "a.html").read_text(encoding="utf-8")).loads() == []


# -- pf.report


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"X": np.zeros((0, 1))}, "X has no rows"),
        ({"X": [[np.nan]]}, r"X\[0, 0\] is nan: every entry must be a finite number"),
        ({"X": [[1.0, 2.0]]}, "X must be rows of 1 number"),
        ({"X": [[1.0]], "y": [1.0, 2.0]}, "one label per row of X, which has 1 row"),
        ({"y": [1.0]}, "give X as well"),
        ({"feature_names": ["a", "b"]}, "1 feature"),
        ({"output_names": "ab"}, "output_names are: ab"),
        ({"domain": pf.line([0.0], [2.0])}, "not about a 1-dimensional slice"),
        ({"max_seconds": -1}, "leaves no time"),
    ],
)
def test_bad_arguments(options, said):
    with pytest.raises(pf.PolyfoldError, match=said):
        pf.report(HAT, **options)


def test_progress_says_what_is_done():
    said = []
    pf.report(HAT, domain=pf.box(0, 1), progress=said.append)
    steps = [event.what for event in said if event.what.startswith("steps")]
    assert steps[0] == "steps, now the list of all cells" and len(steps) == len(set(steps)) > 5


def test_a_data_frame_names_the_features():
    pandas = pytest.importorskip("pandas")
    found = pf.report(TWO, X=pandas.DataFrame({"one": [0.1, 0.9], "two": [0.9, 0.1]}))
    assert found.found.subject.features == ("one", "two")
    assert found._repr_html_().startswith("<iframe srcdoc=") and "0 things left out" in repr(found)
