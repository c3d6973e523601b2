"""ONNX's own test cases for single operators: what their authors expect, at the inputs that they chose.

The first input of real numbers stays an input, the others become constants.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from polyfold.errors import NetworkError
from polyfold.network import load
from polyfold.network.read.onnx_ops import ONNX_OPS

COMPARISONS = {"Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
READ = sorted({name for reading in ONNX_OPS.listed() if not reading.refused for name in reading.names} - COMPARISONS)

# Cases that are not read, by a part of their name, and what the error says.
REFUSED = {
    "batchnorm_example_training": "batch's own statistics",
    "batchnorm_epsilon_training": "batch's own statistics",
    "convtranspose_group_2_image_3": "3 samples",
    "lppool": "not piecewise linear",
    "pow": "not piecewise linear",
    "slice_start_out_of_bounds": "holds no numbers",
    "maxpool_with_argmax": "place of a maximum",
    "empty_set": "leaves its shape open",
    "split_zero_size": "leaves its shape open",
    "reshape_allowzero": "cannot reshape array",
    "tf_crop_and_resize": "tf_crop_and_resize",
    "antialias": "antialias",
    "rnn": "not Relu",
    "reduction_mul": "'mul'",
    "reduction_max": "'max'",
    "reduction_min": "'min'",
    "scatternd_mul": "'mul'",
    "scatternd_max": "'max'",
    "scatternd_min": "'min'",
    "shrink_hard": "jumps",
    "thresholdedrelu": "jumps",
    "top_k": "place of a maximum",
}
# Volumes of 32^3 numbers: half a second to twenty each. Smaller volumes are among the cases of the same operators.
LARGE = {"test_maxpool_3d_default", "test_averagepool_3d_default"}
# Dropouts in training mode are read as in evaluation mode, with a note.
NOTED = "training_dropout"
# onnxruntime rounds the length of the output before it aligns the corners, and so do we.
OTHERWISE = {"test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners"}


@cache
def cases() -> dict[str, list[Any]]:
    """The cases of single nodes by operator: name, model, inputs, outputs."""
    found: dict[str, list[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for case in collected:
        nodes = case.model.graph.node
        if len(nodes) == 1 and case.data_sets and case.name not in OTHERWISE:
            found.setdefault(nodes[0].op_type, []).append((case.name, case.model, *case.data_sets[0]))
    return found


def with_constants(model: Any, arrays: list[Any]) -> tuple[Any, Any] | None:
    """The model with one input, and that input's numbers; None if none of them are float or double."""
    known = [np.asarray(item) if isinstance(item, (np.ndarray, np.generic)) else None for item in arrays]
    first = next((k for k, a in enumerate(known) if a is not None and a.dtype in (np.float32, np.float64)), None)
    if first is None or any(a is None for a in known):
        return None
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    inputs = list(changed.graph.input)
    del changed.graph.input[:]
    changed.graph.input.append(inputs[first])
    for k, (item, numbers) in enumerate(zip(inputs, known, strict=True)):
        if k != first:
            changed.graph.initializer.append(numpy_helper.from_array(numbers, item.name))
    return changed, known[first]


def is_large(name: str) -> bool:
    return name in LARGE or ("_3d_" in name and "_large" in name)


@pytest.mark.parametrize("op", READ)
def test_cases_of_an_operator(op: str) -> None:
    check(op, large=False)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
def test_large_cases_of_an_operator(op: str) -> None:
    check(op, large=True)


def check(op: str, *, large: bool) -> None:
    for name, model, inputs, outputs in cases().get(op, []):
        if is_large(name) != large:
            continue
        changed = with_constants(model, inputs)
        if changed is None:
            continue
        reason = next((reason for part, reason in REFUSED.items() if part in name), None)
        if reason is not None:
            with pytest.raises(NetworkError) as caught:
                load(changed[0])
            assert reason in str(caught.value), name
            continue
        expected = np.concatenate([np.ravel(output) for output in outputs])
        network = load(changed[0])
        if NOTED in name and "zero_ratio" not in name:
            assert "is in training mode" in network.notes[0], name
            continue
        assert not network.notes, name
        found = network(changed[1].reshape(1, -1))
        np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-4, err_msg=name)


def test_the_cases_are_there() -> None:
    """Few operators have no cases, so that the test above is not empty."""
    assert len([op for op in READ if op in cases()]) > 60
    assert sum(len(cases().get(op, [])) for op in READ) > 300
    large = {op: [is_large(name) for name, *_ in cases().get(op, [])] for op in READ}
    assert {op for op, them in large.items() if any(them)} == {"AveragePool", "MaxPool"}
    for op in ("AveragePool", "MaxPool"):
        volumes = [name for name, *_ in cases()[op] if "_3d_" in name and not is_large(name)]
        assert volumes, op
