"""pf.rewrite.stability: what it says of every gate agrees with all cells, with each of its methods alone."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import given, settings

import polyfold as pf
from helpers.slow_params import examples
from polyfold.rewrite.stability import decide
from polyfold.testing.strategies import cases

METHODS = ("cells", "boxes", "programs")


@pytest.fixture(params=METHODS)
def method(request, monkeypatch):
    """One method is left, the others do nothing."""
    monkeypatch.setattr(decide, "_CELL_DIMENSIONS", 8 if request.param == "cells" else 0)
    monkeypatch.setattr(decide, "_BOX_DIMENSIONS", 8 if request.param == "boxes" else 0)
    return request.param


def random_layers(rng, dims):
    shapes = zip(dims[1:], dims[:-1], strict=True)
    return [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes]


def agrees(found, program, domain):
    """Whether an atlas says the same; a gate may be zero on cells in which it is off, and then it is "on" as well."""
    atlas = pf.unfold(program, domain)
    signs = atlas.signs()
    values = np.concatenate(_pre_activations(atlas.program, atlas.domain.lift(atlas.witnesses)), axis=1)
    for gate, word in enumerate(found.behaviour):
        on = signs[:, gate]
        if word == "off":
            assert not on.any()
        elif word == "on":
            assert np.abs(values[~on, gate]).max(initial=0.0) < 1e-9
        elif word == "switches":
            assert on.any() and not on.all()
        assert bool(found.proof[gate]) == (word in ("on", "off"))


def _pre_activations(program, X):
    """A forward pass, by the definition of a program."""
    sources, found = [X], []
    for stage in program.stages:
        z = stage.affine(sources)
        found.append(z)
        sources.append(np.where(z > 0, stage.slope_on * z, stage.slope_off * z))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_random_networks(method, seed):
    rng = np.random.default_rng(seed)
    dims = [int(rng.integers(1, 4)), *(int(rng.integers(3, 8)) for _ in range(int(rng.integers(1, 4)))), 2]
    layers = random_layers(rng, dims)
    found = pf.rewrite.stability(layers, pf.box(-1, 1))
    assert "undecided" not in found.behaviour
    agrees(found, layers, pf.box(-1, 1))


@settings(max_examples=examples(60), deadline=None)
@given(cases())
def test_generated_cases(case):
    found = pf.rewrite.stability(case.program, case.domain, max_seconds=5)
    agrees(found, case.program, case.domain)


def test_bounds_that_end_at_zero():
    """x + 1 and -x - 1 on [-1, 1] are never negative and never positive, by nothing."""
    layers = [([[1.0], [-1.0], [0.1]], [1.0, -1.0, 0.1]), ([[1.0, 1.0, 1.0]], [0.0])]
    assert pf.rewrite.stability(layers, pf.box(-1, 1)).behaviour == ("on", "off", "on")
    just_more = [([[1.0]], [np.nextafter(1.0, 0.0)]), ([[1.0]], [0.0])]
    assert pf.rewrite.stability(just_more, pf.box(-1, 1)).behaviour == ("switches",)


def test_everywhere():
    """On R^d signs of weights behind a ReLU tell, and cells tell more."""
    layers = [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0.0, 0.0, 0.0]),
        ([[1.0, 2.0, 0.0], [-1.0, 0.0, -1.0], [1.0, -1.0, 0.0], [2.0, 1.0, 0.5]], [0.5, 0.0, 0.0, 0.0]),
        ([[1.0, 1.0, 1.0, 1.0]], [0.0]),
    ]
    assert pf.rewrite.stability(layers).behaviour[3:] == ("on", "off", "switches", "on")
    # relu(x) + relu(-x) - relu(x / 2) is never negative, which no bound of signs shows.
    hidden = [layers[0], ([[1.0, 1.0, 0.0]], [0.0]), ([[1.0]], [0.0])]
    wedge = [([[1.0], [-1.0], [0.5]], [0.0] * 3), ([[1.0, 1.0, -1.0]], [0.0]), ([[1.0]], [0.0])]
    assert pf.rewrite.stability(hidden).behaviour[-1] == "on"
    found = pf.rewrite.stability(wedge)
    assert found.behaviour[-1] == "on" and "cells" in found.proof[-1]


def test_many_dimensions_need_linear_programs():
    """In 30 dimensions neither cells nor boxes help: the largest relu(s) - relu(s / 2) is found by cutting gates."""
    dim = 30
    ones = np.ones((1, dim))
    layers = [(np.vstack([ones, 0.5 * ones, -ones]), np.zeros(3)), ([[1.0, -1.0, 0.0]], [-14.75]), ([[1.0]], [0.0])]
    # s goes up to 30, so relu(s) - relu(s / 2) up to 15.
    assert pf.rewrite.stability(layers, pf.box(-1, 1)).behaviour[-1] == "switches"
    layers[1] = [[1.0, -1.0, 0.0]], [-15.25]
    found = pf.rewrite.stability(layers, pf.box(-1, 1))
    assert found.behaviour[-1] == "off"


@pytest.mark.parametrize("seed", range(4))
def test_wide_networks_by_linear_programs(seed):
    """Largest pre-activations of small second layers in 12 dimensions, by brute force over patterns of the first."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    layers = random_layers(rng, [12, 5, 4, 1])
    (W, b), (V, c) = layers[0], layers[1]
    layers[1] = V, c = V, c - rng.choice([0.0, 6.0, 12.0], size=4)
    found = pf.rewrite.stability(layers, pf.box(-1, 1))
    for gate in range(4):
        most = -np.inf
        for code in range(32):
            on = np.array([code >> k & 1 for k in range(5)], dtype=bool)
            side = np.where(on, -1.0, 1.0)
            slopes = (V[gate] * on) @ W
            best = linprog(-slopes, A_ub=side[:, None] * W, b_ub=-side * b, bounds=[(-1, 1)] * 12)
            if best.status == 0:
                most = max(most, -best.fun + (V[gate] * on) @ b + c[gate])
        word = found.behaviour[5 + gate]
        assert word == "off" if most < 0 else word in ("on", "switches")


def test_what_is_known_is_not_looked_for_again(monkeypatch):
    rng = np.random.default_rng(5)
    layers = random_layers(rng, [3, 6, 6, 1])
    first = pf.rewrite.stability(layers, pf.box(-1, 1))
    again = pf.rewrite.stability(layers, pf.box(-1, 1), start=first)
    assert again.behaviour == first.behaviour
    with pytest.raises(pf.PolyfoldError, match="same network and domain"):
        pf.rewrite.stability(layers, pf.box(-2, 1), start=first)
    reduced = pf.reduce(layers, pf.box(-1, 1), stability=first)
    assert reduced.neurons_after == pf.reduce(layers, pf.box(-1, 1)).neurons_after
    with pytest.raises(pf.PolyfoldError, match="same network and domain"):
        pf.reduce(layers, pf.box(-2, 1), stability=first)


def test_an_interrupt_gives_what_there_is(interruptible):
    rng = np.random.default_rng(6)
    layers = random_layers(rng, [5, 60, 60, 60, 1])
    told = []

    def interrupt(settled):
        told.append(settled)
        if len(told) == 2:
            signal.raise_signal(signal.SIGINT)

    found = pf.rewrite.stability(layers, pf.box(-1, 1), progress=interrupt, max_seconds=300)
    assert "undecided" in found.behaviour and found.seconds < 100 and told


def test_words_and_json():
    layers = [([[1.0], [1.0]], [3.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    found = pf.rewrite.stability(layers, pf.box(-1, 1))
    assert repr(found).startswith("Stability of 2 gates: 1 always on, 1 switch; ")
    assert found.of("on") == ["relu1[0]"]
    facts = found.to_json()
    assert facts["counts"] == {"on": 1, "off": 0, "switches": 1, "undecided": 0}
    assert facts["gates"][0] == {"gate": "relu1[0]", "behaviour": "on", "proof": "interval arithmetic"}


def test_too_large_is_refused():
    from polyfold.datasets.convolutional import mnist_conv

    with pytest.raises(pf.PolyfoldError, match="coefficients once its layers are written out"):
        pf.rewrite.stability(mnist_conv(), pf.box(0, 1))
