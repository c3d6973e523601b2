"""Classifiers built from data have zero cost, in the sizes that the theorems promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine

import polyfold as pf
from helpers.interpolation_data import around_a_simplex, clusters, in_a_cone, sequence
from helpers.separability_oracles import gap
from helpers.slow_params import examples, quick_then_slow
from polyfold.errors import DataError, ShapeError

DIMENSIONS = quick_then_slow([2, 3, 10, 20, 50], quick=4)
ZERO = 1e-10


def widths(found):
    return [found.network.input_dim, *(len(n.op.bias) for n in found.network.nodes if n.name.startswith("linear"))]


def exact_everywhere(found, X, y):
    """Zero cost, right labels, and the cost from its definition, in a way of its own."""
    assert found.training_cost <= ZERO and found.loss(X, y) <= ZERO
    assert (found.predict(X) == np.asarray(y)).all()
    layers = [node.op for node in found.network.nodes if node.name.startswith("linear")]
    states = X
    for layer in layers[:-1]:
        states = np.maximum(states @ layer.weight.T + layer.bias, 0)
    outputs = states @ layers[-1].weight.T + layers[-1].bias
    target = dict(zip(found.labels, found.targets, strict=True))
    assert np.abs(outputs - np.array([target[label] for label in y])).max() <= 1e-6


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_clustered_data(dim):
    X, y = clusters(dim, dim, np.random.default_rng(dim))
    assert pf.separation.clustered(X, y)
    found = pf.separation.interpolate(X, y, kind="clustered")
    exact_everywhere(found, X, y)
    assert widths(found) == [dim] * (dim + 1) + [dim]
    backwards = pf.separation.interpolate(X, y, order=range(dim - 1, -1, -1), kind="clustered")
    exact_everywhere(backwards, X, y)
    assert [collapse.label for collapse in backwards.collapses] == list(range(dim - 1, -1, -1))
    assert pf.separation.interpolate(X, y).kind == "clustered"


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_sequentially_separable_data(dim):
    X, y = sequence(dim, dim, np.random.default_rng(dim))
    if dim > 3:
        assert not pf.separation.clustered(X, y), "or the test would say no more than the one before"
    found = pf.separation.interpolate(X, y, kind="sequential")
    exact_everywhere(found, X, y)
    assert widths(found) == [dim] * (dim + 1) + [dim]


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_data_in_a_polyhedral_cone(dim):
    X, y = in_a_cone(dim, np.random.default_rng(dim))
    found = pf.separation.interpolate(X, y, inside=0, kind="cone")
    exact_everywhere(found, X, y)
    facets = len(found.polyhedron.bias)
    assert widths(found) == [dim, facets, facets, 2] and facets <= dim
    # The proposition: after one truncation the classes are linearly separable, and the inner one is a single point.
    first = found.network.nodes[0].op
    truncated = (np.maximum(X @ first.weight.T + first.bias, 0) - first.bias) @ np.linalg.pinv(first.weight).T
    assert gap(truncated[y == 0], truncated[y == 1]) > 1e-6
    assert np.ptp(truncated[y == 0], axis=0).max() <= 1e-12 * np.abs(truncated).max()


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_data_around_a_simplex(dim):
    X, y = around_a_simplex(dim, np.random.default_rng(dim))
    found = pf.separation.interpolate(X, y, inside=0, kind="simplex")
    exact_everywhere(found, X, y)
    assert widths(found) == [dim, dim + 1, dim + 1, 2]


def test_concentric_data():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    X, y = np.concatenate([circle, 3 * circle]), np.repeat(["core", "shell"], 40)
    found = pf.separation.interpolate(X, y)
    assert found.kind == "simplex" and found.polyhedron.inside == "core" and widths(found) == [2, 3, 3, 2]
    exact_everywhere(found, X, y)


def test_crossed_data():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    found = pf.separation.interpolate(X, y)
    assert found.kind == "cone"
    exact_everywhere(found, X, y)


def test_wine_and_iris():
    X, y = load_wine(return_X_y=True)
    found = pf.separation.interpolate(X, y)
    assert found.kind == "sequential" and widths(found) == [13, 13, 13, 13, 3]
    exact_everywhere(found, X, y)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match=r"no construction.*clustered: .*sequential: .*not separable in any order"):
        pf.separation.interpolate(X, y)
    exact_everywhere(pf.separation.interpolate(X[y < 2], y[y < 2]), X[y < 2], y[y < 2])


def test_digits():
    """Ten classes of real data; what was left out is classified far better than by chance."""
    X, y = load_digits(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    found = pf.separation.interpolate(X[half], y[half])
    assert found.kind == "sequential" and widths(found) == [64] * 11 + [10]
    exact_everywhere(found, X[half], y[half])
    assert np.mean(found.predict(X[~half]) == y[~half]) > 0.9


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(40), deadline=None)
def test_whatever_is_separable_is_interpolated(seed):
    rng = np.random.default_rng(seed)
    count, dim = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    y = np.repeat(np.arange(count), 3)
    X = 4 * rng.normal(size=(count, dim))[y] + rng.normal(size=(len(y), dim))
    if pf.separation.sequential(X, y).word != "separable":
        return
    found = pf.separation.interpolate(X, y, width=dim + count, kind="sequential")
    exact_everywhere(found, X, y)
    if count <= dim:
        exact_everywhere(pf.separation.interpolate(X, y, kind="sequential"), X, y)


# -- more classes than dimensions


@pytest.mark.parametrize("kind", [None, "clustered", "sequential"])
def test_more_classes_than_dimensions_are_refused(kind):
    X, y = clusters(3, 3, np.random.default_rng(0))
    X, y = np.concatenate([X, [[40.0, 40.0, 40.0]]]), np.append(y, 3)
    with pytest.raises(DataError, match=r"4 classes and hidden layers of width 3: the theorem needs M >= Q"):
        pf.separation.interpolate(X, y, kind=kind)


def test_a_larger_width_makes_room_for_them():
    angles = np.linspace(0, 2 * np.pi, 7, endpoint=False)
    X, y = 5 * np.column_stack([np.cos(angles), np.sin(angles)]), list("abcdefg")
    flat = np.column_stack([X, np.zeros((7, 5))])
    with pytest.raises(DataError, match=r"affinely dependent.*width=11"):
        pf.separation.interpolate(flat, y, kind="sequential")
    exact_everywhere(pf.separation.interpolate(flat, y, width=11, kind="sequential"), flat, y)
    found = pf.separation.interpolate(X, y, width=7, kind="sequential")
    exact_everywhere(found, X, y)
    assert widths(found) == [2] + [7] * 8


# -- the family (theta, nu, mu)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(30), deadline=None)
def test_the_whole_family_has_zero_cost(seed):
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(2, 5))
    X, y = clusters(dim, dim, rng)
    base = pf.separation.interpolate(X, y, kind="clustered")
    order = rng.permutation(dim)
    # Any base points where the radii leave room, any order; normals a little off; any aperture that is wide enough.
    clustered = pf.separation.clustered(X, y)
    low = np.array([max(1 / dim, np.delete(clustered.radii, k).max() / clustered.heights[k]) for k in range(dim)])
    level = rng.uniform(
        low + 0.1 * (1 - clustered.radii / clustered.heights - low), 1 - clustered.radii / clustered.heights
    )
    mu = ((1 - level) / (1 - 1 / dim))[order]
    found = pf.separation.interpolate(X, y, order=order.tolist(), mu=mu, kind="sequential")
    exact_everywhere(found, X, y)
    assert [collapse.mu for collapse in found.collapses] == mu.tolist()
    nu = np.array([collapse.nu for collapse in found.collapses])
    nu += 0.01 * np.min([c.theta for c in found.collapses]) * rng.normal(size=nu.shape) / dim
    theta = rng.uniform(np.max([c.theta for c in found.collapses]), np.pi - 0.01, dim)
    other = pf.separation.interpolate(X, y, order=order.tolist(), mu=mu, nu=nu, theta=theta, kind="sequential")
    exact_everywhere(other, X, y)
    assert [collapse.theta for collapse in other.collapses] == theta.tolist()
    assert np.allclose(
        [c.nu for c in other.collapses], nu / np.linalg.norm(nu, axis=1)[:, None], rtol=1e-12, atol=1e-12
    )
    assert base.kind == "clustered" and other.kind == "sequential"


def test_parameters_that_do_not_fit_are_refused():
    X, y = [[0, 0], [1, 0], [5, 0], [5, 1]], ["a", "a", "b", "b"]
    with pytest.raises(DataError, match="0 < mu < 1"):
        pf.separation.interpolate(X, y, mu=1.0, kind="sequential")
    with pytest.raises(DataError, match=r"step 1: no hyperplane through the base point of class 'a' for mu = 0\.01"):
        pf.separation.interpolate([[0, 0], [1, 0], [5, 0], [6, 0]], y, mu=0.01, order=["a", "b"], kind="sequential")
    with pytest.raises(DataError, match=r"the normal \[-1.0, 0.0\]"):
        pf.separation.interpolate(X, y, order=["a", "b"], nu=[[-1, 0], [1, 0]], kind="sequential")
    with pytest.raises(DataError, match=r"theta=0.001 for class .* at least"):
        pf.separation.interpolate(X, y, theta=1e-3, kind="sequential")
    with pytest.raises(DataError, match="less than pi"):
        pf.separation.interpolate(X, y, theta=np.pi, kind="sequential")
    with pytest.raises(ShapeError, match="theta must be one finite number or 2"):
        pf.separation.interpolate(X, y, theta=[1, 2, 3], kind="sequential")
    with pytest.raises(ShapeError, match="nu must be a normal of 2 finite numbers for each of 2 steps"):
        pf.separation.interpolate(X, y, nu=[[1, 0]], kind="sequential")
    with pytest.raises(DataError, match="must name each of the 2 labels"):
        pf.separation.interpolate(X, y, order=["a", "a"], kind="sequential")
    with pytest.raises(DataError, match="width=1 must be an integer, at least 2"):
        pf.separation.interpolate(X, y, width=1, kind="sequential")
    with pytest.raises(DataError, match="same target"):
        pf.separation.interpolate(X, y, targets=[[1.0], [1.0]])
    with pytest.raises(ShapeError, match="targets must have a row"):
        pf.separation.interpolate(X, y, targets=[[1.0, 0.0]])
    with pytest.raises(DataError, match="not clustered"):
        pf.separation.interpolate([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], kind="clustered")
    with pytest.raises(DataError, match="no cone was found"):
        pf.separation.interpolate([[0.0], [1.0], [2.0]], [0, 1, 0], kind="cone")


def test_targets_of_ones_own():
    X, y = clusters(3, 3, np.random.default_rng(1))
    found = pf.separation.interpolate(X, y, targets=[[1.0], [2.0], [-7.0]])
    exact_everywhere(found, X, y)
    assert widths(found)[-1] == 1 and np.allclose(found.network(X)[:, 0], np.array([1, 2, -7])[y], rtol=0, atol=1e-9)


def test_torch_has_the_same_network():
    torch = pytest.importorskip("torch")
    X, y = sequence(3, 3, np.random.default_rng(2))
    found = pf.separation.interpolate(X, y)
    outputs = found.to_torch()(torch.tensor(X)).detach().numpy()
    assert np.allclose(outputs, np.eye(3)[y], rtol=0, atol=1e-9)


def test_it_is_a_network_like_any_other():
    """Classes become points, so the network is constant around them: its atlas knows."""
    X, y = clusters(2, 2, np.random.default_rng(3))
    found = pf.separation.interpolate(X, y)
    atlas = pf.unfold(found.network)
    A, c = atlas.maps(atlas.locate(X))
    assert np.abs(A).max() <= 1e-9 and np.allclose(c, np.eye(2)[y], rtol=0, atol=1e-9)


@pytest.mark.parametrize("dim", [2, 4])
def test_truncation_maps_show_what_the_layers_do(dim):
    """The network seen through truncation maps: layer j takes class j to its base point and leaves all others alone."""
    X, y = sequence(dim, dim, np.random.default_rng(dim))
    found = pf.separation.interpolate(X, y, kind="sequential")
    states = pf.layers.truncation(found.network).states(X)
    expected = X.copy()
    for state, collapse in zip(states[1:], found.collapses, strict=True):
        expected[y == collapse.label] = collapse.cone.base
        assert np.allclose(state, expected, rtol=0, atol=1e-9)


# -- one question for all constructions


def test_an_option_that_a_kind_does_not_have_is_refused_by_name():
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    with pytest.raises(DataError, match=r"theta=1.0 is an option of kind='sequential', not of kind='cone'"):
        pf.separation.interpolate(X, y, kind="cone", theta=1.0)
    with pytest.raises(DataError, match=r"width=3 is an option of kind='clustered' and kind='sequential'"):
        pf.separation.interpolate(X, y, kind="simplex", width=3)
    with pytest.raises(DataError, match="no construction has all of theta= and inside="):
        pf.separation.interpolate(X, y, theta=1.0, inside=0)
    with pytest.raises(DataError, match="kind='circle' must be one of 'clustered', 'sequential', 'cone', 'simplex'"):
        pf.separation.interpolate(X, y, kind="circle")


def test_options_choose_the_constructions_that_have_them():
    X, y = [[0, 0], [1, 0], [5, 0], [5, 1]], ["a", "a", "b", "b"]
    assert pf.separation.interpolate(X, y).kind == "clustered"
    assert pf.separation.interpolate(X, y, mu=0.25).kind == "sequential"
    assert pf.separation.interpolate(X, y, inside="b").kind == "cone"


def test_an_interpolant_is_a_source():
    X, y = clusters(3, 3, np.random.default_rng(0))
    found = pf.separation.interpolate(X, y)
    assert pf.equivalent(found.network, found) and pf.load(found) is found.network
