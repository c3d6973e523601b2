"""The last layer's cells, which are listed from their vertices: where that has limits, and where it has to give way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.agreement import assert_same
from polyfold.program.lower.lower import lower
from polyfold.testing.reference import reference_unfold

Layers = list[tuple[np.ndarray, np.ndarray]]


def network(widths: tuple[int, ...], seed: int = 0) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def one_layer(weights: list[list[float]], bias: list[float]) -> Layers:
    return [(np.array(weights, dtype=float), np.array(bias)), (np.ones((1, len(bias))), np.zeros(1))]


@pytest.mark.parametrize(
    ("widths", "domain"),
    [
        pytest.param((1, 150, 1), pf.box(-3, 3), id="more gates than a code has bits"),
        pytest.param((2, 70, 1), None, id="the same on all of R^2"),
        pytest.param((3, 40, 1), pf.box(-1, 1), id="more parts than are listed at once"),
        pytest.param((5, 12, 3, 1), None, id="rays and vertices"),
    ],
)
def test_listed_cells_are_all_cells(widths: tuple[int, ...], domain: pf.Domain | None) -> None:
    layers = network(widths)
    atlas = pf.unfold(layers, domain)
    assert pf.check(atlas).level == "checked"
    assert len(atlas) == pf.count(layers, domain).cells


@pytest.mark.parametrize("gap", [0.0, 2.0**-60, -(2.0**-60), 2.0**-1060])
@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)])
def test_three_gates_that_meet_or_nearly_do(gap: float, domain: pf.Domain | None) -> None:
    layers = one_layer([[1, 0], [0, 1], [1, 1]], [0.0, 0.0, gap])
    atlas = pf.unfold(layers, domain)
    assert_same(atlas, reference_unfold(lower(pf.load(layers)), domain))
    assert len(atlas) == (7 if gap else 6)


def test_a_gate_that_only_touches_a_vertex() -> None:
    layers = one_layer([[1, 1], [1, -1], [2, 1]], [-2.0, 0.25, 0.5])  # the first one meets the box in a corner
    atlas = pf.unfold(layers, pf.box(-1, 1))
    assert_same(atlas, reference_unfold(lower(pf.load(layers)), pf.box(-1, 1)))


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_a_limit_within_a_listed_cell(limit: int) -> None:
    layers = network((3, 4, 10, 1))
    whole, part = pf.unfold(layers, threads=1), pf.unfold(layers, max_cells=limit, threads=1)
    facets = whole.facet_start[limit]
    assert np.array_equal(part.patterns, whole.patterns[:limit])
    assert np.array_equal(part.facet_wall, whole.facet_wall[:facets])
    behind = whole.neighbour[:facets]
    assert np.array_equal(part.neighbour, np.where(behind < limit, behind, -2))


@pytest.mark.parametrize("seed", range(24))
def test_rows_that_vanish_where_the_layer_before_is_off(seed: int) -> None:
    # On rays along which all gates but one are off, and in the origin where there are no biases, no later gate is
    # anything but zero. They are vertices of all parts of a cell.
    rng = np.random.default_rng(seed)
    dim = 2 + seed % 3
    widths = (dim, dim + seed // 3 % 2, 3, 1)
    biased = seed % 2 == 0
    layers = [
        (rng.integers(-2, 3, (b, a)).astype(float), rng.integers(-1, 2, b).astype(float) * biased)
        for a, b in pairwise(widths)
    ]
    for domain in (None, pf.box(0, 2)):
        atlas = pf.unfold(layers, domain)
        assert_same(atlas, reference_unfold(lower(pf.load(layers)), domain))
        assert pf.certify(atlas).level == "certified"
        assert pf.count(layers, domain).cells == len(atlas)
