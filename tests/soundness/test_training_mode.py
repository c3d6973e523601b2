"""A model in training mode is never silently read as in evaluation mode."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
torch: Any = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

import polyfold as pf
from polyfold.errors import NetworkError


def around(*layers: Any) -> Any:
    """The layers between two linear ones."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), *layers, nn.Linear(3, 1))


class Dropping(nn.Module):  # type: ignore[misc]
    """A dropout that is no layer."""

    def forward(self, x: Any) -> Any:
        return functional.dropout(x, 0.5, self.training)


DIFFERENT = {
    "Dropout": lambda: around(nn.ReLU(), nn.Dropout(0.2)),
    "AlphaDropout": lambda: around(nn.AlphaDropout(0.2)),
    "BatchNorm1d": lambda: around(nn.BatchNorm1d(3), nn.ReLU()),
    "RReLU": lambda: around(nn.RReLU()),
    "self.training": lambda: around(Dropping()),
}
THE_SAME = {
    "plain": lambda: around(nn.ReLU()),
    "dropout of nothing": lambda: around(nn.ReLU(), nn.Dropout(0.0)),
    "slopes without chance": lambda: around(nn.RReLU(0.25, 0.25)),
    "evaluation": lambda: around(nn.BatchNorm1d(3), nn.Dropout()).eval(),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_torch_modules_that_differ_say_so(name: str, caplog: pytest.LogCaptureFixture) -> None:
    module = DIFFERENT[name]()
    with caplog.at_level(logging.WARNING, logger="polyfold"):
        network = pf.load(module)
    (note,) = network.notes
    assert name in note and "training mode" in note and "evaluation mode" in note
    assert note in repr(network) and "training mode" in network._repr_html_()
    assert [record.getMessage() for record in caplog.records if record.name == "polyfold"] == [note]
    with pytest.raises(NetworkError, match=r"training mode.*strict=True"):
        pf.load(module, strict=True)
    # It is the function of the model in evaluation mode, and the model is as it was.
    assert module.training
    X = np.random.default_rng(0).normal(size=(20, 2))
    expected = module.double().eval()(torch.as_tensor(X)).detach().numpy()
    np.testing.assert_allclose(network(X), expected, rtol=1e-12, atol=1e-12)
    assert pf.load(module.eval(), strict=True).notes == ()


@pytest.mark.parametrize("name", THE_SAME)
def test_a_flag_without_effect_makes_no_note(name: str, caplog: pytest.LogCaptureFixture) -> None:
    assert pf.load(THE_SAME[name](), strict=True).notes == ()
    assert not [record for record in caplog.records if record.name == "polyfold"]


def test_one_layer_left_in_training_mode() -> None:
    module = around(nn.Dropout()).eval()
    module[1].train()
    assert "'1' (Dropout)" in pf.load(module).notes[0]


def test_reading_does_not_draw_random_numbers() -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    pf.load(around(Dropping()))
    torch.manual_seed(3)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(("layer", "op"), [(nn.Dropout(), "dropout"), (nn.BatchNorm1d(3), "batch_norm")])
def test_exported_programs(layer: Any, op: str, saved: bool, tmp_path: Any) -> None:
    module = around(layer, nn.ReLU()).double()
    program = torch.export.export(module.train(), (torch.zeros(7, 2, dtype=torch.float64),))
    if saved:
        torch.export.save(program, tmp_path / "model.pt2")
    network = pf.load(tmp_path / "model.pt2" if saved else program)
    assert f"({op})" in network.notes[0] and "training mode" in network.notes[0]
    X = np.random.default_rng(0).normal(size=(7, 2))
    expected = module.eval()(torch.as_tensor(X)).detach().numpy()
    np.testing.assert_allclose(network(X), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(NetworkError, match="strict=True"):
        pf.load(program, strict=True)


def onnx_model(nodes: list[Any], constants: dict[str, Any]) -> Any:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


DROPOUT = [
    helper.make_node("Dropout", ["x", "ratio", "mode"], ["d"], name="drop"),
    helper.make_node("Relu", ["d"], ["y"]),
]


def test_onnx_dropout() -> None:
    model = onnx_model(DROPOUT, {"ratio": np.float32(0.5), "mode": True})
    network = pf.load(model)
    assert "'drop' (Dropout)" in network.notes[0] and "at random" in network.notes[0]
    np.testing.assert_array_equal(network([[1.0, -2.0, 3.0]]), [[1.0, 0.0, 3.0]])
    assert len(model.graph.node[0].input) == 3
    with pytest.raises(NetworkError, match="strict=True"):
        pf.load(model, strict=True)
    for constants in ({"ratio": np.float32(0.0), "mode": True}, {"ratio": np.float32(0.5), "mode": False}):
        assert pf.load(onnx_model(DROPOUT, constants), strict=True).notes == ()


def test_onnx_batch_normalisation() -> None:
    ones = {name: np.ones(3, np.float32) for name in ("gamma", "beta", "mean", "variance")}
    node = helper.make_node("BatchNormalization", ["x", *ones], ["y", "m", "v"], name="norm", training_mode=1)
    network = pf.load(onnx_model([node], ones))
    assert "'norm' (BatchNormalization)" in network.notes[0]
    np.testing.assert_allclose(network([[1.0, 2.0, 3.0]]), [[1.0, 2.0, 3.0]], rtol=1e-4)


def test_models_of_torchs_own_exporter() -> None:
    pytest.importorskip("onnxscript")
    module = around(nn.BatchNorm1d(3), nn.Dropout(0.5)).eval()
    file = io.BytesIO()
    torch.onnx.export(module, (torch.zeros(5, 2),), file, dynamo=False)
    assert pf.load(onnx.load_from_string(file.getvalue()), strict=True).notes == ()


def test_the_command_line_says_it(tmp_path: Any) -> None:
    onnx.save(onnx_model(DROPOUT, {"ratio": np.float32(0.5), "mode": True}), tmp_path / "model.onnx")
    command = [sys.executable, "-m", "polyfold.cli.main", "count", str(tmp_path / "model.onnx"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("note: node 'drop' (Dropout) is in training mode") and done.stderr.count("\n") == 1
    assert '"notes": ["node ' in done.stdout and '"cells": 8' in done.stdout


def test_notes_stay_with_what_is_made_of_the_network() -> None:
    network = pf.load(DIFFERENT["Dropout"]())
    assert pf.reduce(network).network.notes == network.notes
    assert not pf.reduce(network).program.frame.neighbours
