"""Linear regions on lines and planes through convolutional networks, against maps in rationals."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.atlas import core_problem as problem
from polyfold.atlas.geometry.cell_maps import ExactMaps
from polyfold.datasets.convolutional import mnist_conv
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder
from polyfold.program.lower.lower import lower
from polyfold.program.passes.influence import influence_of_gates


def small_conv(seed: int, *, relu_first: bool) -> pf.Network:
    """A convolution with 2 channels on 6 x 6 pixels, a pool of 2 x 2 and a ReLU in either order, another one."""
    rng = np.random.default_rng(seed)
    builder = Builder("small")
    value = builder.port("picture", (1, 6, 6))
    window = Window(stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1), groups=1)
    value = builder.emit("convolution", Convolution(rng.normal(size=(2, 1, 3, 3)), rng.normal(size=2), window), value)
    entries = np.arange(32).reshape(2, 4, 4)
    squares = np.stack([entries[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=-1)
    relu, pool = Rectify(constant(1.0), constant(0.0)), Largest(squares)
    for name, op in (("relu", relu), ("pool", pool)) if relu_first else (("pool", pool), ("relu", relu)):
        value = builder.emit(name, op, value)
    value = builder.emit("second", Convolution(rng.normal(size=(3, 2, 2, 2)), rng.normal(size=3), window), value)
    value = builder.emit("last relu", Rectify(constant(1.0), constant(0.0)), value)
    value = builder.emit("flat", Reshape((3,)), value)
    return builder.finish([builder.emit("layer", Linear(rng.normal(size=(2, 3)), rng.normal(size=2)), value)])


@pytest.mark.parametrize("seed", quick_then_slow(range(3), quick=1))
@pytest.mark.parametrize("kind", ["line", "plane"])
@pytest.mark.parametrize("relu_first", [False, True])
@pytest.mark.parametrize("written_out", [False, True])
def test_regions_are_those_of_the_exact_maps(
    kind: str, seed: int, relu_first: bool, written_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not written_out:
        monkeypatch.setattr(problem, "_MOST_NUMBERS", -1)
    p, q, r = np.random.default_rng(seed).normal(size=(3, 1, 6, 6))
    where = pf.line(p, q, extend=(-4, 4)) if kind == "line" else pf.plane(p, q, r)
    atlas = pf.unfold(small_conv(seed, relu_first=relu_first), where)
    assert atlas.certificate.level == "checked" and atlas.program.written_out == written_out
    with monkeypatch.context() as patch:
        # Whole maps in rationals take seconds each in larger networks: nothing here may need them.
        patch.delattr(ExactMaps, "__getitem__")
        label = pf.regions(atlas).label
    exact, owner = ExactMaps(atlas), atlas.facet_owner
    for facet in np.flatnonzero(atlas.neighbour > owner):
        here, there = int(owner[facet]), int(atlas.neighbour[facet])
        if exact[here] == exact[there]:
            assert label[here] == label[there]
        elif kind == "line":
            assert label[here] != label[there]
    assert 1 < label.max() + 1 < len(atlas)


def test_losers_of_a_pool_are_not_heard() -> None:
    """A comparison between two values that both lose is added and taken away again: that it cancels is proved."""
    program = lower(mnist_conv())
    signs = program.evaluate(np.random.default_rng(0).random(size=(1, 784)))[1]
    losing = [g for g in range(2000) if ".max(2,3)" in str(program.origins[g])]
    gates = np.array(losing[:60])
    found = influence_of_gates(
        program, np.repeat(signs, len(gates), axis=0), gates, np.zeros((len(gates), program.gates), dtype=bool)
    )
    proved = ((found.values == 0) & (found.errors == 0)).all(axis=1)
    clear = (np.abs(found.values) > found.errors).any(axis=1)
    assert (proved | clear).all() and proved.any() and clear.any()
