"""The check at the end of every import: it holds each output to its own size, and looks on both sides of gates."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import NetworkError
from polyfold.exact.tolerances import IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import constant
from polyfold.network.read.check import sample_points, telling_points, verify
from polyfold.network.read.telling_points import both_sides, corners


def refused(network: Any, original: Any, tolerance: float = IMPORT_FLOAT32) -> bool:
    try:
        verify(network, original, tolerance=tolerance)
    except NetworkError:
        return True
    return False


def by_float32(network: Any) -> Any:
    """The network as a float32 runtime runs it: weights and all that is computed are rounded."""

    def run(points: Any) -> Any:
        values = {network.inputs[0].name: points.astype(np.float32)}
        for node in network.nodes:
            (x,) = (values[name] for name in node.inputs)
            if isinstance(node.op, Linear):
                y = x @ node.op.weight.T.astype(np.float32) + node.op.bias.astype(np.float32)
            else:
                y = np.maximum(x, np.float32(0))
            values[node.name] = y
        return values[network.outputs[0]].astype(np.float64)

    return run


def layered(rng: Any, widths: list[int], spread: float) -> Any:
    """Layers with float32 weights whose rows have very different sizes."""
    layers = []
    for inputs, outputs in pairwise(widths):
        sizes = 10.0 ** rng.uniform(-spread, spread, size=(outputs, 1))
        weight = (rng.normal(size=(outputs, inputs)) * sizes).astype(np.float32).astype(np.float64)
        layers.append((weight, (rng.normal(size=outputs) * sizes[:, 0]).astype(np.float32).astype(np.float64)))
    return layers


def test_a_small_output_beside_a_large_one() -> None:
    network = pf.load([([[1e6, 2e6], [1.0, 2.0]], [0.0, 0.0])])
    for part in (1e-3, 1e-4):
        assert refused(network, lambda points, part=part: network(points) * [1.0, 1.0 + part])
        assert refused(network, lambda points, part=part: network(points) * [1.0 + part, 1.0])


def test_a_gate_far_away() -> None:
    """A ReLU that no point near the origin switches on."""
    for bias in (-500.0, -1e5):
        network = pf.load([([[1.0, 0.0]], [bias]), ([[1.0]], [0.0])])
        assert refused(network, lambda points, network=network: network(points) * 1.5)


def test_points_lie_on_both_sides_of_gates() -> None:
    rng = np.random.default_rng(5)
    weight = rng.normal(size=(30, 4))
    network = pf.load([(weight, np.full(30, -200.0)), (np.ones((1, 30)), [0.0])])
    before = sample_points(4)
    assert not (before @ weight.T > 200).any(axis=0).all()
    found = both_sides(network, before, 140)
    on = np.concatenate([before, found]) @ weight.T > 200
    assert (on.any(axis=0) & ~on.all(axis=0)).all() and len(found) <= 140


def test_corners_are_among_the_points() -> None:
    rows = {tuple(row) for row in telling_points(pf.load([([[1.0, 1.0]], [0.0])])).tolist()}
    assert {(0, 0), (1, 1), (-1, -1)} <= rows
    assert len(corners(5, 2)) == 2 and corners(5, 40).shape == (40, 5)


def test_a_wrong_sum_at_a_corner_only() -> None:
    """An original that clips its input at 20: few random points see that, corners of a large box all do."""
    network = pf.load([([[1.0, 1.0, 1.0]], [0.0])])
    assert refused(network, lambda points: network(np.clip(points, -20, 20)))


@pytest.mark.parametrize("seed", range(40))
def test_rounding_is_no_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = [int(n) for n in rng.integers(1, 40, size=int(rng.integers(2, 6)))]
    layers = layered(rng, widths, spread=float(rng.uniform(0, 3)))
    if seed % 4 == 0:
        # Large numbers that cancel.
        weight, bias = layers[-1]
        huge = weight[:1] + np.float32(1e4)
        layers[-1] = (np.concatenate([weight, huge, -huge]), np.concatenate([bias, bias[:1], bias[:1]]))
    network = pf.load(layers)
    assert not refused(network, by_float32(network))


@pytest.mark.parametrize("seed", range(40))
def test_a_wrong_weight_is_found(seed: int) -> None:
    """One weight of a layer is off by a thousandth; some of them count for nothing, most do."""
    rng = np.random.default_rng(seed)
    layers = layered(rng, [3, 8, 6, 5], spread=2.0)
    network = pf.load(layers)
    place = int(rng.integers(len(layers)))
    node = next(node for node in network.nodes if node.name == f"linear{place + 1}")
    weight = node.op.weight.copy()
    row, column = (int(rng.integers(n)) for n in weight.shape)
    weight[row, column] *= 1.001
    nodes = tuple(replace(n, op=Linear(constant(weight), n.op.bias)) if n is node else n for n in network.nodes)
    other = replace(network, nodes=nodes)
    points = sample_points(3, 2000, seed=9)
    apart = np.abs(other(points) - network(points)) / (1e-300 + np.abs(network(points)))
    if apart.max() > 1e-3:
        assert refused(other, network, IMPORT_FLOAT64)


def test_nothing_is_too_large_for_float32() -> None:
    network = pf.load([([[1e30]], [-1e33]), ([[1.0]], [0.0])])
    assert not refused(network, by_float32(network))
