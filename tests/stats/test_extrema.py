"""Largest and smallest values: closed forms, linear programs over all cells, exact values at exact points, rays."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from flint import fmpq
from hypothesis import HealthCheck, example, given, settings
from scipy.optimize import linprog

import polyfold as pf
from helpers.known_networks import ABSOLUTE, HAT, LARGER, XOR, random_layers, unit_square
from helpers.slow_params import examples
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.testing.strategies import cases
from polyfold.testing.wide import wide_case


def exactly(atlas: pf.Atlas, point: tuple[Fraction, ...], output: int) -> Fraction:
    """An output at a point of parameters, in rationals."""
    domain = atlas.domain
    inputs = [
        Fraction(x0) + sum(Fraction(b) * u for b, u in zip(row, point, strict=True))
        for x0, row in zip(domain.origin.tolist(), domain.basis.tolist(), strict=True)
    ]
    value = evaluate_exactly(atlas.program, [fmpq(x.numerator, x.denominator) for x in inputs]).outputs[output]
    return Fraction(int(value.p), int(value.q))


def floats_hold_the_witnesses(atlas: pf.Atlas) -> bool:
    """Whether inequalities in floats let a solver see every cell; 1e16 away they say nothing."""
    rows = atlas.halfspaces(minimal=False)
    cells = ((*rows[cell], atlas.witnesses[cell]) for cell in range(len(atlas)))
    return all((A @ x <= b).all() for A, b, x in cells)


def by_linear_programs(atlas: pf.Atlas, weights: np.ndarray) -> float:
    """The largest value over all cells, each with all of its inequalities, by HiGHS."""
    A, c = atlas.maps(over="parameters")
    rows = atlas.halfspaces(minimal=False)
    best = -inf
    for cell in range(len(atlas)):
        found = linprog(-(weights @ A[cell]), *rows[cell], bounds=(None, None), method="highs")
        if found.status in (2, 3, 4) and not atlas.bounded[cell]:
            return inf
        assert found.status == 0
        best = max(best, weights @ c[cell] - found.fun)
    return best


@pytest.mark.parametrize(
    ("network", "domain", "largest", "smallest"),
    [
        (ABSOLUTE, pf.box(-1, 3), 3, 0),
        (ABSOLUTE, None, inf, 0),
        (HAT, None, 1, 0),
        (HAT, pf.box(0.5, 0.75), 0.75, 0.5),
        (LARGER, pf.box(-1, 2), 2, -1),
        (LARGER, None, inf, -inf),
        (XOR, pf.box(0, 1), 1, 0),
        (XOR, None, 1, -inf),
    ],
)
def test_closed_forms(network, domain, largest, smallest):
    atlas = pf.unfold(network, domain)
    for found, expected in ((pf.stats.maximum(atlas), largest), (pf.stats.minimum(atlas), smallest)):
        assert found.value == expected and found.settled
        if abs(expected) < inf:
            assert found.exact_value == expected == found.bound and found.ray is None
            assert exactly(atlas, found.exact_point, 0) == expected
        else:
            assert found.exact_value is None and found.ray is not None
        assert found.cell in range(len(atlas))


def test_the_ray_is_one():
    atlas = pf.unfold(LARGER)
    top = pf.stats.maximum(atlas)
    steps = [
        exactly(atlas, tuple(x + t * Fraction(r) for x, r in zip(top.exact_point, top.ray.tolist(), strict=True)), 0)
        for t in (0, 1, 2, 3)
    ]
    rises = {after - before for before, after in pairwise(steps)}
    assert len(rises) == 1 and rises.pop() > 0
    A, b = atlas.halfspaces([top.cell])[0]
    assert np.all(A @ top.point <= b) and np.all(A @ top.ray <= 0)


def test_an_exact_value_that_floats_do_not_have():
    third = [([[3.0], [1.0]], [-1.0, 0.0]), ([[-1.0, 1.0]], [0.0])]  # x up to 1/3, then 1 - 2x
    found = pf.stats.maximum(pf.unfold(third, pf.box(0, 1)))
    assert found.exact_value == Fraction(1, 3) and found.exact_point == (Fraction(1, 3),)
    assert found.settled and found.value == 1 / 3


@given(cases())
@example(wide_case(2110, size=3))  # walls that are parallel but for rounding meet at 1e16
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_against_linear_programs(case):
    atlas = pf.unfold(case.program, case.domain, max_cells=80)
    if not atlas.complete or not floats_hold_the_witnesses(atlas):
        return
    for output in range(min(atlas.outputs, 2)):
        unit = np.eye(atlas.outputs)[output]
        for ask, side in ((pf.stats.maximum, 1), (pf.stats.minimum, -1)):
            found = ask(atlas, output=output)
            expected = side * by_linear_programs(atlas, side * unit)
            assert found.settled
            if abs(found.value) == inf:
                assert expected == found.value
                continue
            scale = np.abs(atlas.maps(over="parameters")[1]).max() + 1
            assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-6 * scale)
            assert exactly(atlas, found.exact_point, output) == found.exact_value
            assert atlas.program.evaluate(atlas.lift(found.point[None]))[0][0, output] == pytest.approx(
                found.value, rel=1e-6, abs=1e-6 * scale
            )


@pytest.mark.parametrize("dim", [2, 8])
def test_combinations_of_outputs(dim):
    rng = np.random.default_rng(dim)
    network = random_layers(rng, dim, 6, 3)
    atlas = pf.unfold(network, pf.box(-1, 1))
    weights = np.array([1.0, -2.0, 0.5])
    samples = atlas.program.evaluate(rng.uniform(-1, 1, size=(50_000, dim)))[0] @ weights
    top, bottom = pf.stats.maximum(atlas, output=weights), pf.stats.minimum(atlas, output=weights)
    assert top.settled and bottom.settled
    assert bottom.value <= samples.min() and samples.max() <= top.value
    assert weights @ atlas.program.evaluate(top.point[None])[0][0] == pytest.approx(top.value)
    A, b = atlas.halfspaces([top.cell])[0]
    assert np.all(A @ top.point <= b + 1e-9)
    assert pf.stats.maximum(atlas, output=-weights).exact_value == -bottom.exact_value


def test_plateaus_are_looked_at_once_a_region():
    # Where the last gate is off, the output is constant over very many cells.
    rng = np.random.default_rng(0)
    network = [*random_layers(rng, 2, 40, 1), ([[1.0]], [0.25])]
    atlas = pf.unfold(network, pf.box(-1, 1))
    lowest = pf.stats.minimum(atlas)
    assert lowest.value == 0.25 and lowest.settled
    assert np.count_nonzero(~np.any(atlas.maps()[0], axis=(1, 2))) > 64


def test_some_cells():
    atlas = unit_square(XOR)
    low = atlas.locate([[0.1, 0.1]])
    assert pf.stats.maximum(atlas, cells=low).value == 1 and pf.stats.maximum(atlas, cells=low).cell == low[0]
    far = pf.unfold(ABSOLUTE)
    left = far.locate([[-1.0]])
    assert pf.stats.minimum(far, cells=left).value == 0 and pf.stats.maximum(far, cells=left).ray.tolist() == [-1.0]


def test_no_time_for_the_proof():
    atlas = pf.unfold(random_layers(np.random.default_rng(0), 3, 30, 30, 1), pf.box(-1, 1))
    hurried, sure = pf.stats.maximum(atlas, max_seconds=1e-9), pf.stats.maximum(atlas)
    assert hurried.stopped_by == "max_seconds" and sure.complete
    assert sure.settled and hurried.exact_value <= sure.exact_value <= hurried.bound
    # Without a box there are no bounds but exact programs.
    hurried = pf.stats.maximum(pf.unfold(HAT), max_seconds=1e-9)
    assert hurried.value <= 1.0 and (hurried.bound, hurried.settled) == (inf, False)


def test_on_a_slice_points_are_parameters():
    top = pf.stats.maximum(pf.unfold(XOR, pf.line([0, 0], [1, 1])))
    assert top.value == 1 and top.point.tolist() == [0.5]
