"""Clustered data: the condition from its definition in floats, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.separability_oracles import some_order
from helpers.slow_params import examples, quick_then_slow


def draw(rng):
    count, dim = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    y = np.repeat(np.arange(count), int(rng.integers(1, 4)))
    return rng.normal(size=(count, dim))[y] * 3 + rng.choice([0.1, 0.4, 1.0]) * rng.normal(size=(len(y), dim)), y


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(80), deadline=None)
def test_the_definition(seed):
    X, y = draw(np.random.default_rng(seed))
    found = pf.separation.clustered(X, y)
    count = int(y.max()) + 1
    means = np.array([X[y == k].mean(axis=0) for k in range(count)])
    radii = np.array([np.linalg.norm(X[y == k] - means[k], axis=1).max() for k in range(count)])
    assert np.allclose(found.radii, radii, rtol=1e-9, atol=1e-12) and np.allclose(found.means, means, rtol=1e-9, atol=0)
    if count - 1 > X.shape[1]:
        assert not found and "affinely dependent" in found.reason and not found.heights.any()
        return
    heights = []
    for k in range(count):
        others = np.delete(means, k, axis=0)
        edges = (others[1:] - others[0]).T
        away = means[k] - others[0]
        heights.append(
            np.linalg.norm(away - edges @ np.linalg.lstsq(edges, away, rcond=None)[0] if count > 2 else away)
        )
    assert np.allclose(found.heights, heights, rtol=1e-6, atol=0)
    room = [heights[j] - radii[i] - radii[j] for i in range(count) for j in range(count) if i != j]
    room += [(1 - 1 / count) * heights[j] - radii[j] for j in range(count)]
    assert bool(found) == (min(room) > 0)
    if found:
        assert all(some_order(X, y).values()), "clustered data are separable in every order"
        assert pf.separation.sequential(X, y).word == "separable"


def test_the_condition_is_decided_exactly():
    """Radii 1 and 1 and a distance of 2: balls that touch are too large, by however little."""
    for distance, holds in [(2.0, False), (np.nextafter(2.0, 3.0) + 2.0**-40, True)]:
        X = [[-1.0, 0.0], [1.0, 0.0], [0.0, distance - 1.0], [0.0, distance + 1.0]]
        assert bool(pf.separation.clustered(X, [0, 0, 1, 1])) is holds


@pytest.mark.parametrize("dim", quick_then_slow([2, 3, 10, 20, 50], quick=4))
def test_small_enough_clusters_always_are(dim):
    rng = np.random.default_rng(dim)
    y = np.repeat(np.arange(dim), 3)
    means = rng.normal(size=(dim, dim))
    noise = rng.normal(size=(len(y), dim))
    far = pf.separation.clustered(means[y] + noise, y)
    small = 0.2 * far.heights.min() / np.linalg.norm(noise, axis=1).max()
    assert pf.separation.clustered(means[y] + small / 4 * noise, y)
    assert not pf.separation.clustered(means[y] + 100 * noise, y)
