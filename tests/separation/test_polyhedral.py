"""A cone or a simplex around one of two classes: checked in fractions, against all ways to share points out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.separability_oracles import NONE, SOME, gap
from helpers.separability_proofs import no_polyhedron, polyhedron_holds
from helpers.slow_params import examples, quick_then_slow


def half_spaces_needed(inner, outer, most):
    """The least number of half-spaces, by all ways to share the outer points out; None if floats do not tell."""
    for count in range(1, most + 1):
        doubt = False
        for choice in product(range(count), repeat=len(outer)):
            gaps = [gap(inner, outer[np.array(choice) == g]) for g in range(count) if g in choice]
            if min(gaps) > SOME:
                return count
            doubt |= min(gaps) > NONE
        if doubt:
            return None
    return most + 1


def draw(rng):
    dim = int(rng.integers(1, 4))
    inner, outer = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    if rng.random() < 0.5:
        X = rng.integers(-2, 3, size=(inner + outer, dim)).astype(float)
    else:
        X = np.concatenate([rng.normal(size=(inner, dim)), 2 * rng.normal(size=(outer, dim))])
    return X, np.repeat([0, 1], [inner, outer])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(50), deadline=None)
def test_cones(seed):
    X, y = draw(np.random.default_rng(seed))
    found = pf.separation.cone(X, y)
    dim = X.shape[1]
    least = [half_spaces_needed(X[y == k], X[y != k], dim) for k in (0, 1)]
    if found.word == "separable":
        polyhedron_holds(found, X, y)
        assert 1 <= len(found.bias) <= dim and np.linalg.matrix_rank(found.weights) == len(found.bias)
        assert least[found.inside] is None or least[found.inside] <= dim
        # The apex and the generators are those of the weights.
        assert np.allclose(
            found.weights @ found.base + found.bias, 0, rtol=0, atol=1e-6 * (1 + np.abs(found.base).max())
        )
        assert np.allclose(found.weights @ found.generators.T, np.eye(len(found.bias)), rtol=0, atol=1e-6)
    else:
        assert found.word == "not separable"
        no_polyhedron(found, X, y, dim)
        assert all(count is None or count > dim for count in least)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(50), deadline=None)
def test_simplices(seed):
    X, y = draw(np.random.default_rng(seed))
    found = pf.separation.simplex(X, y)
    dim = X.shape[1]
    least = [half_spaces_needed(X[y == k], X[y != k], dim + 1) for k in (0, 1)]
    if found.word == "separable":
        polyhedron_holds(found, X, y)
        assert found.weights.shape == (dim + 1, dim) and found.vertices.shape == (dim + 1, dim)
        inside = found.vertices.mean(axis=0)
        assert (found.weights @ inside + found.bias < 0).all(), (
            "a simplex that is bounded holds the mean of its corners"
        )
    elif found.word == "not separable":
        no_polyhedron(found, X, y, dim + 1)
        assert all(count is None or count > dim for count in least)
    else:
        assert "floats" in found.reason
    if any(count is not None and count <= dim for count in least):
        assert found.word == "separable"


def ring(count, radius, turn=0.0):
    angles = 2 * np.pi * (np.arange(count) + turn) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def test_concentric_data_need_a_simplex():
    X, y = np.concatenate([ring(6, 1.0), ring(9, 4.0)]), np.repeat(["core", "shell"], [6, 9])
    cone = pf.separation.cone(X, y)
    assert cone.word == "not separable"
    no_polyhedron(cone, X, y.tolist(), 2)
    found = pf.separation.simplex(X, y)
    assert found.word == "separable" and found.inside == "core"
    polyhedron_holds(found, X, y)


def test_a_shell_too_tight_for_any_triangle():
    """A triangle around a disc has a corner at twice its radius or farther out: it meets a dense shell nearer to it."""
    X, y = np.concatenate([ring(24, 1.0), ring(16, 1.25)]), [0] * 24 + [1] * 16
    found = pf.separation.simplex(X, y)
    assert found.word == "not separable" and not found.weights.size
    outer = {k for o in found.group_obstacles if o.inside == 0 for k in o.others}
    assert outer <= set(range(24, 40))
    assert pf.separation.simplex(X, y, inside=1).word == "not separable"


@pytest.mark.parametrize("seed", range(4))
def test_facets_of_one_simplex_are_more_than_half_spaces(seed):
    """Walls that lean outwards as they rise, and a floor: three half-spaces, but they never meet above."""
    rng = np.random.default_rng(seed)
    inner = np.array([[-10.0, 10.0], [10.0, 10.0], [1.0, 0.0], [-1.0, 0.0]])
    height = rng.uniform(0, 10, 6)
    away = 1 + 0.9 * height + rng.uniform(0.05, 0.6, 6)
    walls = np.column_stack([away * [-1, -1, -1, 1, 1, 1], height])
    outer = np.concatenate([walls, [[-0.5, -0.2], [0.5, -0.2]]]).round(2)
    X, y = np.concatenate([inner, outer]), [0] * 4 + [1] * 8
    found = pf.separation.simplex(X, y, inside=0)
    assert found.word == "not separable" and found.facet_obstacles
    no_polyhedron(found, X, y, 3, inside=(0,))
    groups = [np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([6, 7])]
    assert all(gap(inner, outer[group]) > SOME for group in groups)


def test_one_class_only_can_be_inside():
    X, y = np.concatenate([ring(6, 1.0), ring(9, 4.0)]), np.repeat([0, 1], [6, 9])
    outside = pf.separation.simplex(X, y, inside=1)
    assert outside.word == "not separable"
    (obstacle,) = outside.group_obstacles
    assert len(obstacle.others) == 1, "one point of the core in the shell's hull is enough"


def test_no_time_is_said_so():
    X, y = np.concatenate([ring(6, 1.0), ring(9, 4.0)]), np.repeat([0, 1], [6, 9])
    found = pf.separation.cone(X, y, max_seconds=1e-9)
    assert found.word == "unknown" and "seconds" in found.reason and "seconds" in repr(found)


@pytest.mark.parametrize("dim", quick_then_slow([3, 10, 20, 50], quick=3))
def test_concentric_data_in_many_dimensions(dim):
    rng = np.random.default_rng(dim)
    X = rng.normal(size=(4 * dim, dim))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.repeat([0, 1], [dim, 3 * dim])
    X[y == 1] *= dim + 1
    found = pf.separation.simplex(X, y)
    assert found.word == "separable" and found.weights.shape == (dim + 1, dim)
    inside = X @ found.weights.T + found.bias < 0
    assert inside[y == found.inside].all() and not inside[y != found.inside].all(axis=1).any()
