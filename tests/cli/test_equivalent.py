"""polyfold equivalent: exit codes, JSON, and one line for whatever is wrong."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from polyfold.cli import equivalent as cli

onnx = pytest.importorskip("onnx")

GATES = [[1.0], [-1.0]]


def write(path: Path, gates=GATES, weights=((1.0,), (1.0,)), outputs: int = 1) -> Path:
    """x -> V relu(W x), |x| unless told otherwise."""
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> net (float[1,1] x) => (float[1,{outputs}] y) '
        "{ h = MatMul(x, W) r = Relu(h) y = MatMul(r, V) }"
    )
    model = onnx.parser.parse_model(text)
    for name, numbers in (("W", np.transpose(gates)), ("V", weights)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(numbers, dtype=np.float32), name))
    path.write_bytes(model.SerializeToString())
    return path


def strictly(text: str) -> dict[str, object]:
    """JSON without NaN and Infinity, which few readers know."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def run(run):
    """Runs `polyfold equivalent ARGUMENTS`."""
    return partial(run, "equivalent")


@pytest.fixture
def absolute(tmp_path) -> Path:
    return write(tmp_path / "absolute.onnx")


@pytest.fixture
def rescaled(tmp_path) -> Path:
    return write(tmp_path / "rescaled.onnx", [[-4.0], [2.0]], ((0.25,), (0.5,)))


@pytest.fixture
def steeper(tmp_path) -> Path:
    return write(tmp_path / "steeper.onnx", GATES, ((1.0,), (1.5,)))


def test_equal(run, absolute, rescaled):
    code, out, err = run(absolute, rescaled, "--json")
    facts = strictly(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert (facts["word"], facts["max_difference"], facts["point"]) == ("equal", 0.0, None)
    assert facts["certificate"] == "certified" and facts["a"] == str(absolute)


def test_different(run, absolute, steeper):
    code, out, _ = run(absolute, steeper, "--box", -2, 1, "--json")
    facts = strictly(out)
    assert code == 1
    assert (facts["word"], facts["max_difference"], facts["point"]) == ("different", 1.0, [-2.0])
    assert facts["max_difference_is_exact"] and facts["bounds"] == {"lower": 1.0, "upper": 1.0}
    code, out, _ = run(absolute, steeper, "--json")
    assert (code, strictly(out)["max_difference"]) == (1, "infinity")


def test_tolerance(run, absolute, steeper):
    assert run(absolute, steeper, "--box", -2, 1, "--tolerance", 1)[0] == 0
    assert run(absolute, steeper, "--box", -2, 1, "--tolerance", 0.99)[0] == 1


def test_box_files(run, absolute, steeper, tmp_path):
    box = tmp_path / "box.csv"
    box.write_text("0,1\n")
    assert run(absolute, steeper, "--box-file", box)[0] == 0


def test_for_people(run, absolute, steeper):
    code, out, _ = run(absolute, steeper, "--box", -2, 1)
    assert code == 1 and "DIFFERENT" in out and "1 exactly" in out and "-2" in out


def test_unknown_has_an_exit_code_of_its_own(run, tmp_path):
    """The largest of three numbers, in two orders: the same function, but one cell is not enough to see it."""
    pytest.importorskip("torch")
    import torch

    class Larger(torch.nn.Module):
        def __init__(self, order):
            super().__init__()
            self.order = order

        def forward(self, x):
            i, j, k = self.order
            return torch.maximum(torch.maximum(x[:, i], x[:, j]), x[:, k])

    paths = []
    for name, order in (("one", (0, 1, 2)), ("two", (1, 2, 0))):
        exported = torch.export.export(Larger(order), (torch.zeros(1, 3),))
        paths.append(tmp_path / f"{name}.pt2")
        torch.export.save(exported, paths[-1])
    code, out, _ = run(*paths, "--max-cells", 1, "--json")
    facts = strictly(out)
    assert (code, facts["word"], facts["stopped_by"]) == (3, "unknown", "max_cells")
    assert run(*paths)[0] == 0


def test_bad_input(run, absolute, tmp_path):
    two = write(tmp_path / "two.onnx", GATES, ((1.0, 1.0), (1.0, 1.0)), 2)
    for arguments, words in (
        ((absolute, two), "gives 1 output"),
        ((absolute, tmp_path / "nowhere.onnx"), "nowhere.onnx"),
        ((absolute, absolute, "--tolerance", -1), "tolerance=-1.0"),
        ((absolute, absolute, "--box", 1, -1), "the box is empty"),
        ((absolute, absolute, "--max-seconds", 0), "max_seconds=0"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("error: ") and err.count("\n") == 1 and words in err


def test_a_fault_of_ours_is_not_a_verdict(run, absolute, monkeypatch):
    """Exit code 1 would say that the networks differ."""

    def broken(*arguments: object, **options: object) -> None:
        raise OverflowError("integer division\nresult [too] large for a float")

    monkeypatch.setattr(cli, "compare_networks", broken)
    code, out, err = run(absolute, absolute)
    assert (code, out, err.count("\n")) == (70, "", 1)
    assert "OverflowError: integer division result [too] large for a float" in err and "please report it" in err
