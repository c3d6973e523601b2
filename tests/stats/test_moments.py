"""Integrals, means and variances: closed forms, numerical quadrature, samples, and exact triangulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.integrate import dblquad, qmc_quad, quad
from scipy.spatial import Delaunay
from scipy.stats import qmc

import polyfold as pf
from helpers.atlas_oracles import unfolded
from helpers.known_networks import ABSOLUTE, HAT, LARGER, XOR, random_layers, unit_square
from polyfold.testing.strategies import cases


@pytest.mark.parametrize(
    ("network", "domain", "integral", "variance"),
    [
        (ABSOLUTE, pf.box(-1, 2), 2.5, 1 - 25 / 36),
        (ABSOLUTE, pf.box(-3, 3), 9.0, 3 - 9 / 4),
        (HAT, pf.box(0, 4), 1.0, 1 / 6 - 1 / 16),
        (HAT, pf.box(-5, -1), 0.0, 0.0),
        (LARGER, pf.box(0, 1), 2 / 3, 1 / 18),
        (LARGER, pf.box(-1, 1), 4 / 3, 2 / 3 * (1 / 3)),
        (XOR, pf.box(0, 1), 2 / 3, 1 / 18),
        (XOR, pf.polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]), 1 / 3, 1 / 18),
    ],
)
def test_closed_forms(network, domain, integral, variance):
    atlas = pf.unfold(network, domain)
    volume = atlas.volumes().sum()
    assert pf.stats.integral(atlas).value == pytest.approx([integral], abs=1e-13)
    assert pf.stats.mean(atlas).value == pytest.approx([integral / volume], abs=1e-13)
    assert pf.stats.variance(atlas).value == pytest.approx([variance], abs=1e-13)


def test_covariance_of_a_point_of_the_cube():
    atlas = pf.unfold(
        [(np.eye(3), np.zeros(3)), ([[1.0, 0, 0], [0, 2.0, 0], [1.0, 1.0, 1.0]], np.ones(3))], pf.box(0, 1)
    )
    expected = np.array([[1, 0, 1], [0, 4, 2], [1, 2, 3]]) / 12
    assert pf.stats.covariance(atlas).value == pytest.approx(expected, abs=1e-14)
    assert pf.stats.variance(atlas).value == pytest.approx(np.diag(expected), abs=1e-14)


def test_against_quadrature_in_one_dimension():
    network = random_layers(np.random.default_rng(1), 1, 7, 5, 2)
    atlas, f = pf.unfold(network, pf.box(-2, 3)), pf.load(network)
    ends = sorted({float(x) for vertices in atlas.vertices() for x in vertices.ravel()})
    for k in range(2):
        expected, _ = quad(lambda x, k=k: f([[x]])[0, k], -2, 3, points=ends[1:-1], limit=200)
        squares, _ = quad(lambda x, k=k: f([[x]])[0, k] ** 2, -2, 3, points=ends[1:-1], limit=200)
        assert pf.stats.integral(atlas).value[k] == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert pf.stats.variance(atlas).value[k] == pytest.approx(squares / 5 - (expected / 5) ** 2, rel=1e-9)


def test_against_quadrature_in_two_dimensions():
    network = random_layers(np.random.default_rng(2), 2, 4, 1)
    atlas, f = pf.unfold(network, pf.box([-1, 0], [1, 2])), pf.load(network)
    expected, error = dblquad(lambda y, x: f([[x, y]])[0, 0], -1, 1, 0, 2, epsabs=1e-5, epsrel=1e-5)
    assert pf.stats.integral(atlas).value[0] == pytest.approx(expected, abs=max(error, 1e-5))


@pytest.mark.parametrize("dim", [3, 4, 5])
def test_against_quasi_random_quadrature(dim):
    network = random_layers(np.random.default_rng(dim), dim, 7, 5, 1)
    atlas, f = pf.unfold(network, pf.box(-1, 1)), pf.load(network)
    found = qmc_quad(
        lambda X: f(np.atleast_2d(X.T))[:, 0], -np.ones(dim), np.ones(dim), n_points=2**13, qrng=qmc.Sobol(dim, seed=3)
    )
    assert abs(pf.stats.integral(atlas).value[0] - found.integral) < 6 * found.standard_error + 1e-4


def by_triangulation(vertices: np.ndarray) -> np.ndarray:
    """The covariance of a polytope by Qhull's simplices."""
    d = vertices.shape[1]
    vertices = vertices - vertices[0]  # or very small ones would lose all digits
    corners = vertices[None] if len(vertices) == d + 1 else vertices[Delaunay(vertices, qhull_options="QJ").simplices]
    sizes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    middle = np.einsum("s,sd->d", sizes, corners.mean(axis=1)) / sizes.sum()
    away = corners - middle
    total = away.sum(axis=1)
    moments = np.einsum("sci,scj->sij", away, away) + np.einsum("si,sj->sij", total, total)
    return np.einsum("s,sij->ij", sizes, moments) / sizes.sum() / ((d + 1) * (d + 2))


def test_covariances_of_cells_against_qhull():
    looked_at = 0
    for seed in range(60):
        case, atlas = unfolded(seed)
        if not len(atlas) or not atlas.bounded.any():
            continue
        volumes, centroids, covariances = atlas.moments()
        assert np.array_equal(volumes, atlas.volumes()) and np.array_equal(centroids, atlas.centroids(), equal_nan=True)
        assert np.isnan(covariances[~atlas.bounded]).all() and np.isfinite(covariances[atlas.bounded]).all()
        for cell in np.flatnonzero(atlas.bounded)[:8].tolist():
            vertices = atlas.vertices([cell])[0]
            size = np.ptp(vertices, axis=0)
            if size.min() <= 1e-3 * size.max() or volumes[cell] < 1e-4 * np.prod(size):
                continue  # Qhull is not exact enough
            if size.min() <= 1e-9 * np.abs(vertices).max():
                continue  # and neither are vertices, once they are rounded
            expected = by_triangulation(vertices)
            assert covariances[cell] == pytest.approx(expected, abs=1e-6 * size.max() ** 2), case
            looked_at += 1
    assert looked_at > 100


@given(cases())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_parts_add_up_to_the_whole(case):
    atlas = pf.unfold(case.program, case.domain, max_cells=150)
    if not atlas.complete or not atlas.bounded.all() or atlas.dim > 5:
        return
    whole, volumes = pf.stats.integral(atlas).value, atlas.volumes()
    size = np.abs(pf.stats.integral(atlas, by="cell").value).sum(axis=0)
    assert np.all(np.abs(pf.stats.integral(atlas, by="cell").value.sum(axis=0) - whole) <= 1e-9 * size)
    regions = pf.regions(atlas)
    by_region = pf.stats.integral(atlas, by="region").value
    assert by_region.shape == (len(regions), atlas.outputs)
    assert np.all(np.abs(by_region.sum(axis=0) - whole) <= 1e-9 * size)
    half = np.arange(len(atlas)) % 2 == 0
    if half.any() and not half.all():
        both = pf.stats.integral(atlas, cells=half).value + pf.stats.integral(atlas, cells=~half).value
        assert np.all(np.abs(both - whole) <= 1e-9 * size)
    # The law of total variance, from cells to the whole.
    means, variances = pf.stats.mean(atlas, by="cell").value, pf.stats.variance(atlas, by="cell").value
    mean = pf.stats.mean(atlas).value
    total = (volumes[:, None] * (variances + (means - mean) ** 2)).sum(axis=0) / volumes.sum()
    assert pf.stats.variance(atlas).value == pytest.approx(total, rel=1e-6, abs=1e-12 * float(np.max(means**2) + 1))
    assert np.all(pf.stats.variance(atlas).value >= 0)


def test_a_region_of_several_cells():
    useless = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))]
    atlas = pf.unfold(useless, pf.box(-1, 1))
    label = pf.regions(atlas).label
    right = label[atlas.locate([[0.5, 0.5]])[0]]
    assert pf.stats.mean(atlas, by="region").value[right] == pytest.approx([0.5])
    assert pf.stats.variance(atlas, by="region").value[right] == pytest.approx([1 / 12])
    assert pf.stats.covariance(atlas, by="region").value[right] == pytest.approx(np.array([[1 / 12]]))
    assert pf.stats.variance(atlas, by="region").value[1 - right] == pytest.approx([0.0])


def test_on_a_slice_parameters_count():
    diagonal = pf.unfold(XOR, pf.line([0, 0], [1, 1]))
    # x + y = 2 t: a hat over t.
    assert pf.stats.integral(diagonal).value == pytest.approx([0.5])
    assert pf.stats.variance(diagonal).value == pytest.approx([1 / 3 - 1 / 4])


def test_small_cells_far_away_keep_their_digits():
    atlas = pf.unfold([([[1.0]], [-1e6]), ([[1.0]], [0.0])], pf.box(1e6, 1e6 + 1))
    assert pf.stats.mean(atlas).value == pytest.approx([0.5], rel=1e-9)
    assert pf.stats.variance(atlas).value == pytest.approx([1 / 12], rel=1e-9)


def test_no_gates():
    atlas = unit_square([([[1.0, 2.0]], [3.0])])
    assert pf.stats.integral(atlas).value == pytest.approx([4.5])
    assert pf.stats.variance(atlas).value == pytest.approx([5 / 12])
