"""Digests and saved files outlive the names of classes: what was written once is found again."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from polyfold.datasets.named import BUNDLED
from polyfold.network.graph import Network, Node, Port
from polyfold.network.ops import linear, movement, spatial, switches
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import Op, constant
from polyfold.network.ops.tags import OPS
from polyfold.program.lower.lower import lower
from polyfold.training.template import Template
from polyfold.training.template_text import template_text

WINDOW = Window((1,), ((1, 1),), (1,))


def _network() -> Network:
    """Every kind of op that a file may hold, with numbers that are floats on every machine."""
    from scipy.sparse import csr_array

    numbers = constant([[0.5, -1.25], [2.0, 0.75]])
    kernel = constant([[[1.0, -0.5, 0.25]]])
    pairs = csr_array(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]))
    nodes = [
        Node("linear", linear.Linear(numbers, constant([1.0, -1.0])), ("x",)),
        Node("relu", switches.Rectify(constant(1.0), constant(0.125)), ("linear",)),
        Node("scale", linear.Scale(constant(3.0), constant(2.0)), ("relu",)),
        Node("shift", linear.Shift(constant([0.5, 0.25])), ("scale",)),
        Node("add", linear.Add(), ("shift", "x")),
        Node("subtract", linear.Subtract(), ("add", "relu")),
        Node("clamp", switches.Clamp(-2.0, 6.0, flat_at_bounds=True), ("subtract",)),
        Node("max", switches.Maximum(), ("clamp", "x")),
        Node("min", switches.Minimum(), ("max", "add")),
        Node("concat", movement.Concat(0), ("min", "max")),
        Node("take", movement.Take(np.array([3, 2, 1, 0])), ("concat",)),
        Node("reshape", movement.Reshape((1, 4)), ("take",)),
        Node("conv", spatial.Convolution(kernel, constant([0.5]), WINDOW), ("reshape",)),
        Node("back", spatial.TransposedConvolution(kernel, constant([0.5]), WINDOW, (4,)), ("conv",)),
        Node("largest", switches.Largest(np.array([[[0, 1], [1, 2], [2, 3], [3, -1]]])), ("back",)),
        Node("combine", spatial.Combine(pairs, (2,), constant([2.0, 4.0])), ("largest",)),
    ]
    return Network((Port("x", (2,)),), tuple(nodes), ("combine",))


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("iris", "dc446dda6648f97704f1097c9dae1f67ac648127bc5c44e15c85a75951343062"),
        ("blobs", "5a6562cfe47d37e60b3718181b809f2b00db4525b36872fe995025c75b69681f"),
        ("mnist_conv", "d6bf5adc8c8defddf0d2498a8790ec0609e950104a3c8d6b3d0fcc5205a37524"),
        ("all ops", "1301f7d199f6ea851f8a79e3a21b7fb0bdc0093b2a0a73e66a446347d6014a09"),
    ],
)
def test_program_digest(name: str, digest: str) -> None:
    network = _network() if name == "all ops" else BUNDLED[name]()
    assert lower(network).digest == digest


def test_text_in_recordings() -> None:
    text = json.dumps(template_text(Template(_network(), ())), sort_keys=True)
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "620d5c75493b6f4f3c76f93d1cb8a9269eb07555fa430acf9be54b72a6e9e479"
    )


def test_every_op_has_a_tag() -> None:
    kinds = {
        kind
        for module in (linear, movement, spatial, switches)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Op) and kind is not Op
    }
    assert set(OPS.values()) == kinds
