"""Integrated gradients: against fractions, many steps and captum's; complete for a network of images too."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.shapley_oracles import layers_of
from helpers.slow_params import examples
from polyfold._base.clock import Progress
from polyfold.datasets.convolutional import mnist_conv
from polyfold.domain.domain import resolve_domain
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.program.lower.lower import lower
from polyfold.testing import Case
from polyfold.testing.strategies import cases

PROMISED = 1e-9


def in_fractions(layers: Any, x: Any, start: Any) -> Any:
    """(x - start) times the integral of the gradient, in exact arithmetic, for a network with one hidden layer."""
    (W, b), (V, _) = [
        ([[Fraction(w) for w in row] for row in A.tolist()], [Fraction(v) for v in c.tolist()]) for A, c in layers
    ]
    way = [Fraction(e) - Fraction(s) for s, e in zip(start.tolist(), x.tolist(), strict=True)]
    begin = [Fraction(s) for s in start.tolist()]
    shares = []
    for row, bias in zip(W, b, strict=True):
        at = sum((w * s for w, s in zip(row, begin, strict=True)), bias)
        slope = sum(w * s for w, s in zip(row, way, strict=True))
        ends = sorted({Fraction(0), Fraction(1), *([-at / slope] if slope and 0 < -at / slope < 1 else [])})
        # How much of the way the gate is on, by the middle of every piece.
        shares.append(sum((hi - lo for lo, hi in pairwise(ends) if at + slope * (lo + hi) / 2 > 0), Fraction(0)))
    return np.array(
        [
            [float(d * sum(v * s * row[j] for v, s, row in zip(out, shares, W, strict=True))) for out in V]
            for j, d in enumerate(way)
        ]
    )


def test_against_fractions() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        layers = layers_of(np.random.default_rng(seed), 3, 7, 2)
        x, start = rng.normal(size=(2, 3))
        found = pf.explain.integrated_gradients(layers, x[None], baseline=start)
        assert np.abs(found.values[0] - in_fractions(layers, x, start)).max() < PROMISED


def test_against_many_steps() -> None:
    rng = np.random.default_rng(1)
    network = pf.load(layers_of(rng, 4, 10, 8, 2))
    X, start = rng.normal(size=(5, 4)), rng.normal(size=4)
    found = pf.explain.integrated_gradients(network, X, baseline=start)
    times = (np.arange(20_000) + 0.5) / 20_000
    for x, values in zip(X, found.values, strict=True):
        gradients = pf.local(network, start + times[:, None] * (x - start), settle=False).A
        assert np.abs(values - (gradients.mean(axis=0) * (x - start)).T).max() < 2e-3


def test_segments_are_those_of_the_line() -> None:
    rng = np.random.default_rng(2)
    network = pf.load(layers_of(rng, 4, 10, 8, 2))
    X, start = rng.normal(size=(3, 4)), rng.normal(size=4)
    found = pf.explain.integrated_gradients(network, X, baseline=start)
    assert found.segments.tolist() == [len(pf.unfold(network, pf.line(start, x))) for x in X]
    assert not found.undecided.any() and "complete to" in repr(found)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=6))
def test_generated_networks_are_complete(case: Case) -> None:
    rng = np.random.default_rng(0)
    program = case.program
    X = rng.integers(-2, 3, size=(3, program.input_dim)).astype(float)
    start = rng.integers(-2, 3, size=program.input_dim).astype(float)
    found = pf.explain.integrated_gradients(program, X, baseline=start)
    gap = found.values.sum(axis=1) - (program.evaluate(X)[0] - program.evaluate(start[None])[0])
    assert (np.abs(gap).max(axis=1) <= PROMISED * np.maximum(found.scale, 1.0)).all()
    for x, values, segments in zip(X, found.values, found.segments, strict=True):
        if np.array_equal(x, start):
            assert not values.any() and segments == 1
            continue
        atlas = pf.unfold(program, resolve_domain(pf.line(start, x), program.input_dim))
        A, _ = atlas.maps()
        expected = (np.tensordot(atlas.volumes(), A, axes=1) * (x - start)).T
        assert np.abs(values - expected).max() <= PROMISED * max(1.0, float(np.abs(expected).max()))


def test_a_network_of_images_adds_up() -> None:
    network = mnist_conv()
    rng = np.random.default_rng(0)
    pictures = rng.random(size=(2, 1, 28, 28))
    pictures[:, :, :6], pictures[:, :, -6:] = 0.0, 0.0  # a black border, where windows tie
    found = pf.explain.integrated_gradients(network, pictures, baseline=np.zeros((28, 28)), output="largest")
    outputs = network(pictures)
    assert found.outputs[:, 0].tolist() == outputs.argmax(axis=1).tolist()
    gain = outputs.max(axis=1) - network(np.zeros((1, 28, 28)))[0, outputs.argmax(axis=1)]
    assert np.abs(found.values[:, :, 0].sum(axis=1) - gain).max() < PROMISED
    assert (found.segments > 100).all() and found.values.shape == (2, 784, 1)
    # Pixels that are as in the baseline have nothing to do with it.
    assert not found.values[:, : 6 * 28].any()
    several = pf.explain.integrated_gradients(
        network, pictures[:1], baseline=np.zeros((28, 28)), output=[3, int(found.outputs[0, 0])]
    )
    assert np.abs(several.values[0, :, 1] - found.values[0, :, 0]).max() < PROMISED


def test_captum_comes_near() -> None:
    torch, attr = pytest.importorskip("torch"), pytest.importorskip("captum.attr")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.MaxPool2d(2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(27, 2)
    ).double()
    x, start = torch.rand(2, 1, 8, 8, dtype=torch.float64), torch.zeros(1, 1, 8, 8, dtype=torch.float64)
    found = pf.explain.integrated_gradients(pf.load(model, input_shape=(1, 8, 8)), x, baseline=start[0], output=1)
    gaps = []
    for steps in (50, 5000):
        theirs = attr.IntegratedGradients(model).attribute(x, start, target=1, n_steps=steps, method="riemann_middle")
        gaps.append(np.abs(theirs.numpy().reshape(2, -1) - found.values[:, :, 0]).max())
    assert gaps[1] < 1e-4 and gaps[1] < gaps[0] / 5


def test_one_baseline_for_each() -> None:
    rng = np.random.default_rng(3)
    layers = layers_of(rng, 3, 6, 2)
    X, starts = rng.normal(size=(2, 4, 3))
    seen: list[Progress] = []
    each = pf.explain.integrated_gradients(layers, X, baseline=starts, progress=seen.append)
    assert [event.done for event in seen if event.what == "inputs"] == [1, 2, 3, 4]
    for i in range(4):
        assert np.array_equal(
            each.values[i], pf.explain.integrated_gradients(layers, X[i : i + 1], baseline=starts[i]).values[0]
        )
    assert pf.explain.integrated_gradients(layers, np.zeros((0, 3)), baseline=starts[0]).values.shape == (0, 3, 2)


def test_a_network_without_gates() -> None:
    found = pf.explain.integrated_gradients([([[2.0, -1.0]], [5.0])], [[1.0, 1.0]], baseline=[0.0, 0.0])
    assert found.values[0, :, 0].tolist() == pytest.approx([2.0, -1.0], abs=1e-15) and found.segments.tolist() == [1]


def test_bad_input() -> None:
    layers = layers_of(np.random.default_rng(0), 3, 4, 2)
    X = np.ones((2, 3))
    with pytest.raises(ShapeError, match=r"baseline must be rows of 3 numbers, or one such row; its shape is \(4,\)"):
        pf.explain.integrated_gradients(layers, X, baseline=np.zeros(4))
    with pytest.raises(ShapeError, match="one for each of the 2 rows of X; it has 3 rows"):
        pf.explain.integrated_gradients(layers, X, baseline=np.zeros((3, 3)))
    with pytest.raises(ShapeError, match=r"\[0, .\] is (nan|inf|-inf)"):
        pf.explain.integrated_gradients(layers, X, baseline=[0, np.nan, 0])
    with pytest.raises(ShapeError, match=r"\[1, .\] is (nan|inf|-inf)"):
        pf.explain.integrated_gradients(layers, [[0, 0, 0], [0, np.inf, 0]], baseline=np.zeros(3))
    for outputs, message in ((2, "no output 2"), (True, "no output True"), ([], "asks for nothing"), ("top", "'top'")):
        with pytest.raises(PolyfoldError, match=message):
            pf.explain.integrated_gradients(layers, X, baseline=np.zeros(3), output=outputs)  # type: ignore[arg-type]


def test_what_is_not_complete_is_refused() -> None:
    found = pf.explain.integrated_gradients(
        layers_of(np.random.default_rng(0), 3, 4, 2), np.ones((2, 3)), baseline=np.zeros(3)
    )
    values = np.array(found.values)
    values[1, 0, 0] += 1e-6
    with pytest.raises(PolyfoldError, match="gradients of input 1 miss"):
        replace(found, values=values)


def test_large_programs_go_by_vertices() -> None:
    rng = np.random.default_rng(4)
    program = lower(pf.load(layers_of(rng, 50, 1100, 1000, 2)))
    x, start = rng.normal(size=(2, 50))
    found = pf.explain.integrated_gradients(program, x[None], baseline=start)
    times = (np.arange(4000) + 0.5) / 4000
    gradients = pf.local(program, start + times[::20, None] * (x - start), settle=False).A
    assert np.abs(found.values[0] - (gradients.mean(axis=0) * (x - start)).T).max() < 0.05
    assert found.completeness_error[0] < PROMISED and found.segments[0] > 300
