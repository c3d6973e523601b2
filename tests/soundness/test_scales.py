"""The unit that data are measured in changes no answer, and nothing but a PolyfoldError comes out at any scale."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MODELS
from polyfold.errors import PolyfoldError

# Powers of two up to the ends of the number range: data times these are the same data, to the last bit.
POWERS = (-1060, -1000, -530, -40, 40, 500, 1000)


def drawn(seed: int) -> tuple[Any, Any]:
    """Few points on a grid of eighths, in two classes or three; every third set has a point with two labels."""
    rng = np.random.default_rng(seed)
    dim, classes = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, size=int(rng.integers(1, 7)))])
    centres = rng.integers(-40, 41, size=(classes, dim))
    X = (centres[y] + rng.integers(-8, 9, size=(len(y), dim))) / 8.0
    if seed % 3 == 2:
        X[1] = X[0]
    return X, y


def exact(rows: Any) -> list[list[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in rows]


def polyhedron_holds(found: Any, X: Any, y: Any) -> bool:
    """weights @ x + bias is negative in all entries inside, and positive in one outside; in fractions."""
    walls = list(zip(exact(found.weights), map(Fraction, found.bias.tolist()), strict=True))
    for x, label in zip(exact(X), y, strict=True):
        sides = [sum((w * v for w, v in zip(row, x, strict=True)), b) for row, b in walls]
        if not (all(side < 0 for side in sides) if label == found.inside else any(side > 0 for side in sides)):
            return False
    return True


@pytest.mark.parametrize("seed", range(24))
def test_a_power_of_two_changes_no_answer(seed: int) -> None:
    X, y = drawn(seed)
    power = POWERS[seed % len(POWERS)]
    Z = np.ldexp(X, power)
    assert np.array_equal(np.ldexp(Z, -power), X)
    assert bool(pf.separation.clustered(Z, y)) == bool(pf.separation.clustered(X, y))
    one, other = pf.separation.sequential(X, y), pf.separation.sequential(Z, y)
    assert (one.word, one.order) == (other.word, other.order)
    assert other.margin == pytest.approx(np.ldexp(one.margin, power), nan_ok=True)
    if len(set(y)) > 2:
        return
    for question in (pf.separation.cone, pf.separation.simplex):
        here, there = question(X, y), question(Z, y)
        assert (here.word, here.inside) == (there.word, there.inside)
        if there.word == "separable":
            assert polyhedron_holds(there, Z, y)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-12, 1e200, 1e300])
def test_networks_are_built_as_accurately_at_any_scale(seed: int, factor: float) -> None:
    X, y = drawn(seed)
    try:
        usual = pf.separation.interpolate(X, y, width=max(X.shape[1], 3))
    except PolyfoldError as error:
        with pytest.raises(PolyfoldError):
            pf.separation.interpolate(X * factor, y, width=max(X.shape[1], 3))
        assert seed % 3 == 2 or "no construction applies" in str(error)
        return
    found = pf.separation.interpolate(X * factor, y, width=max(X.shape[1], 3))
    assert found.kind == usual.kind and found.predict(X * factor).tolist() == y.tolist()
    assert found.training_cost <= max(1e3 * usual.training_cost, 1e-20)


@pytest.mark.parametrize("seed", range(15))
def test_features_of_different_scales_end_in_an_answer_or_one_clear_error(seed: int) -> None:
    X, y = drawn(seed)
    Z = X * 10.0 ** np.random.default_rng(seed).integers(-300, 300, size=X.shape[1])
    questions = [
        pf.separation.clustered,
        pf.separation.sequential,
        partial(pf.separation.interpolate, kind="clustered"),
        partial(pf.separation.interpolate, kind="sequential"),
    ]
    questions += (
        [pf.separation.interpolate]
        if len(set(y)) > 2
        else [pf.separation.interpolate, pf.separation.cone, pf.separation.simplex]
    )
    for question in questions:
        try:
            found = question(Z, y)
        except PolyfoldError:
            continue
        if getattr(found, "word", "") == "separable" and question in (pf.separation.cone, pf.separation.simplex):
            assert polyhedron_holds(found, Z, y)


def test_a_point_with_two_labels_is_a_no_with_the_pair() -> None:
    X, y = [[1.0, 5.0], [0.0, 0.0], [1.0, 5.0], [7.0, 1.0]], ["a", "a", "b", "b"]
    said = "rows 0 and 2 of X are the same point, [1.0, 5.0], with the labels 'a' and 'b'"
    order = pf.separation.sequential(X, y)
    assert order.word == "not separable" and order.same_point == (0, 2) and said in order.reason
    assert not bool(pf.separation.clustered(X, y)) and said in pf.separation.clustered(X, y).reason
    for found in (pf.separation.cone(X, y), pf.separation.simplex(X, y)):
        assert found.word == "not separable" and said in found.reason
        assert all(
            obstacle.own == {rows[0]: 1} and obstacle.others == {rows[1]: 1}
            for obstacle, rows in zip(found.group_obstacles, ((0, 2), (2, 0)), strict=True)
        )
    with pytest.raises(PolyfoldError, match="no classifier has both"):
        pf.separation.interpolate(X, y)


@pytest.mark.shared("models")
def test_outputs_of_a_truncation_are_those_of_the_network() -> None:
    """States of this network are a thousand million times as large as its outputs."""
    network = pf.load(MODELS / "acasxu_1_1.onnx")
    found = pf.layers.truncation(network, lift=True)
    X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(50, 5))
    assert found.holds and np.abs(found.states(X)[-1]).max() > 1e8
    assert np.abs(found.outputs(X) - network(X)).max() < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_outputs_do_not_cancel(seed: int) -> None:
    """Nearly dependent layers, in fractions: outputs of the affine map at the exact states, or of the network."""
    rng = np.random.default_rng(seed)
    first = rng.integers(-4, 5, size=(3, 3)).astype(float)
    first[2] = first[0] + first[1] + np.array([0.0, 0.0, 2.0**-26])
    second = first + rng.integers(-1, 2, size=(3, 3)) * 2.0**-20
    layers = [(first, rng.integers(-3, 4, size=3) * 1.0), (second, np.ones(3)), (rng.normal(size=(2, 3)), np.zeros(2))]
    found, X = pf.layers.truncation(layers), rng.normal(size=(6, 3))
    states = found.states_exactly(X)[-1]
    weight, bias = found.exact_output
    expected = [
        [
            float(Fraction(int(v.p), int(v.q)))
            for v in (
                sum(w * s for w, s in zip(row, state, strict=True)) + b for row, b in zip(weight, bias, strict=True)
            )
        ]
        for state in states
    ]
    np.testing.assert_allclose(found.outputs(X), expected, rtol=1e-9, atol=1e-9)
