"""Means, variances, extrema and class areas in one to five dimensions, against a million samples each."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.known_networks import random_classifier
from helpers.slow_params import quick_then_slow


@pytest.mark.parametrize("dim", quick_then_slow([1, 2, 3, 4, 5], quick=2))
def test_against_a_million_samples(dim):
    rng = np.random.default_rng(10 + dim)
    network = random_classifier(rng, dim, 6, 4, 3)
    atlas = pf.unfold(network, pf.box(-1, 2))
    values = atlas.program.evaluate(rng.uniform(-1, 2, size=(1_000_000, dim)))[0]

    # Six standard errors.
    away = values - values.mean(axis=0)
    assert np.all(np.abs(pf.stats.mean(atlas).value - values.mean(axis=0)) < 6e-3 * values.std(axis=0))
    spread = np.sqrt(np.mean(away**4, axis=0) - np.mean(away**2, axis=0) ** 2)
    assert np.all(np.abs(pf.stats.variance(atlas).value - values.var(axis=0)) < 6e-3 * spread)
    products = np.einsum("ni,nj->nij", away[:100_000], away[:100_000])
    errors = products.std(axis=0) / np.sqrt(len(away))
    assert np.all(np.abs(pf.stats.covariance(atlas).value - np.cov(values.T)) < 7 * errors)

    for k in range(3):
        top, bottom = pf.stats.maximum(atlas, output=k), pf.stats.minimum(atlas, output=k)
        assert top.settled and bottom.settled
        assert bottom.value <= values[:, k].min() and values[:, k].max() <= top.value
        # Nor is the value made up: the point has it.
        assert atlas.program.evaluate(top.point[None])[0][0, k] == pytest.approx(top.value)

    areas = pf.stats.class_areas(atlas)
    assert areas.total == pytest.approx(3**dim, rel=1e-12) and not areas.tied.any()
    won = np.bincount(values.argmax(axis=1), minlength=3) / len(values)
    assert np.all(np.abs(areas.shares - won) < 6e-3 * np.sqrt(won * (1 - won)) + 1e-5)
