"""polyfold reduce: a smaller network in a file, what is said about it, and one line for whatever is wrong."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf

pytest.importorskip("onnx")

# |x| by four neurons of which one is a multiple, one is never active on [-1, 1], and two are needed. The weight of 3 is
# none that turning a neuron round could make use of, which would save one everywhere.
LAYERS = [([[1.0], [-1.0], [2.0], [1.0]], [0.0, 0.0, 0.0, -4.0]), ([[0.5, 1.0, 0.25, 3.0]], [0.0])]


@pytest.fixture
def run(run):
    """Runs `polyfold reduce ARGUMENTS`."""
    return partial(run, "reduce")


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "absolute.onnx"
    pf.load(LAYERS).save_onnx(path, dtype=np.float32)
    return path


@pytest.mark.parametrize("ending", [".onnx", ".pt2"])
def test_what_is_written_is_the_same_function(run, model, tmp_path, ending):
    if ending == ".pt2":
        pytest.importorskip("torch")
    out = tmp_path / f"smaller{ending}"
    code, said, err = run(model, "--box", -1, 1, "--out", out, "--json")
    facts = json.loads(said)
    assert (code, err) == (0, "")
    assert (facts["neurons_before"], facts["neurons_after"]) == (4, 2)
    assert facts["proved"] is True and facts["exact"] is True and facts["difference"] == 0
    assert facts["removed"] == {"proportional": 1, "never active": 1}
    assert (facts["layers_before"], facts["layers_after"], facts["undecided"]) == ([4], [2], [])
    assert all(step["reason"] and step["proof"] for step in facts["steps"])
    assert pf.equivalent(pf.load(model), pf.load(out), pf.box(-1, 1))
    assert pf.equivalent(pf.load(model), pf.load(out)).word == "different"


def test_everywhere_less_can_go(run, model):
    code, said, _ = run(model, "--json")
    facts = json.loads(said)
    assert (code, facts["neurons_after"], facts["removed"]) == (0, 3, {"proportional": 1})


def test_names_and_float32_are_kept(run, model, tmp_path):
    import onnx

    out = tmp_path / "smaller.onnx"
    run(model, "--box", -1, 1, "--out", out)
    written = onnx.load(out)
    assert [node.name for node in written.graph.node] == ["linear1", "relu1", "linear2"]
    assert [port.name for port in written.graph.input] == ["input"]
    assert {tensor.data_type for tensor in written.graph.initializer} == {onnx.TensorProto.FLOAT}


def test_for_people(run, model, tmp_path):
    out = tmp_path / "smaller.onnx"
    code, said, _ = run(model, "--box", -1, 1, "--out", out)
    assert code == 0
    for words in ("neurons before", "the same function, exactly, proved", "never active", "proportional", out.name):
        assert words in said


def test_rounding_never(run, tmp_path):
    thirds = [([[1.0], [2.0]], [0.0, 0.0]), ([[0.1, 0.3]], [0.0])]
    model = tmp_path / "thirds.onnx"
    pf.load(thirds).save_onnx(model)
    assert json.loads(run(model, "--json")[1])["neurons_after"] == 1
    assert json.loads(run(model, "--rounding", "never", "--json")[1])["neurons_after"] == 2


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["MODEL", "--out", "smaller.txt"], "must end in .onnx or .pt2"),
        (["MODEL", "--out", "nowhere/smaller.onnx"], "there is no folder"),
        (["MODEL", "--rounding", "sometimes"], "rounding='sometimes' must be 'nearest' or 'never'"),
        (["MODEL", "--box", "1", "-1"], "the box is empty"),
        (["MODEL", "--max-seconds", "-1"], "leaves no time"),
        (["missing.onnx"], "missing.onnx"),
    ],
)
def test_bad_input(run, model, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*(model if word == "MODEL" else word for word in arguments))
    assert (code, out) == (2, "") and words in " ".join(err.split()) and "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == [model.name]
