"""Float maps of cells lie within their bounds, also where weights span all exponents."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

import polyfold as pf
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.datasets.convolutional import mnist_conv
from polyfold.exact.rounding import TINY
from polyfold.program.lower.lower import lower
from polyfold.program.passes.underflow import underflow


def extreme_layers(rng):
    """Four layers whose factors underflow together, forwards or backwards, and are multiplied up again."""
    layers = []
    for exponent in rng.permutation([-560, -500, 480, 590]).tolist():
        W = rng.normal(size=(2, 2)) * 2.0 ** (exponent + rng.integers(-20, 20, size=(2, 2)))
        layers.append((W, rng.normal(size=2) * 2.0 ** rng.integers(-20, 20, size=2)))
    return layers


def test_bounds_enclose_the_exact_maps():
    compared = unbounded = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        line = pf.line([1.0, 2.0], [1.0 + 2.0**-40, -3.0])
        atlas = pf.unfold(extreme_layers(rng), line if seed % 2 else pf.box(-1, 1))
        with np.errstate(all="ignore"):
            found = bounded_maps(atlas, np.arange(len(atlas)))
        exact = ExactMaps(atlas)
        for cell in range(len(atlas)):
            values, errors = (array[cell].ravel().tolist() for array in (found.values, found.errors))
            for value, error, true in zip(values, errors, exact[cell], strict=True):
                if np.isfinite(value) and np.isfinite(error):
                    assert abs(Fraction(value) - Fraction(int(true.p), int(true.q))) <= Fraction(error), seed
                    compared += 1
                else:
                    unbounded += 1
    assert compared > 100 and unbounded


def test_ordinary_networks_lose_nothing_to_underflow():
    rng = np.random.default_rng(0)
    widths = (20, *([50] * 40), 2)
    layers = [(rng.normal(size=(n, m)) / m**0.5, rng.normal(size=n)) for m, n in itertools.pairwise(widths)]
    plain, convolutional = lower(pf.load(layers)), lower(mnist_conv())
    for program in (plain, convolutional):
        domain = pf.box(-1, 1).resolve(program.input_dim)
        assert TINY <= underflow(program, domain) < 1e-200


def test_underflow_that_can_be_multiplied_up_is_bounded_by_nothing():
    domain = pf.box(-1, 1).resolve(1)
    deep = [([[2.0**700]], [0.0]), ([[2.0**650]], [0.0]), ([[2.0**-700]], [0.0]), ([[2.0**-650]], [0.0])]
    assert underflow(lower(pf.load(deep)), domain) == np.inf
    milder = [([[2.0**-600]], [0.0]), ([[2.0**-600]], [0.0]), ([[2.0**400]], [0.0])]
    assert 2.0**-674 < underflow(lower(pf.load(milder)), domain) < 2.0**-600
