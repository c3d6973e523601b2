"""The lemma: the truncation map of a cone's weights is the identity ahead and constant behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyfold.errors import DataError
from polyfold.layers.cone_weights import Cone


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_ahead_stays_and_behind_collapses(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 7, 30]))
    choices = [rng.normal(size=n), np.full(n, 1.0), np.full(n, -1.0), np.eye(n)[0]]
    cone = Cone(rng.normal(size=n), choices[int(rng.integers(4))], float(rng.uniform(0.01, np.pi - 0.01)))
    W, b = cone.weights, cone.bias
    if n > 1:
        assert np.allclose(cone.rotation @ cone.rotation.T, np.eye(n), rtol=0, atol=1e-12)
        assert np.linalg.det(cone.rotation) == pytest.approx(1.0)
    assert np.allclose(cone.rotation @ cone.axis, 1 / np.sqrt(n), rtol=0, atol=1e-12)
    assert np.allclose(W @ cone.inverse, np.eye(n), rtol=0, atol=1e-9) and 0 < cone.shrinking <= 1
    # Random points of the cone, half of them on its border.
    across = rng.normal(size=(40, n))
    across -= np.outer(across @ cone.axis, cone.axis)
    if n > 1:
        across /= np.linalg.norm(across, axis=1)[:, None]
    angle = cone.aperture / 2 * np.where(rng.random(40) < 0.5, 1.0, rng.random(40))
    towards = np.cos(angle)[:, None] * cone.axis + np.sin(angle)[:, None] * across
    steps = rng.uniform(0, 5, size=(40, 1)) * towards
    for side, expected in ((1, cone.base + steps), (-1, np.tile(cone.base, (40, 1)))):
        x = cone.base + side * steps
        truncated = (np.maximum(x @ W.T + b, 0) - b) @ np.linalg.inv(W).T
        assert np.allclose(truncated, expected, rtol=0, atol=1e-9 / cone.shrinking)


def test_no_narrower_shrinking_would_do():
    """Directions on the border of the widest cone just reach the border of the orthant."""
    cone = Cone(np.zeros(3), np.array([0.0, 0.0, 1.0]), 2.5)
    angles = np.linspace(0, 2 * np.pi, 3000)
    across = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(3000)])
    border = np.cos(1.25) * cone.axis + np.sin(1.25) * across
    assert abs((border @ cone.weights.T).min()) < 1e-5


@pytest.mark.parametrize("aperture", [0.0, np.pi, -1.0, 4.0])
def test_apertures_that_are_none(aperture):
    with pytest.raises(DataError, match="between 0 and pi"):
        Cone(np.zeros(2), np.ones(2), aperture)


def test_an_axis_that_is_none():
    with pytest.raises(DataError, match="must not be zero"):
        Cone(np.zeros(2), np.zeros(2), 1.0)
