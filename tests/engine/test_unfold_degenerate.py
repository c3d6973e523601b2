"""Degenerate networks, right by hand and by the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.agreement import assert_same
from polyfold.domain.domain import DomainLike
from polyfold.program.lower.lower import lower
from polyfold.testing.reference import reference_unfold


def hidden(*layers: tuple[Any, Any]) -> list[tuple[np.ndarray, np.ndarray]]:
    """A network with these hidden layers and one output that adds the last of them up."""
    arrays = [(np.array(W, dtype=float), np.array(b, dtype=float)) for W, b in layers]
    width = len(arrays[-1][1])
    return [*arrays, (np.ones((1, width)), np.zeros(1))]


def unfolded(network: Any, domain: DomainLike = None) -> pf.Atlas:
    """The atlas, after comparing it with the reference engine."""
    atlas = pf.unfold(network, domain)
    assert_same(atlas, reference_unfold(lower(pf.load(network)), domain))
    assert atlas.certificate.level == "checked"
    return atlas


RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("cells", "network"),
    [
        pytest.param(1, hidden(([[0, 0]], [1])), id="a neuron without inputs, always on"),
        pytest.param(1, hidden(([[0, 0]], [-1])), id="a neuron without inputs, always off"),
        pytest.param(1, hidden(([[0, 0]], [0])), id="a neuron that is identically zero"),
        pytest.param(2, hidden(([[1, 0], [0, 0]], [0, 0])), id="a dead neuron beside a living one"),
        pytest.param(2, hidden(([[1, 2], [1, 2]], [3, 3])), id="a duplicate"),
        pytest.param(2, hidden(([[1, 2], [2, 4]], [3, 6])), id="a rescaled duplicate"),
        pytest.param(2, hidden(([[1, 2], [-1, -2]], [3, -3])), id="an opposite"),
        pytest.param(3, hidden(([[1, 2], [1, 2]], [3, 4])), id="parallel walls"),
        pytest.param(3, hidden(([[1, 2], [-1, -2]], [3, 4])), id="opposite parallel walls"),
        pytest.param(6, hidden(([[1, 0], [0, 1], [1, 1]], [0, 0, 0])), id="three walls through a point"),
        pytest.param(12, hidden(([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], [0, 1, 0, 1, 2])), id="a grid"),
        pytest.param(3, hidden(([[1, 1], [1, 1]], [1, 0])), id="XOR network of two parallel neurons"),
        # The second layer sees -|x| - 0: zero on the wall, negative elsewhere. It touches and comes back.
        pytest.param(2, hidden(([[1, 0], [-1, 0]], [0, 0]), ([[-1, -1]], [0])), id="a deep gate that touches zero"),
        # relu(x) - relu(x) vanishes identically everywhere.
        pytest.param(2, hidden(([[1, 0], [1, 0]], [0, 0]), ([[1, -1]], [0])), id="a deep gate that vanishes"),
        # Constant on x < 0, where both first-layer gates are off.
        pytest.param(3, hidden(([[1, 0], [2, 0]], [0, 0]), ([[1, 0]], [-1])), id="a deep gate constant on a cell"),
    ],
)
def test_by_hand(cells: int, network: Any) -> None:
    assert len(unfolded(network)) == cells


def test_all_biases_zero() -> None:
    """Every cell is a cone: as many as lines through the origin cut, and none bounded."""
    atlas = unfolded(hidden((RNG.normal(size=(7, 2)), np.zeros(7))))
    assert len(atlas) == 14
    assert not atlas.bounded.any()


def test_all_biases_zero_and_deep() -> None:
    layers = [(RNG.normal(size=(5, 3)), np.zeros(5)), (RNG.normal(size=(4, 5)), np.zeros(4))]
    layers.append((RNG.normal(size=(3, 4)), np.zeros(3)))
    assert not unfolded(hidden(*layers)).bounded.any()


def test_integer_weights() -> None:
    layers = [(RNG.integers(-2, 3, size=(6, 3)), RNG.integers(-1, 2, size=6))]
    layers.append((RNG.integers(-2, 3, size=(5, 6)), RNG.integers(-1, 2, size=5)))
    unfolded(hidden(*layers))


def test_walls_along_faces_and_through_corners_of_the_box() -> None:
    network = hidden(([[1, 0], [0, -1], [1, 1], [1, -1], [2, 1]], [-1, -1, 0, 0, -3]))
    atlas = unfolded(network, pf.box(-1, 1))
    # x = 1 and y = -1 run along faces, 2x + y = 3 touches the corner (1, 1): only the diagonals cut.
    assert len(atlas) == 4
    walls = {wall for facet in range(len(atlas.facet_wall)) for wall in atlas.walls(facet)}
    assert {0, 1} <= walls and 4 not in walls


def test_neurons_tilted_by_almost_nothing() -> None:
    """The two walls cross once; on R^2 that makes four cells, however thin two of them are."""
    atlas = unfolded(hidden(([[1, 0], [1, 1e-12]], [0, 0])))
    assert len(atlas) == 4
    assert len(unfolded(hidden(([[1, 0], [1, 1e-12]], [-0.5, -0.5])), pf.box(-1, 1))) == 4


def test_slivers_too_thin_for_floats_get_rational_witnesses() -> None:
    """Between x = 1 and x = 1 + 2^-52 lies no float64 point."""
    network = hidden(([[1], [1]], [-1, -(1 + 2**-52)]))
    atlas = unfolded(network)
    assert len(atlas) == 3
    (cell,) = atlas.exact_witnesses
    (x,) = atlas.exact_witnesses[cell]
    assert 1 < x < 1 + 2**-52


def test_xor_network_of_paper_001_is_continuous() -> None:
    """f = relu(x + y + 1) - 2 relu(x + y) - 1: three bands; the maps agree where they meet."""
    network = [(np.ones((2, 2)), np.array([1.0, 0.0])), (np.array([[1.0, -2.0]]), np.array([-1.0]))]
    atlas = unfolded(network)
    A, c = atlas.maps(atlas.locate([[2.0, 2.0], [-0.25, -0.25], [-2.0, -2.0]]))
    assert A[:, 0].tolist() == [[-1, -1], [1, 1], [0, 0]]
    assert c[:, 0].tolist() == [0, 0, -1]
    assert pf.check(atlas).level == "checked"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_order_does_not_depend_on_threads(threads: int) -> None:
    rng = np.random.default_rng(3)
    layers = [(rng.normal(size=(12, 3)), rng.normal(size=12)), (rng.normal(size=(8, 12)), rng.normal(size=8))]
    one, many = pf.unfold(hidden(*layers), threads=1), pf.unfold(hidden(*layers), threads=threads)
    for name in ("patterns", "witnesses", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall"):
        assert np.array_equal(getattr(one, name), getattr(many, name)), name


@pytest.mark.parametrize(
    ("weight", "half_width", "bias", "cells"),
    [
        (1e-200, 1e-150, 0.0, 6),
        (1e-160, 1e-170, 0.0, 6),
        (2.0**-1074, None, 2.0**-1074, 7),
        (1e200, 1e150, 0.0, 6),
    ],
)
def test_products_that_underflow_or_overflow(weight: float, half_width: float | None, bias: float, cells: int) -> None:
    """Three lines in general position, or through one point; a product that rounds to zero is not zero."""
    W = weight * np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    b = np.array([0.0, 0.0, bias])
    domain = None if half_width is None else pf.box(-half_width, half_width)
    assert len(unfolded(hidden((W, b)), domain)) == cells


def test_a_second_layer_that_underflows() -> None:
    rng = np.random.default_rng(4)
    first = (rng.normal(size=(4, 2)), rng.normal(size=4))
    unfolded(hidden(first, (2.0**-1074 * rng.integers(-3, 4, size=(3, 4)), np.zeros(3))))
    unfolded(hidden(first, (2.0**-1060 * rng.normal(size=(3, 4)), 2.0**-1062 * rng.normal(size=3))))


def test_a_box_as_large_as_floats_go() -> None:
    atlas = unfolded(hidden(([[1, 1], [1, -1]], [0, 1])), pf.box(-1e308, 1e308))
    assert len(atlas) == 4 and np.isfinite(atlas.witnesses).all()
