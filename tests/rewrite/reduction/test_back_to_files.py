"""What comes back from a reduction has the user's outputs under the user's names, and can be written to any file."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.network.ops.linear import Add, Linear
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.op import constant
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder
from polyfold.network.write.save import save


def two_outputs(port, linear, relu, output, shape=(2,)):
    """relu(x + 1) summed up, and added to x + 1."""
    builder = Builder("arrays")
    x = builder.port(port, shape)
    flat = x if len(shape) == 1 else builder.emit("flat", Reshape((2,)), x)
    z = builder.emit(linear, Linear(constant(np.eye(2)), constant(np.ones(2))), flat)
    h = builder.emit(relu, Rectify(constant(1.0), constant(0.0)), z)
    y = builder.emit(output, Linear(constant(np.ones((1, 2))), constant(np.zeros(1))), h)
    return builder.finish([y, builder.emit(f"{output}2", Add(), h, z)])


NAMES = [
    ("x", "z", "h", "y"),
    ("input", "relu.linear", "relu", "outputs"),
    ("x", "outputs", "r", "outputs#2"),
    ("inputs", "outputs", "x.flat", "y"),
]


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        pytest.param(names, shape, id=f"{shape}-{'-'.join(names)}", marks=[pytest.mark.slow] if (k + j) % 2 else [])
        for k, names in enumerate(NAMES)
        for j, shape in enumerate([(2,), (1, 2)])
    ],
)
@pytest.mark.parametrize("ending", [".onnx", ".pt2"])
def test_outputs_keep_their_names_and_values_in_files(names, shape, ending, tmp_path):
    """Names may be those that helper nodes would like to have; networks need be no chains, nor inputs vectors."""
    if ending == ".pt2":
        pytest.importorskip("torch")
    network = two_outputs(*names, shape)
    X = np.random.default_rng(0).normal(size=(7, 2))
    for domain in (None, pf.box(-0.5, 1)):
        found = pf.reduce(network, domain)
        assert found.network.outputs == network.outputs
        assert [port.name for port in found.network.inputs] == [port.name for port in network.inputs]
        save(found.network, tmp_path / f"small{ending}")
        np.testing.assert_array_equal(pf.load(tmp_path / f"small{ending}")(X), found.network(X))


def test_sums_that_are_too_large_for_floats_are_not_made():
    """1.7e308 relu(z) twice is one gate with a weight that no network can have."""
    layers = [([[1.0], [1.0]], [0.0, 0.0]), ([[1.7e308, 1.7e308]], [0.0])]
    found = pf.reduce(layers, pf.box(-1, 1))
    assert found.neurons_after == 2 and found.exact and found.network([[-1.0]]).tolist() == [[0.0]]


@pytest.mark.parametrize("known", [3, "on", {"on": 1}], ids=str)
def test_what_is_no_stability(known):
    """One error that says what is expected."""
    layers = [([[1.0]], [0.0]), ([[1.0]], [0.0])]
    with pytest.raises(pf.errors.PolyfoldError, match="stability= must be what"):
        pf.reduce(layers, stability=known)
    with pytest.raises(pf.errors.PolyfoldError, match="start= must be what"):
        pf.rewrite.stability(layers, start=known)
