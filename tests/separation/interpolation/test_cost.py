"""The cost, its parts and its bound, from their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.interpolation_data import sequence
from polyfold.errors import DataError, NetworkError, ShapeError


def chain(rng, widths):
    return [(rng.normal(size=(out, into)), rng.normal(size=out)) for into, out in pairwise(widths)]


def by_hand(layers, X):
    for weight, bias in layers[:-1]:
        X = np.maximum(X @ weight.T + bias, 0)
    return X @ layers[-1][0].T + layers[-1][1]


def draw(rng):
    """Surjective weights: widths that never grow."""
    classes = int(rng.integers(2, 4))
    widths = sorted(rng.integers(classes, 7, size=int(rng.integers(1, 4))), reverse=True)
    y = np.append(np.arange(classes), rng.integers(0, classes, 12))
    return chain(rng, [*map(int, widths), classes]), rng.normal(size=(len(y), int(widths[0]))) + 3 * y[:, None], y


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_parts_add_up(seed):
    layers, X, y = draw(np.random.default_rng(seed))
    found = pf.separation.cost_decomposition(layers, X, y)
    outputs, goals = by_hand(layers, X), np.eye(int(y.max()) + 1)
    squares = [sum((a - b) ** 2 for a, b in zip(outputs[i], goals[y[i]], strict=True)) for i in range(len(y))]
    cost = sum(squares[i] / np.sum(y == y[i]) for i in range(len(y)))
    assert found.total == pytest.approx(cost, rel=1e-12)
    parts = found.spread.sum() + found.offset.sum()
    assert abs(found.total - parts) <= 1e-10 * max(1.0, cost)
    assert found.truncated_spread is not None, found.reason
    assert np.allclose(found.truncated_spread, found.spread, rtol=1e-6, atol=1e-10)
    assert np.allclose(found.truncated_offset, found.offset, rtol=1e-6, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_bound_holds(seed):
    """With the constant that the talk leaves open, which is Q. And no last layer of that form can do without it."""
    layers, X, y = draw(np.random.default_rng(seed))
    try:
        found = pf.separation.cost_bound(layers, X, y)
    except DataError as error:
        assert "linearly dependent" in str(error)
        return
    assert found.cost <= found.bound * (1 + 1e-9) + 1e-18
    assert found.bound == pytest.approx(len(found.labels) * found.largest)
    # The best last layer costs no more. It starts from the same hidden states.
    hidden = X
    for weight, bias in layers[:-1]:
        hidden = np.maximum(hidden @ weight.T + bias, 0)
    counts = np.bincount(y)[y]
    rows = np.column_stack([hidden, np.ones(len(X))]) / np.sqrt(counts)[:, None]
    goals = np.eye(len(found.labels))[y] / np.sqrt(counts)[:, None]
    best = np.sum((rows @ np.linalg.lstsq(rows, goals, rcond=None)[0] - goals) ** 2)
    assert best <= found.bound * (1 + 1e-9) + 1e-12
    # Coordinates of the deviations, from which the largest is made (6.9).
    squares = ((found.coordinates @ np.eye(len(found.labels))) ** 2).sum(axis=1)
    assert squares.max() == pytest.approx(found.largest, rel=1e-6, abs=1e-18)


def test_the_constant_is_needed():
    """A cost above the largest deviation: with a constant of one the bound would be wrong."""
    X, y = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 3.0]]), [0, 0, 1, 1]
    found = pf.separation.cost_bound([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))], X, y)
    assert (
        found.cost == pytest.approx(0.5) and found.largest == pytest.approx(0.25) and found.bound == pytest.approx(0.5)
    )


def test_an_interpolant_has_nothing_left():
    X, y = sequence(4, 4, np.random.default_rng(0))
    built = pf.separation.interpolate(X, y)
    found = built.decomposition(X, y)
    assert found.total <= 1e-20 and found.truncated_spread.sum() <= 1e-20 and found.truncated_offset.sum() <= 1e-20
    assert abs(found.total - found.spread.sum() - found.offset.sum()) <= 1e-10
    assert pf.separation.cost_bound(built.network, X, y).bound <= 1e-20
    # With wrong labels there is a cost; one class alone has one as well.
    assert built.loss(X, 3 - y) == pytest.approx(8.0) and built.loss(X[y == 2], y[y == 2]) <= 1e-20


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_barycentric_coordinates(seed):
    rng = np.random.default_rng(seed)
    count, dim = int(rng.integers(1, 4)), int(rng.integers(4, 7))
    means, points = rng.normal(size=(count, dim)), rng.normal(size=(9, dim))
    kappa, rest = pf.separation.barycentric(points, means)
    assert np.allclose(kappa @ means + rest, points, rtol=0, atol=1e-9)
    assert np.allclose(rest @ means.T, 0, rtol=0, atol=1e-9)
    assert np.allclose(pf.separation.barycentric(means, means)[0], np.eye(count), rtol=0, atol=1e-8)


def test_what_has_no_truncated_form_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), [0, 0, 0, 1, 1, 1]
    wide = pf.separation.cost_decomposition(chain(rng, [2, 3, 2]), X, y)
    assert wide.truncated_spread is None and "layer 1, of shape (3, 2), are not surjective" in wide.reason
    assert wide.total == pytest.approx(wide.spread.sum() + wide.offset.sum(), rel=1e-12)
    with pytest.raises(NetworkError, match="not surjective"):
        pf.separation.cost_bound(chain(rng, [2, 3, 2]), X, y)
    torch = pytest.importorskip("torch")
    leaky = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LeakyReLU(), torch.nn.Linear(2, 2)).double()
    assert "its slopes are" in pf.separation.cost_decomposition(leaky, X, y).reason


def test_bad_input():
    identity = [(np.eye(2), np.zeros(2))]
    X, y = [[0.0, 1.0], [1.0, 0.0]], ["a", "b"]
    with pytest.raises(ShapeError, match="targets must be a row of 2 numbers"):
        pf.separation.cost_decomposition(identity, X, y, targets=[[1.0]])
    with pytest.raises(DataError, match="no entry for the label 'b'"):
        pf.separation.cost_decomposition(identity, X, y, targets={"a": [0, 0]})
    with pytest.raises(ShapeError, match="X must be rows of 2 numbers"):
        pf.separation.cost_decomposition(identity, [[1.0], [2.0]], y)
    with pytest.raises(DataError, match="linearly dependent"):
        pf.separation.cost_bound(identity, [[0.0, 1.0], [0.0, 2.0]], y)
    with pytest.raises(DataError, match="linearly dependent"):
        pf.separation.barycentric([[1.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(ShapeError, match=r"points must be rows of 1 number.*\(1, 2\)"):
        pf.separation.barycentric([[1.0, 2.0]], [[1.0]])
