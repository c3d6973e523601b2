"""Pairs of networks that are the same function, or nearly: rewritten, rounded by one bit, or with another head."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from soundness.oracle import HEADS, Layers, trunk_and_head


@dataclass(frozen=True)
class Pair:
    """Two networks with the same inputs; `how` says what was done to the first to get the second."""

    how: str
    a: Layers
    b: Layers
    inputs: int


def drawn(rng: np.random.Generator, inputs: int) -> Layers:
    """A small network of short numbers, degenerate ones among them: whole numbers, no biases, dead neurons."""
    widths = [inputs, *rng.integers(1, 5, size=int(rng.integers(1, 3))).tolist(), int(rng.integers(1, 4))]
    whole = rng.random() < 0.4
    steps: Layers = []
    for m, n in pairwise(widths):
        W, b = rng.normal(size=(n, m)), rng.normal(size=n)
        if whole:
            W, b = np.round(2 * W), np.round(2 * b) * (rng.random() < 0.7)
        steps += [("affine", short(W), short(b)), ("relu",)]
    steps.pop()
    if rng.random() < 0.5:
        steps.append((str(rng.choice(HEADS)),))
    return steps


def short(values: Any) -> Any:
    """The nearest multiples of 2^-20: whole numbers can be added to them in doubles without rounding."""
    return np.round(np.asarray(values) * 2.0**20) / 2.0**20


def pair(seed: int) -> Pair:
    """Most second networks are the first, rewritten without any change in real numbers; others differ by one bit."""
    rng = np.random.default_rng(seed)
    inputs = (1, 1, 2, 3)[seed % 4]
    a = drawn(rng, inputs)
    edit = (_permuted, _scaled, _there_and_back, _sheared, _shared_out, _shifted, _one_bit, _one_bit, _other_head)[
        seed % 9
    ]
    b = edit(rng, [tuple(step) for step in a])
    if seed % 5 == 4 and edit in (_permuted, _scaled, _there_and_back, _sheared, _shared_out):
        return Pair(f"{edit.__name__} and _one_bit", a, _one_bit(rng, b), inputs)
    return Pair(edit.__name__, a, b, inputs)


def _hidden(steps: Layers) -> list[int]:
    """Places of the affine steps that a ReLU follows, and another affine step."""
    return [k for k in range(len(steps) - 2) if [s[0] for s in steps[k : k + 3]] == ["affine", "relu", "affine"]]


def _permuted(rng: np.random.Generator, steps: Layers) -> Layers:
    for k in _hidden(steps):
        (_, W, b), (_, V, c) = steps[k], steps[k + 2]
        order = rng.permutation(len(b))
        steps[k], steps[k + 2] = ("affine", W[order], b[order]), ("affine", V[:, order], c)
    return steps


def _scaled(rng: np.random.Generator, steps: Layers) -> Layers:
    for k in _hidden(steps):
        (_, W, b), (_, V, c) = steps[k], steps[k + 2]
        power = 2.0 ** rng.integers(-20, 21, size=len(b))
        steps[k], steps[k + 2] = ("affine", W * power[:, None], b * power), ("affine", V / power, c)
    return steps


def _there_and_back(rng: np.random.Generator, steps: Layers) -> Layers:
    """Times a number and over it again: 1/49 is no float, but the function is the same."""
    at, number = int(rng.integers(0, len(trunk_and_head(steps)[0]) + 1)), float(rng.choice([3.0, 7.0, 10.0, 49.0]))
    return [*steps[:at], ("over", number), ("times", number), *steps[at:]]


def _sheared(rng: np.random.Generator, steps: Layers) -> Layers:
    """A large shear and its inverse in front of a layer: products of the three cancel, in floats not to the same."""
    places = [k for k, step in enumerate(steps) if step[0] == "affine" and step[1].shape[1] > 1]
    if not places:
        return _there_and_back(rng, steps)
    at = int(rng.choice(places))
    size = steps[at][1].shape[1]
    shear, back = np.eye(size), np.eye(size)
    shear[0, 1] = short(rng.normal() * 2.0 ** rng.integers(20, 60))
    back[0, 1] = -shear[0, 1]
    nothing = np.zeros(size)
    return [*steps[:at], ("affine", shear, nothing), ("affine", back, nothing), *steps[at:]]


def _shared_out(rng: np.random.Generator, steps: Layers) -> Layers:
    """A neuron twice, its outgoing weights shared out: 3/4 and 1/4 of a short number are doubles."""
    for k in _hidden(steps):
        (_, W, b), (_, V, c) = steps[k], steps[k + 2]
        i = int(rng.integers(len(b)))
        twice = np.column_stack([V, V[:, i] / 4])
        twice[:, i] = 0.75 * V[:, i]
        steps[k], steps[k + 2] = ("affine", np.vstack([W, W[i]]), np.append(b, b[i])), ("affine", twice, c)
    return steps


def _shifted(rng: np.random.Generator, steps: Layers) -> Layers:
    """The same affine function added to all scores, which softmax alone does not see."""
    trunk, _ = trunk_and_head(steps)
    _, W, b = trunk[-1]
    row, constant = np.round(4 * rng.normal(size=W.shape[1])), np.round(8 * rng.normal())
    steps[len(trunk) - 1] = ("affine", W + row, b + constant)
    return steps


def _one_bit(rng: np.random.Generator, steps: Layers) -> Layers:
    """One weight or bias moved to the next double."""
    at = int(rng.choice([k for k, step in enumerate(steps) if step[0] == "affine"]))
    _, W, b = steps[at]
    W, b = W.copy(), b.copy()
    target = W if rng.random() < 0.6 else b
    place = tuple(int(rng.integers(n)) for n in target.shape)
    target[place] = np.nextafter(target[place], np.inf)
    steps[at] = ("affine", W, b)
    return steps


def _other_head(rng: np.random.Generator, steps: Layers) -> Layers:
    trunk, head = trunk_and_head(steps)
    others = [other for other in (None, *HEADS) if other != head]
    chosen = others[int(rng.integers(len(others)))]
    return trunk if chosen is None else [*trunk, (chosen,)]


def write_onnx(path: Path, steps: Layers, inputs: int) -> Path:
    """The network as an ONNX file of doubles, node by node as it stands here."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, name, width = [], [], "x", inputs
    for number, (kind, *numbers) in enumerate(steps):
        out = f"v{number}"
        if kind == "affine":
            constants.append(numpy_helper.from_array(np.ascontiguousarray(numbers[0]), f"W{number}"))
            constants.append(numpy_helper.from_array(np.ascontiguousarray(numbers[1]), f"b{number}"))
            nodes.append(helper.make_node("Gemm", [name, f"W{number}", f"b{number}"], [out], name=out, transB=1))
            width = len(numbers[1])
        elif kind in ("times", "over"):
            constants.append(numpy_helper.from_array(np.array(numbers[0]), f"c{number}"))
            op = "Mul" if kind == "times" else "Div"
            nodes.append(helper.make_node(op, [name, f"c{number}"], [out], name=out))
        elif kind == "argmax":
            nodes.append(helper.make_node("ArgMax", [name], [out], name=out, axis=1, keepdims=0))
        else:
            op = {"relu": "Relu", "softmax": "Softmax", "log_softmax": "LogSoftmax", "sigmoid": "Sigmoid"}[kind]
            options = {"axis": 1} if op in ("Softmax", "LogSoftmax") else {}
            nodes.append(helper.make_node(op, [name], [out], name=out, **options))
        name = out
    of_class = bool(steps) and steps[-1][0] == "argmax"
    result = helper.make_tensor_value_info(
        name, TensorProto.INT64 if of_class else TensorProto.DOUBLE, ["n"] if of_class else ["n", width]
    )
    entry = helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["n", inputs])
    graph = helper.make_graph(nodes, "pair", [entry], [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path
