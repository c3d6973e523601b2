"""What is known of ONNX operators on constants agrees with ONNX's own evaluator, operator by operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from polyfold.network.read.folding.arithmetic import InexactError
from polyfold.network.read.folding.folded import Folded

onnx: Any = pytest.importorskip("onnx")

from onnx import TensorProto, helper

from polyfold.network.read.folding import onnx_constants
from polyfold.network.read.onnx_reference import reference


def thirds(*shape: int) -> Folded:
    """1/3, 2/3, 4/3, 5/3, ... under a shape: no float is among them."""
    count = int(np.prod(shape))
    exact = np.empty(count, dtype=object)
    exact[:] = [fmpq(k + k // 2 + 1, 3) for k in range(count)]
    assert not any(value.q == 1 for value in exact)
    return Folded(np.array([float(value) for value in exact]).reshape(shape), exact.reshape(shape))


def whole(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


A, BYTES = thirds(2, 3), np.array([[-3, 5, 100], [1, 2, 3]], dtype=np.int8)
CASES: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {
    **{op: [([A, thirds(3)], {})] for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean")},
    **{op: [([thirds(3), A], {})] for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")},
    **{
        op: [([A], {})]
        for op in (
            *("Neg", "Abs", "Reciprocal", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Tanh"),
            *("Asinh", "Erf", "Sigmoid", "Relu", "Floor", "Ceil", "Round", "Sign", "Identity", "Flatten", "Trilu"),
        )
    },
    **{op: [([thirds(2)], {})] for op in ("Asin", "Acos", "Atanh")},
    "Acosh": [([Folded(np.array([5 / 3]), np.array([fmpq(5, 3)], dtype=object))], {})],
    "Pow": [([A, np.array(float(p))], {}) for p in (2, -1, 3, 0, 0.5, -0.5)],
    "Clip": [([A, np.array(0.5), np.array(1.5)], {})],
    "MatMul": [([A, thirds(3, 2)], {}), ([A, thirds(3)], {}), ([thirds(2, 2, 3), thirds(3, 2)], {})],
    "Gemm": [
        ([A, thirds(3, 4), thirds(4)], {"alpha": 0.5, "beta": 2.0}),
        ([A, thirds(4, 3)], {"transB": 1}),
        ([thirds(3, 2), thirds(3, 4)], {"transA": 1}),
    ],
    "Einsum": [([A, thirds(3)], {"equation": "ij,j->i"}), ([A], {"equation": "ij->ji"})],
    "Range": [([thirds(), np.array(2.0), np.array(0.25)], {})],
    "DequantizeLinear": [
        ([BYTES, np.array([0.1, 0.2, 0.3], dtype=np.float32), BYTES[0]], {}),
        ([BYTES, np.array(0.1, dtype=np.float32)], {}),
    ],
    **{
        op: [([A], {}), ([A], {"axes": [1], "keepdims": 0})]
        for op in ("ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare")
    },
    "ReduceSum": [([A, whole(1)], {}), ([A, whole(-2)], {"keepdims": 0}), ([A], {"noop_with_empty_axes": 1})],
    "Cast": [([A], {"to": kind}) for kind in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64)],
    "CastLike": [([A, np.float32(1)], {}), ([A, np.float64(1)], {})],
    "Dropout": [([A], {})],
    "Reshape": [([A, whole(3, 2)], {})],
    "Squeeze": [([thirds(1, 3), whole(0)], {})],
    "Unsqueeze": [([A, whole(1)], {})],
    "Transpose": [([A], {"perm": [1, 0]})],
    "Slice": [([A, whole(1), whole(3), whole(1)], {})],
    "Gather": [([A, whole(2, 0)], {"axis": 1})],
    "GatherND": [([A, whole(1, 2)], {})],
    "GatherElements": [([A, np.array([[2, 0, 1], [1, 1, 1]])], {"axis": 1})],
    "Compress": [([A, np.array([True, False, True])], {"axis": 1})],
    "ReverseSequence": [([A, whole(1, 2, 2)], {})],
    "Split": [([A, whole(1, 2)], {"axis": 1})],
    "Expand": [([thirds(1, 3), whole(2, 3)], {})],
    "Tile": [([A, whole(2, 1)], {})],
    "DepthToSpace": [([thirds(1, 4, 1, 1)], {"blocksize": 2})],
    "SpaceToDepth": [([thirds(1, 1, 2, 2)], {"blocksize": 2})],
    "CenterCropPad": [([A, whole(2, 2)], {})],
    "Where": [([np.array([[True, False, True]]), A, thirds(3)], {})],
    "ScatterElements": [([A, np.array([[0], [2]]), thirds(2, 1)], {"axis": 1})],
    "ScatterND": [([A, np.array([[1]]), thirds(1, 3)], {})],
    "Concat": [([A, np.ones((2, 1))], {"axis": 1})],
}


def run(op: str, options: dict[str, Any], inputs: list[Any]) -> list[Any]:
    names = [f"i{k}" for k in range(len(inputs))]
    outputs = [f"o{k}" for k in range(2 if op == "Split" else 1)]
    node = helper.make_node(op, names, outputs, **options)
    arrays = [np.asarray(item) for item in inputs]
    graph = helper.make_graph(
        [node],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays, strict=True)
        ],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    version = {"CenterCropPad": 18, "DequantizeLinear": 19}.get(op, 17)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    return list(reference(model).run(None, dict(zip(names, arrays, strict=True))))


def attributes(op: str, options: dict[str, Any]) -> dict[str, Any]:
    node = helper.make_node(op, ["x"], ["y"], **options)
    return {item.name: helper.get_attribute_value(item) for item in node.attribute}


def test_every_operator_has_a_case() -> None:
    known = {*onnx_constants._EXACT, *onnx_constants._STAIRCASES, *onnx_constants._MOVES}
    assert known - set(CASES) == set()


@pytest.mark.parametrize("op", CASES)
def test_numbers_are_those_of_the_evaluator(op: str) -> None:
    for inputs, options in CASES[op]:
        results = run(op, options, [item.runtime if isinstance(item, Folded) else item for item in inputs])
        found = onnx_constants.computed(
            op, attributes(op, options), inputs, results, lambda given, options=options: run(op, options, list(given))
        )
        assert len(found) == len(results)
        for one, result in zip(found, results, strict=True):
            exact = one.exact if isinstance(one, Folded) else np.asarray(one, dtype=np.float64)
            floats = np.array([float(v.ball.mid()) if hasattr(v, "ball") else float(v) for v in exact.ravel()])
            tolerance = {"float32": 1e-6, "float16": 1e-3}.get(result.dtype.name, 1e-12)
            if op == "Erf":
                # The evaluator computes it in float32.
                tolerance = 1e-6
            np.testing.assert_allclose(floats.reshape(exact.shape), np.asarray(result, np.float64), rtol=tolerance)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Softmax", [np.ones(2)]),
        ("Div", [np.ones(2), np.zeros(2)]),
        ("Log", [np.zeros(2)]),
        ("Sqrt", [-np.ones(2)]),
        ("Add", [np.ones(2), np.array([0.1, np.inf])]),
        ("Mul", [np.full(1 << 19, 0.1), np.full(1 << 19, 0.3)]),
        ("Pow", [np.ones(2), np.array([0.1, 0.2])]),
    ],
)
def test_what_is_not_known_says_so(op: str, inputs: list[Any]) -> None:
    with np.errstate(all="ignore"), pytest.raises(InexactError):
        onnx_constants.computed(op, {}, inputs, run(op, {}, inputs), lambda given: run(op, {}, list(given)))


def test_exact_floats_stay_as_they_are() -> None:
    many = np.full(1 << 19, 0.5, dtype=np.float32)
    (result,) = onnx_constants.computed("Mul", {}, [many, many], [many * many], lambda given: [])
    assert result.dtype == np.float32 and (result == 0.25).all()
    tenth, third = np.float32(0.1), np.float32(0.3)
    (product,) = onnx_constants.computed("Mul", {}, [tenth, third], [tenth * third], lambda given: [])
    # Two float32 numbers multiply to one of float64.
    assert product.exact.dtype == np.float64 and product.exact == float(tenth) * float(third) != float(product.runtime)
