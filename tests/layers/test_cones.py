"""Layers for given cones: the identity forward, constant behind, in 2 to 50 dimensions and with any number of gates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from polyfold.layers.cones import rotation_to_diagonal


def cone_points(rng: np.random.Generator, p: np.ndarray, h: np.ndarray, aperture: float, count: int) -> np.ndarray:
    """Points of the cone, some of them on its border and some on its axis, near and far."""
    n = len(p)
    h = h / np.linalg.norm(h)
    across = rng.normal(size=(count, n))
    across -= np.outer(across @ h, h)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angles = rng.uniform(0, aperture / 2, count)
    angles[: count // 4], angles[count // 4 : count // 3] = aperture / 2, 0
    lengths = 10 ** rng.uniform(-2, 2, (count, 1))
    return p + lengths * (np.cos(angles)[:, None] * h + np.sin(angles)[:, None] * across)


@pytest.mark.parametrize("n", [2, 3, 10, 50])
@pytest.mark.parametrize("aperture", [0.05, 0.5, np.pi / 2, 2.5, 3.1])
def test_identity_forward_and_constant_behind(n: int, aperture: float) -> None:
    rng = np.random.default_rng([n, int(aperture * 100)])
    for _ in range(3):
        p, h = rng.normal(size=n), rng.normal(size=n) * 10
        tau = pf.layers.cone_layer(p, h, aperture)
        assert tau.weight.shape == (n, n) and tau.surjective and tau.injective
        forward = cone_points(rng, p, h, aperture, 200)
        atol = 1e-13 * tau.condition * np.abs(forward).max()
        np.testing.assert_allclose(tau(forward), forward, rtol=0, atol=atol)
        assert (tau.coordinates(forward) >= 0).all()
        behind = tau(cone_points(rng, p, -h, aperture, 200))
        assert (behind == behind[0]).all()
        np.testing.assert_allclose(behind[0], p, rtol=0, atol=1e-12 * tau.condition)
        # Beside the cone something is cut, or the test would say nothing.
        aside = cone_points(rng, p, np.eye(n)[0] - h * h[0] / (h @ h), 0.01, 50)
        assert np.abs(tau(aside) - aside).max() > 1e-3


@pytest.mark.parametrize(("gates", "n"), [(1, 2), (2, 3), (1, 10), (4, 10), (30, 50), (3, 2), (12, 10)])
def test_rectangular_layers_keep_the_projection(gates: int, n: int) -> None:
    """Appendix: tau is W^+ W on the cone and W^+ W p behind it; the identity again if there are gates enough."""
    rng = np.random.default_rng([gates, n])
    p, h = rng.normal(size=n), rng.normal(size=n)
    tau = pf.layers.cone_layer(p, h, 1.2, gates=gates)
    assert tau.weight.shape == (gates, n) and tau.rank == min(gates, n)
    project = np.linalg.pinv(tau.weight) @ tau.weight
    forward, behind = (cone_points(rng, p, sign * h, 1.2, 100) for sign in (1, -1))
    np.testing.assert_allclose(tau(forward), forward @ project.T, rtol=0, atol=1e-11 * np.abs(forward).max())
    assert (tau(behind) == tau(behind)[0]).all()
    np.testing.assert_allclose(tau(behind)[0], project @ p, rtol=0, atol=1e-12)
    assert np.allclose(project, np.eye(n), rtol=0, atol=1e-12) == (gates >= n)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_the_whole_cone_lies_in_the_orthant(n: int) -> None:
    """Not at samples: a row w is >= 0 on the cone if and only if w.h >= |w| |h| sin(aperture / 2); in fractions."""
    rng = np.random.default_rng(n)
    for aperture in (0.3, 1.0, 3.0):
        h = rng.normal(size=n)
        tau = pf.layers.cone_layer(np.zeros(n), h, aperture)
        # An upper bound of the sine's square, from a float that is right to a few units in the last place.
        sine = Fraction(np.sin(aperture / 2)) * (1 + Fraction(1, 2**48))
        axis = [Fraction(value) for value in h]
        for row in tau.weight:
            w = [Fraction(value) for value in row]
            along = sum(a * b for a, b in zip(w, axis, strict=True))
            sizes = sum(a * a for a in w) * sum(a * a for a in axis)
            assert along >= 0 and (n == 1 or along**2 >= sizes * sine**2)


def test_wider_cones_than_asked_for_are_not_kept() -> None:
    """The aperture means something: in the plane, points just outside a wide cone are moved."""
    tau = pf.layers.cone_layer([1.0, -1.0], [0.0, 1.0], 2.0)
    for side in (-1, 1):
        angle = 1.0 + 0.01
        point = np.array([[1 + side * np.sin(angle), -1 + np.cos(angle)]])
        assert np.abs(tau(point) - point).max() > 1e-3


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_rotations(n: int) -> None:
    rng = np.random.default_rng(n)
    diagonal = np.full(n, 1 / np.sqrt(n))
    for h in (
        rng.normal(size=n),
        diagonal,
        -diagonal,
        -diagonal + 1e-9 * rng.normal(size=n),
        np.eye(n)[0],
        -np.eye(n)[0],
    ):
        R = rotation_to_diagonal(h)
        np.testing.assert_allclose(R @ R.T, np.eye(n), rtol=0, atol=1e-13)
        assert np.linalg.det(R) == pytest.approx(1.0)
        np.testing.assert_allclose(R @ h / np.linalg.norm(h), diagonal, rtol=0, atol=1e-13)


def test_one_dimension_and_narrow_cones() -> None:
    assert pf.layers.cone_layer([2.0], [-3.0], 1.0)([[1.0], [5.0]]).tolist() == [[1.0], [2.0]]
    narrow = pf.layers.cone_layer(np.zeros(3), [0, 0, 1], 5e-324)
    np.testing.assert_allclose(narrow([[0.0, 0.0, 2.0]]), [[0.0, 0.0, 2.0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([0, 0], [1, 0], 0.0), "aperture=0.0"),
        (([0, 0], [1, 0], np.pi), "between 0 and pi"),
        (([0, 0], [1, 0], float("nan")), "aperture=nan"),
        (([0, 0], [0, 0], 1.0), "its axis not zero"),
        (([0, np.inf], [1, 0], 1.0), "must be finite"),
        (([0, 0], [1, 0, 0], 1.0), r"\(2,\) and \(3,\)"),
    ],
)
def test_bad_cones(arguments: tuple, said: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=said):
        pf.layers.cone_layer(*arguments)


@pytest.mark.parametrize("gates", [0, -1, 1.5, True])
def test_bad_numbers_of_gates(gates: object) -> None:
    with pytest.raises(pf.PolyfoldError, match=f"gates={gates}"):
        pf.layers.cone_layer([0, 0], [1, 0], 1.0, gates=gates)
