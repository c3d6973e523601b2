"""Trained networks from public verification benchmarks, where ../shared is present."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.shared_files import MODELS
from polyfold.errors import UnsupportedOpError
from polyfold.network import load
from polyfold.network.read.check import sample_points
from polyfold.program.lower.lower import lower

onnx: Any = pytest.importorskip("onnx")
onnxruntime: Any = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.shared("models")

READABLE = [
    "acasxu_1_1",
    "iso_ACASXU_run2a_1_1_batch_2000_perturbed_0",
    "cersyve_double_integrator_finetune_inv",
    "cersyve_double_integrator_pretrain_con",
    "marabou_fc_2-2-3",
    "marabou_linear2-3_bn1-linear3-1",
    "marabou_mnist2x10",
    "marabou_multiInput_add",
    "marabou_oneInput_twoBranches",
    "rsplit_orig",
    "rsplit_split25",
    "safenlp_medical",
    "vnn_test_nano",
    "vnn_test_tiny",
]
CONVOLUTIONAL = ["collins_rul_small", "marabou_KJ_TinyTaxiNet", "marabou_cnn_max_mninst2", "marabou_conv_mp1"]
REFUSED = {"lsnc_quadrotor2d": ("/lyapunov/Mul", "Mul")}


def by_onnxruntime(path: Path, points: Any) -> Any:
    """All outputs at each row, one run for each row, without any code of ours."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = [(item.name, [n if isinstance(n, int) else 1 for n in item.shape]) for item in session.get_inputs()]
    stops = np.cumsum([int(np.prod(shape)) for _, shape in inputs])[:-1]
    rows = []
    for point in points.astype(np.float32):
        parts = zip(inputs, np.split(point, stops), strict=True)
        results = session.run(None, {name: part.reshape(shape) for (name, shape), part in parts})
        rows.append(np.concatenate([np.ravel(result) for result in results]))
    return np.array(rows)


def test_every_model_is_here() -> None:
    assert {path.stem for path in MODELS.glob("*.onnx")} == {*READABLE, *CONVOLUTIONAL, *REFUSED}


@pytest.mark.parametrize("name", [*READABLE, *CONVOLUTIONAL])
def test_readable_models_match_onnxruntime(name: str) -> None:
    path = MODELS / f"{name}.onnx"
    network = load(path)
    points = sample_points(network.input_dim, 1000, seed=1).astype(np.float32).astype(np.float64)
    scale = max(float(np.abs(value).max()) for _, value in network.walk(points))
    np.testing.assert_allclose(network(points), by_onnxruntime(path, points), rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("name", READABLE)
def test_readable_models_match_their_programs(name: str) -> None:
    network = load(MODELS / f"{name}.onnx")
    points = sample_points(network.input_dim, 1000, seed=1)
    scale = max(float(np.abs(value).max()) for _, value in network.walk(points))
    np.testing.assert_allclose(lower(network).evaluate(points)[0], network(points), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", REFUSED)
def test_other_models_are_refused_by_node(name: str) -> None:
    node, op = REFUSED[name]
    with pytest.raises(UnsupportedOpError) as caught:
        load(MODELS / f"{name}.onnx")
    assert name in str(caught.value) and f"node {node!r} ({op})" in str(caught.value)
