"""Chains of layers as ONNX models, and the same chains in fractions: an oracle that shares no code with the library.

A layer is a tuple. Constants are floats, as a file holds them, and count exactly. Where roots are irrational values are
intervals; a root's ends are integers over a power of two with hundreds of digits.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from onnx import TensorProto, helper, numpy_helper

DIGITS = 600


def onnx_model(layers, width):
    """The chain in float64, for rows of `width` numbers."""
    nodes, constants = [], []

    def number(values, kind=np.float64):
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(np.asarray(values, dtype=kind), name))
        return name

    def node(op, *inputs, **attributes):
        name = f"v{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], name=f"{op}{len(nodes)}", **attributes))
        return name

    value = "x"
    for kind, *parts in layers:
        if kind == "linear":
            value = node("Gemm", value, number(parts[0]), number(parts[1]), transB=1)
        elif kind == "relu":
            value = node("Relu", value)
        elif kind == "divide":
            value = node("Div", value, number(parts[0]))
        elif kind == "multiply":
            value = node("Mul", value, number(parts[0]))
        elif kind == "mean":
            value = node("ReduceMean", value, axes=[1], keepdims=1)
        elif kind == "pool":
            channels = node("Reshape", value, number([0, 1, -1], np.int64))
            pooled = node("AveragePool", channels, kernel_shape=[parts[0]], strides=[parts[0]])
            value = node("Reshape", pooled, number([0, -1], np.int64))
        elif kind == "normalise":
            value = node("BatchNormalization", value, *(number(part) for part in parts), epsilon=0.0)
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["rows", width])],
        [helper.make_tensor_value_info(value, TensorProto.DOUBLE, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outputs(layers, point):
    """Intervals of fractions that hold the outputs at a point; single fractions where all is rational."""
    values = [(Fraction(x), Fraction(x)) for x in point]
    for kind, *parts in layers:
        if kind == "linear":
            values = [
                added([times(w, v) for w, v in zip(row, values, strict=True)], b) for row, b in zip(*parts, strict=True)
            ]
        elif kind == "relu":
            values = [(max(low, Fraction(0)), max(high, Fraction(0))) for low, high in values]
        elif kind == "divide":
            values = [times(1 / Fraction(d), v) for d, v in zip(parts[0], values, strict=True)]
        elif kind == "multiply":
            values = [times(f, v) for f, v in zip(parts[0], values, strict=True)]
        elif kind == "mean":
            values = [times(Fraction(1, len(values)), added(values, 0))]
        elif kind == "pool":
            windows = [values[k : k + parts[0]] for k in range(0, len(values) - parts[0] + 1, parts[0])]
            values = [times(Fraction(1, parts[0]), added(window, 0)) for window in windows]
        elif kind == "normalise":
            values = [normalised(v, *each) for v, *each in zip(values, *parts, strict=True)]
    return values


def times(factor, value):
    ends = sorted(Fraction(factor) * end for end in value)
    return ends[0], ends[1]


def added(values, bias):
    return tuple(sum((value[end] for value in values), Fraction(bias)) for end in (0, 1))


def normalised(value, gamma, beta, mean, variance):
    square = Fraction(variance)
    whole = isqrt((square.numerator * square.denominator) << (2 * DIGITS))
    bottom = square.denominator << DIGITS
    exact = whole * whole == (square.numerator * square.denominator) << (2 * DIGITS)
    roots = [Fraction(whole + extra, bottom) for extra in ((0, 0) if exact else (0, 1))]
    quotients = [Fraction(gamma) * (end - Fraction(mean)) / root for end in value for root in roots]
    return min(quotients) + Fraction(beta), max(quotients) + Fraction(beta)


def apart(one, other, point):
    """(least, most) that the outputs of two chains can differ by at a point, the largest of all outputs."""
    gaps = [
        (max(Fraction(0), a[0] - b[1], b[0] - a[1]), max(a[1] - b[0], b[1] - a[0]))
        for a, b in zip(outputs(one, point), outputs(other, point), strict=True)
    ]
    return max(low for low, _ in gaps), max(high for _, high in gaps)
