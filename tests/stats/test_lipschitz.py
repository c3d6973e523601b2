"""Lipschitz constants: closed forms, singular values cell by cell, finite differences, duality."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.optimize import minimize

import polyfold as pf
from helpers.known_networks import ABSOLUTE, HAT, LARGER, XOR, random_layers, unit_square
from polyfold.testing.strategies import cases


@pytest.mark.parametrize(
    ("network", "p", "expected"),
    [
        (ABSOLUTE, 1, 1.0),
        (HAT, 3.5, 1.0),
        (LARGER, 2, 1.0),
        (XOR, 1, 1.0),
        (XOR, 2, sqrt(2)),
        (XOR, inf, 2.0),
        (XOR, 3, 2 ** (2 / 3)),  # the dual norm 3/2 of (1, 1)
        (XOR, 1.5, 2 ** (1 / 3)),
    ],
)
def test_closed_forms(network, p, expected):
    found = pf.stats.lipschitz(pf.unfold(network), norm=p)
    assert abs(found.value - expected) <= found.error + 1e-15
    assert found.error < 1e-12


def test_where_it_is_attained():
    atlas = pf.unfold([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 2.0]], [0.0])], pf.box(-1, 2))
    found = pf.stats.lipschitz(atlas)
    assert found.value == 3.0 and found.cells.tolist() == atlas.locate([[1.5]]).tolist()
    assert found.of_cells[atlas.locate([[-0.5], [0.5], [1.5]])].tolist() == [0.0, 1.0, 3.0]
    left = pf.stats.lipschitz(atlas, cells=atlas.locate([[-0.5], [0.5]]))
    assert left.value == 1.0 and left.cells.tolist() == atlas.locate([[0.5]]).tolist()


def test_regions():
    useless = [(np.eye(2), np.zeros(2)), (np.array([[3.0, 0.0]]), np.zeros(1))]
    atlas = pf.unfold(useless)
    regions = pf.regions(atlas)
    assert sorted(pf.stats.lipschitz(atlas).of_regions(regions).tolist()) == [0.0, 3.0]
    assert sorted(pf.stats.lipschitz(atlas, cells=[3, 2, 1, 0]).of_regions(regions).tolist()) == [0.0, 3.0]
    with pytest.raises(pf.PolyfoldError, match="2 cells, and the regions are made of 4 cells"):
        pf.stats.lipschitz(atlas, cells=[0, 1]).of_regions(regions)


@pytest.mark.parametrize("p", [1, 2, inf])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_against_norms_cell_by_cell_and_differences(dim, p):
    rng = np.random.default_rng(dim)
    network = random_layers(rng, dim, 6, 4, 3)
    atlas, f = pf.unfold(network, pf.box(-1, 1)), pf.load(network)
    found = pf.stats.lipschitz(atlas, norm=p)
    for norm, A in zip(found.of_cells, atlas.maps()[0], strict=True):
        expected = np.linalg.svd(A, compute_uv=False)[0] if p == 2 else np.linalg.norm(A, p)
        assert norm == pytest.approx(expected, rel=1e-12)
    X, Y = rng.uniform(-1, 1, size=(2, 20_000, dim))
    ratios = np.linalg.norm(f(X) - f(Y), p, axis=1) / np.linalg.norm(X - Y, p, axis=1)
    assert ratios.max() <= found.value * (1 + 1e-12)
    # Along the best direction of the cell, the constant is reached.
    cell = int(found.cells[0])
    A, inside = atlas.maps([cell])[0][0], atlas.witnesses[cell]
    if p == 2:
        direction = np.linalg.svd(A)[2][0]
    elif p == 1:
        direction = np.eye(dim)[np.abs(A).sum(axis=0).argmax()]
    else:
        direction = np.sign(A[np.abs(A).sum(axis=1).argmax()])
    step = 1e-3 * atlas.chebyshev([cell])[1][0] * direction
    change = (f((inside + step)[None]) - f(inside[None]))[0]
    assert np.linalg.norm(change, p) / np.linalg.norm(step, p) == pytest.approx(found.value, rel=1e-7)


@pytest.mark.parametrize("p", [1.25, 3.0, 10.0])
def test_any_norm_for_one_output(p):
    rng = np.random.default_rng(3)
    atlas = pf.unfold(random_layers(rng, 3, 5, 1), pf.box(-1, 1))
    found = pf.stats.lipschitz(atlas, norm=p)
    gradient = atlas.maps(found.cells[:1])[0][0, 0]
    # What the norm is by definition: the largest a . x over the ball, found by an optimiser.
    best = max(
        -minimize(lambda x: -(gradient @ x) / np.linalg.norm(x, p), start, method="BFGS").fun
        for start in rng.normal(size=(6, 3))
    )
    assert found.value == pytest.approx(best, rel=1e-6)
    assert np.linalg.norm(atlas.maps()[0][:, 0], p / (p - 1), axis=1).max() == pytest.approx(found.value)


@given(cases())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_two_points_differ_by_more(case):
    atlas = pf.unfold(case.program, case.domain, max_cells=300)
    if not atlas.complete:
        return
    u, values = atlas.witnesses, atlas.program.evaluate(atlas.lift(atlas.witnesses))[0]
    i, j = np.triu_indices(len(u), 1)
    for p in (1, 2, inf):
        found = pf.stats.lipschitz(atlas, norm=p)
        apart = np.linalg.norm(values[i] - values[j], p, axis=1)
        room = found.value * np.linalg.norm(u[i] - u[j], p, axis=1)
        assert np.all(apart <= room + 1e-9 * (np.abs(values).max(initial=0.0) + room))
        assert found.value == found.of_cells.max() and set(found.cells) <= set(range(len(atlas)))


def test_on_a_slice_it_is_over_parameters():
    line = pf.unfold(XOR, pf.line([0, 0], [3, 3]))
    assert pf.stats.lipschitz(line).value == pytest.approx(6.0)


@pytest.mark.parametrize("p", [0, 0.5, -1, float("nan"), "two", None])
def test_no_norm(p):
    with pytest.raises(pf.PolyfoldError, match=r"norm must be .*, got "):
        pf.stats.lipschitz(unit_square(XOR), norm=p)


def test_hard_norms_of_several_outputs_are_refused():
    with pytest.raises(pf.PolyfoldError, match=r"norm=3.*with 2 outputs.*p = 1, 2 and infinity"):
        pf.stats.lipschitz(unit_square([(np.eye(2), np.zeros(2))]), norm=3)
