"""Distances to other classes: closed forms, linear and quadratic programs over all cells and classes, samples."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.optimize import linprog, minimize

import polyfold as pf
from helpers.known_networks import HAT, XOR, random_classifier, unit_square
from polyfold.stats.nearest_point import nearest_point
from polyfold.testing.strategies import cases

ORDERS = {"l1": 1, "l2": 2, "linf": inf}


@pytest.mark.parametrize(("norm", "expected"), [("l1", 0.5), ("l2", 0.5 / sqrt(2)), ("linf", 0.25)])
def test_exclusive_or_by_hand(norm, expected):
    found = pf.stats.nearest_change(
        pf.stats.classes(unit_square(XOR), threshold=0.5), [[0.0, 0.0], [1.0, 1.0], [0.5, 0.0]], norm=norm
    )
    assert found.distance == pytest.approx([expected, expected, 0.0], abs=1e-12)
    assert found.label.tolist()[:2] == [0, 0] and found.other.tolist()[:2] == [1, 1]
    assert found.point[:2].sum(axis=1) == pytest.approx([0.5, 1.5])
    assert found.gap.max() < 1e-12


def test_the_domain_ends_before_the_boundary():
    # The nearest point of the boundary x + y = 1/2 to (0, 0) would be (1/4, 1/4), which lies outside.
    atlas = pf.unfold(XOR, pf.box([0, -1], [0.125, 1]))
    found = pf.stats.nearest_change(pf.stats.classes(atlas, threshold=0.5), [[0.0, 0.0]])
    assert found.point[0] == pytest.approx([0.125, 0.375]) and found.distance[0] == pytest.approx(np.hypot(1, 3) / 8)


def test_one_class_everywhere():
    found = pf.stats.nearest_change(pf.stats.classes(unit_square(XOR), threshold=2.0), [[0.5, 0.5]])
    assert found.distance.tolist() == [inf] and np.isnan(found.point).all()
    assert found.other.tolist() == found.cell.tolist() == [-1] and found.label.tolist() == [0]


def test_unbounded_domains():
    found = pf.stats.nearest_change(pf.stats.classes(pf.unfold(HAT), threshold=0.25), [[-10.0], [1.0], [50.0]])
    assert found.distance == pytest.approx([10.25, 0.75, 48.25]) and found.label.tolist() == [0, 1, 0]


def over_all_cells(atlas: pf.Atlas, x: np.ndarray, own: int, norm: str) -> float:
    """The nearest point where another output is at least as large as all, cell by cell, by general solvers."""
    A, c = atlas.maps(over="parameters")
    rows, dim = atlas.halfspaces(), atlas.dim
    best = inf
    for cell in range(len(atlas)):
        for other in set(range(atlas.outputs)) - {own}:
            G = np.vstack([rows[cell][0], A[cell] - A[cell, other]])
            h = np.concatenate([rows[cell][1], c[cell, other] - c[cell]])
            there = np.any(G != 0, axis=1)
            if np.any(h[~there] < 0):
                continue  # another one is larger everywhere
            G, h = G[there], h[there]
            width = {"l1": dim, "linf": 1, "l2": 0}[norm]
            bounds = np.eye(dim) if norm == "l1" else np.ones((dim, width))
            unit = np.eye(dim)
            found = linprog(
                np.append(np.zeros(dim), np.ones(width)),
                A_ub=np.block([[G, np.zeros((len(G), width))], [unit, -bounds], [-unit, -bounds]]) if width else G,
                b_ub=np.concatenate([h, x, -x]) if width else h,
                bounds=(None, None),
            )
            if found.status != 0:
                continue
            if norm == "l2":
                sought = minimize(
                    lambda y: np.sum((y - x) ** 2),
                    found.x,
                    jac=lambda y: 2 * (y - x),
                    constraints={"type": "ineq", "fun": lambda y, G=G, h=h: h - G @ y, "jac": lambda y, G=G: -G},
                    method="SLSQP",
                    options={"ftol": 1e-14, "maxiter": 300},
                )
                if np.max(G @ sought.x - h) < 1e-7:
                    best = min(best, float(np.linalg.norm(sought.x - x)))
            else:
                best = min(best, found.fun)
    return best


@pytest.mark.parametrize("norm", list(ORDERS))
@pytest.mark.parametrize(("dim", "widths", "points"), [(2, (5, 3, 3), 5), (3, (4, 3), 4), (4, (4, 3), 3)])
def test_against_general_solvers_over_all_cells(dim, widths, points, norm):
    rng = np.random.default_rng(dim)
    atlas = pf.unfold(random_classifier(rng, dim, *widths), pf.box(-1, 1))
    X = rng.uniform(-1, 1, size=(points, dim))
    found = pf.stats.nearest_change(atlas, X, norm=norm)
    assert len(found) == points and len(set(found.label)) > 1
    for x, label, distance in zip(X, found.label, found.distance, strict=True):
        assert distance == pytest.approx(over_all_cells(atlas, x, int(label), norm), abs=2e-6)


@pytest.mark.parametrize("norm", list(ORDERS))
@pytest.mark.parametrize("dim", [2, 3, 4])
def test_nothing_nearer_among_samples_and_something_just_behind(dim, norm):
    rng = np.random.default_rng(30 + dim)
    atlas = pf.unfold(random_classifier(rng, dim, 7, 4, 3), pf.box(-1, 1))
    classes = pf.stats.classes(atlas)
    X = rng.uniform(-1, 1, size=(12, dim))
    found = pf.stats.nearest_change(classes, X, norm=norm)
    assert np.all(found.gap <= 1e-10) and np.all(np.abs(found.point) <= 1 + 1e-12)
    assert found.distance == pytest.approx(np.linalg.norm(found.point - X, ORDERS[norm], axis=1))
    around = rng.uniform(-1, 1, size=(12, 20_000, dim))
    lengths = np.linalg.norm(around, ORDERS[norm], axis=2, keepdims=True)
    inside = X[:, None] + around / lengths * rng.random((12, 20_000, 1)) * found.distance[:, None, None] * (1 - 1e-9)
    for x, label, point, other, near in zip(X, found.label, found.point, found.other, inside, strict=True):
        near = near[np.all(np.abs(near) <= 1, axis=1)]
        assert np.all(atlas.program.evaluate(near)[0].argmax(axis=1) == label)
        assert atlas.program.evaluate(x[None])[0].argmax() == label
        # The point is a point of the other class, up to the last digits: both win there.
        values = atlas.program.evaluate(point[None])[0][0]
        assert values[[label, other]] == pytest.approx(np.full(2, values.max()), abs=1e-10)
        # A step into one of the other class's parts around it finds that class.
        parts = np.flatnonzero(classes.label == other)
        rows = classes.atlas.halfspaces(parts)
        beyond = np.maximum.reduceat(rows.A @ point - rows.b, rows.start[:-1])
        touching = parts[beyond < 1e-9]
        steps = point + 1e-4 * (classes.atlas.witnesses[touching] - point)
        assert np.any(atlas.program.evaluate(steps)[0].argmax(axis=1) == other)


@given(cases(max_size=4))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_norms_agree_with_each_other(case):
    atlas = pf.unfold(case.program, case.domain, max_cells=60)
    if not atlas.complete or np.abs(atlas.witnesses).max(initial=0.0) > 1e3:
        return
    classes = pf.stats.classes(atlas)
    X = classes.atlas.witnesses[:6]
    one, two, most = (pf.stats.nearest_change(classes, X, norm=norm) for norm in ORDERS)
    room = 1 + 1e-7
    for found in (one, two, most):
        assert np.array_equal(found.label, classes.of(X))
        assert np.array_equal(found.distance == inf, np.full(len(X), len(set(classes.label)) == 1))
        at = np.isfinite(found.distance)
        assert np.all(found.gap[at] <= 1e-6 * (1 + found.distance[at]))
    assert np.all(most.distance <= two.distance * room + 1e-9)
    assert np.all(two.distance <= one.distance * room + 1e-9)
    assert np.all(one.distance <= atlas.dim * most.distance * room + 1e-9)


@pytest.mark.parametrize("p", [1.0, 2.0, inf])
def test_the_nearest_point_of_a_corner_and_of_a_needle(p):
    dual = {1.0: inf, 2.0: 2, inf: 1}[p]
    rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = nearest_point(rows, np.zeros(2), np.array([3.0, 4.0]), p)
    assert found.point == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.distance == pytest.approx(np.linalg.norm([3, 4], p)) == pytest.approx(found.lower)
    inside = nearest_point(rows, np.zeros(2), np.array([-1.0, 0.0]), p)
    assert inside.point.tolist() == [-1.0, 0.0] and inside.distance == inside.lower == 0
    # Between two nearly parallel lines: the tip.
    needle = np.array([[1e-6, 1.0], [1e-6, -1.0]])
    needle = needle / np.linalg.norm(needle, dual, axis=1)[:, None]
    found = nearest_point(needle, np.zeros(2), np.array([5.0, 0.0]), p)
    assert found.lower <= found.distance * (1 + 1e-9) and np.max(needle @ found.point) < 1e-7
    assert found.distance == pytest.approx(found.lower, rel=1e-5)


@pytest.mark.parametrize("p", [1.0, 2.0, inf])
def test_no_point_is_made_up_where_there_is_none(p):
    with pytest.raises(pf.PolyfoldError, match=r"the distance of \[0.0, 0.0\] to a cell could not be computed"):
        nearest_point(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-2.0, 1.0]), np.zeros(2), p)
