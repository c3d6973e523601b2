"""The same questions on lines and planes, through networks that are never written out too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson, trapezoid

import polyfold as pf
from helpers.known_networks import random_classifier
from polyfold.atlas.geometry.flat_cells import flat_covariances, flat_measures
from polyfold.datasets.convolutional import mnist_conv
from polyfold.engine.unfold import unfold_program
from polyfold.program.derive.argmax import with_classes

FROM_TO = (0.125, 0.1875)


@pytest.fixture(scope="module")
def fading() -> pf.Atlas:
    """A part of the way from a picture of noise to a ring, on which the class changes from 8 to 0."""
    noise = np.random.default_rng(0).random((28, 28))
    y, x = np.mgrid[:28, :28] - 14
    ring = np.exp(-((x**2 + y**2 - 49) ** 2) / 400)
    return pf.unfold(mnist_conv(), pf.line(noise, ring, extend=FROM_TO))


def breakpoints(atlas: pf.Atlas) -> np.ndarray:
    return np.unique(np.concatenate([ends.ravel() for ends in atlas.vertices()]))


def values_at(atlas: pf.Atlas, t: np.ndarray) -> np.ndarray:
    return atlas.program.evaluate(atlas.lift(t[:, None]))[0]


def test_integrals_by_rules_that_are_exact_between_breakpoints(fading):
    ends = breakpoints(fading)
    t = np.sort(np.concatenate([ends, (ends[1:] + ends[:-1]) / 2]))
    values = values_at(fading, t)
    assert pf.stats.integral(fading).value == pytest.approx(trapezoid(values, t, axis=0), rel=1e-9, abs=1e-12)
    squares = sum(
        simpson(values[i : i + 3] ** 2, x=t[i : i + 3], axis=0) for i in range(0, len(t) - 2, 2) if t[i] < t[i + 2]
    )
    length = FROM_TO[1] - FROM_TO[0]
    assert pf.stats.variance(fading).value == pytest.approx(
        squares / length - pf.stats.mean(fading).value ** 2, rel=1e-6
    )


def test_extrema_and_slopes_are_those_at_breakpoints(fading):
    ends = breakpoints(fading)
    values = values_at(fading, ends)
    for k in (0, 8):
        top = pf.stats.maximum(fading, output=k)
        assert top.value == pytest.approx(values[:, k].max()) and top.exact_value is None and not top.proved
        assert values_at(fading, top.point)[0, k] == pytest.approx(top.value)
        assert pf.stats.minimum(fading, output=k).value == pytest.approx(values[:, k].min())
    long = np.flatnonzero(np.diff(ends) > 1e-6)
    slopes = np.diff(values, axis=0)[long] / np.diff(ends)[long, None]
    found = pf.stats.lipschitz(fading)
    assert np.linalg.norm(slopes, axis=1).max() <= found.value * (1 + 1e-6)
    assert found.value <= np.linalg.norm(slopes, axis=1).max() * (1 + 1e-2)


def test_classes_along_a_line(fading):
    classes = pf.stats.classes(fading)
    assert len(set(classes.label)) > 1 and classes.atlas.certificate.level == "checked"
    t = np.linspace(*FROM_TO, 500)
    winners = values_at(fading, t).argmax(axis=1)
    assert np.array_equal(classes.of(t[:, None]), winners)
    areas = pf.stats.class_areas(classes)
    assert areas.total == pytest.approx(FROM_TO[1] - FROM_TO[0])
    assert areas.shares == pytest.approx(np.bincount(winners, minlength=10) / len(t), abs=5e-3)
    boundary = pf.stats.decision_boundary(classes)
    values = values_at(fading, boundary.points[:, 0])
    rows = np.arange(len(boundary))
    for side in range(2):
        assert values[rows, boundary.pair[:, side]] == pytest.approx(values.max(axis=1), abs=1e-9)
    # In one dimension the nearest change is the nearest point of the boundary.
    x = np.array([[0.13], [0.18]])
    found = pf.stats.nearest_change(classes, x)
    own = (boundary.pair[None] == found.label[:, None, None]).any(axis=2)
    apart = np.where(own, np.abs(boundary.points[:, 0] - x), np.inf).min(axis=1)
    assert found.distance == pytest.approx(apart)


@pytest.mark.parametrize("dim", [1, 2])
def test_segments_and_polygons_have_the_moments_that_the_core_finds(dim):
    rng = np.random.default_rng(dim)
    corners = rng.normal(size=(dim + 1, 4))
    domain = pf.line(*corners) if dim == 1 else pf.plane(*corners)
    atlas = pf.unfold(random_classifier(rng, 4, 9, 6, 2), domain)
    volumes, _, covariances = atlas.moments()
    assert flat_measures(atlas, atlas.ids())[0] == pytest.approx(volumes, rel=1e-9)
    scale = np.abs(covariances).max(axis=(1, 2))
    assert np.all(np.abs(flat_covariances(atlas, atlas.ids()) - covariances).max(axis=(1, 2)) <= 1e-7 * scale)


@pytest.mark.parametrize("dim", [1, 2])
def test_both_engines_cut_classes_alike(dim):
    rng = np.random.default_rng(10 + dim)
    corners = rng.normal(size=(dim + 1, 4))
    domain = pf.line(*corners) if dim == 1 else pf.plane(*corners)
    atlas = pf.unfold(random_classifier(rng, 4, 9, 6, 5), domain)
    program = with_classes(atlas.program).program
    by_vertices = unfold_program(program, atlas.domain, by_vertices=True)
    assert np.array_equal(
        np.unique(by_vertices.patterns, axis=0), np.unique(pf.stats.classes(atlas).atlas.patterns, axis=0)
    )
    assert pf.certify(by_vertices).level == "certified"


def test_moments_on_a_plane_through_a_large_network():
    one, other, third = np.random.default_rng(1).random((3, 784))
    atlas = pf.unfold(mnist_conv(), pf.plane(one, other - one, third - one, pf.box(0, 1e-3)))
    U = np.random.default_rng(2).uniform(0, 1e-3, size=(4000, 2))
    values = atlas.program.evaluate(atlas.lift(U))[0]
    spread = values.std(axis=0)
    assert np.all(np.abs(pf.stats.mean(atlas).value - values.mean(axis=0)) < 6 * spread / np.sqrt(len(U)))
    assert pf.stats.variance(atlas).value == pytest.approx(values.var(axis=0), rel=0.12)
    assert np.trace(atlas.covariances(), axis1=1, axis2=2).min() > 0
