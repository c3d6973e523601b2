"""The shallow network as an ONNX model.

Infinity times zero is not zero in floats, so the two infinite weights are a comparison and a choice (Greater, Where).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper

from polyfold.network.write.head_to_onnx import write_flat_head
from polyfold.network.write.onnx_graph import OnnxGraph

if TYPE_CHECKING:
    from polyfold.rewrite.shallow.network import Shallow


def to_onnx(shallow: Shallow) -> onnx.ModelProto:
    """The model: input "x" (rows, n), outputs "y" (rows, m) and "inside" (rows,), all but the last in float64."""
    graph = OnnxGraph()
    add, constant = graph.add, graph.constant
    pieces, outputs = shallow.beta.shape
    zero = constant("zero", np.float64(0))

    # Layer 1
    minus_x = add("Neg", ["x"], "minus_x")
    plus, minus = add("Relu", ["x"], "plus"), add("Relu", [minus_x], "minus")
    product = add("MatMul", ["x", constant("H", shallow.H.T)], "product")
    beyond = add("Sub", [product, constant("c", shallow.c)], "beyond")
    over = add("Relu", [beyond], "over")
    under = add("Relu", [add("Neg", [beyond], "before")], "under")

    # Layer 2, and what it says of every piece
    is_over = add("Cast", [add("Greater", [beyond, zero], "is_over")], "closed_stops", to=TensorProto.DOUBLE)
    is_under = add("Sub", [constant("one", np.float64(1)), is_over], "open_stops")
    nothing = add(
        "ReduceSum", [add("Mul", ["x", zero], "no_x"), constant("last", np.array([1]))], "nothing", keepdims=1
    )
    stops = constant("stops", shallow.stops)
    each = constant("each", np.array([2]))
    amounts = add("Gather", [add("Concat", [over, under, nothing], "amounts", axis=1), stops], "amounts_of", axis=1)
    counts = add("Gather", [add("Concat", [is_over, is_under, nothing], "counts", axis=1), stops], "counts_of", axis=1)
    amount = add("ReduceSum", [amounts, each], "amount", keepdims=0)
    count = add("ReduceSum", [counts, each], "count", keepdims=0)
    least = add("ReduceMin", [amount], "least", axes=[1], keepdims=1)
    fits = add("LessOrEqual", [amount, least], "fits")
    stopped_by = add("Where", [fits, count, constant("infinity", np.float64(np.inf))], "stopped_by")
    chosen = add("ArgMin", [stopped_by], "chosen", axis=1, keepdims=1)
    numbers = constant("pieces", np.arange(pieces)[None, :])
    passes = add("Equal", [chosen, numbers], "passes")

    # Outside the domain, by more than rounding errors, no piece passes.
    bounds = np.flatnonzero(shallow.of_domain)
    outer, offset = shallow.H[bounds].T, shallow.c[bounds]
    out = add("Sub", [add("MatMul", ["x", constant("B", outer)], "bounds"), constant("b", offset)], "out")
    reach = add("MatMul", [add("Add", [plus, minus], "abs_x"), constant("abs_B", np.abs(outer))], "reach")
    doubt = add(
        "Mul",
        [add("Add", [reach, constant("abs_b", np.abs(offset))], "far"), constant("margin", shallow.margin)],
        "doubt",
    )
    farthest = add("Concat", [add("Sub", [out, doubt], "surely"), nothing], "all_bounds", axis=1)
    worst = add("ReduceMax", [farthest], "worst", axes=[1], keepdims=1)
    is_inside = add("LessOrEqual", [worst, zero], "is_inside")
    add("Squeeze", [is_inside, constant("column", np.array([1]))], "inside")
    passes = add("And", [passes, is_inside], "passes_inside")
    passes = add("Unsqueeze", [passes, constant("outputs", np.array([2]))], "passes_outputs")

    # Layer 3
    alpha = constant("alpha", shallow.alpha.reshape(pieces * outputs, -1).T)
    gained, lost = add("MatMul", [plus, alpha], "gained"), add("MatMul", [minus, alpha], "lost")
    linear = add("Add", [add("Sub", [gained, lost], "linear"), constant("beta", shallow.beta.ravel())], "affine")
    value = add("Reshape", [linear, constant("shape", np.array([-1, pieces, outputs]))], "value")
    stopped = constant("minus_infinity", np.float64(-np.inf))
    upper = add("Relu", [add("Where", [passes, value, stopped], "upper")], "upper_unit")
    lower = add("Relu", [add("Where", [passes, add("Neg", [value], "minus_value"), stopped], "lower")], "lower_unit")

    # Output
    over_pieces = constant("over_pieces", np.array([1]))
    sums = [add("ReduceSum", [unit, over_pieces], f"sum_{unit}", keepdims=0) for unit in (upper, lower)]
    numbers_out = outputs
    if shallow.head is None:
        add("Sub", sums, "y")
    else:
        write_flat_head(graph, shallow.head, add("Sub", sums, "scores"), "y", np.dtype(np.float64))
        numbers_out = shallow.head.output_dim
    return graph.model(
        "shallow",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["rows", shallow.inputs])],
        [
            helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["rows", numbers_out]),
            helper.make_tensor_value_info("inside", TensorProto.BOOL, ["rows"]),
        ],
    )
