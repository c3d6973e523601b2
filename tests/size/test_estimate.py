"""Estimates of numbers of cells: the sum that they sample is exact, and samples of it come close."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import polyfold as pf
from polyfold._base.clock import Clock
from polyfold.program.lower.lower import lower
from polyfold.size.estimate import _Parts

# Cells of layers([3, 128, 128, 1]) in the box from -2 to 2.
COUNTED = 1_549_099


def layers(widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


@pytest.mark.parametrize(("widths", "cuts"), [((1, 6, 4, 1), 5), ((2, 7, 5, 1), 4), ((3, 6, 4, 1), 2), ((4, 5, 1), 2)])
def test_all_parts_together_have_all_cells(widths, cuts):
    for seed in range(3):
        program = lower(pf.load(layers(widths, seed)))
        d = widths[0]
        parts = _Parts(program, np.full(d, -2.0), np.full(d, 3.0), np.random.default_rng(seed), 1)
        parts.cuts = cuts
        edges = parts._edges()
        total = sum(parts.contribution(edges, np.array(part), 60.0) for part in product(range(cuts), repeat=d))
        assert total == pf.count(program, pf.box(-2, 3)).cells


def test_what_is_found_in_time_is_exact():
    network = layers([2, 8, 6, 1])
    found = pf.size.estimate(network, pf.box(-1, 1), max_seconds=20)
    assert found.exact and found.cells == found.least == found.most == len(pf.unfold(network, pf.box(-1, 1)))
    assert found.error == 0 and found.seconds_needed > 0 and found.memory > 8 * found.cells


@pytest.mark.slow
def test_so_many_cells_are_there():
    assert pf.count(layers([3, 128, 128, 1]), pf.box(-2, 2)).cells == COUNTED


def test_the_mean_over_some_parts_comes_close():
    """What an estimate takes of its parts, without its clock: so many parts as a busy machine would leave time for."""
    network = layers([3, 128, 128, 1])
    parts = _Parts(lower(pf.load(network)), np.full(3, -2.0), np.full(3, 2.0), np.random.default_rng(0), 1)
    parts.cuts = 16
    edges = parts._edges()
    found = [parts.contribution(edges, part, 60.0) for part in parts.rng.integers(parts.cuts, size=(40, 3))]
    estimated, error = parts.count * np.mean(found), parts.count * np.std(found, ddof=1) / len(found) ** 0.5
    assert COUNTED / 3 < estimated < 3 * COUNTED and abs(estimated - COUNTED) < 6 * error


@pytest.mark.slow
def test_an_estimate_comes_close():
    network, truth = layers([3, 128, 128, 1]), COUNTED
    assert truth > 1_000_000  # twice as many as the short run may find
    found = pf.size.estimate(network, pf.box(-2, 2), max_seconds=20)
    assert not found.exact and found.reason is None
    assert found.parts >= 8 and found.least <= truth <= found.most
    assert truth / 3 < found.cells < 3 * truth
    assert abs(found.cells - truth) < 6 * found.error


def test_without_a_box_there_are_bounds_only():
    network = layers([3, 128, 128, 1])  # more cells than the short run may find
    for domain in (None, pf.polytope([[1.0, 1.0, 1.0]], [1.0])):
        found = pf.size.estimate(network, domain, max_seconds=4)
        assert found.cells is found.seconds_needed is found.memory is None and "boxes" in found.reason
        assert 0 < found.least < found.most == pf.size.bounds(network).upper
        assert found.cells_a_second > 0 and found.bytes_a_cell > 8


def test_where_the_first_cells_may_take_long_nothing_is_tried():
    for network, domain in ((layers([8, 30, 30, 1]), pf.box(-1, 1)), (layers([6, 64, 64, 1]), None)):
        found = pf.size.estimate(network, domain, max_seconds=0.2)
        assert found.cells is found.seconds_needed is found.memory is found.cells_a_second is None
        assert found.reason.startswith("not tried") and found.most == pf.size.bounds(network).upper
    few = layers([8, 4, 3, 1])
    assert pf.size.estimate(few, max_seconds=30).cells == len(pf.unfold(few))


def test_without_a_limit_parts_are_drawn_until_the_estimate_is_precise():
    network = layers([3, 40, 40, 1])
    truth = pf.count(network, pf.box(-2, 2)).cells
    parts = _Parts(lower(pf.load(network)), np.full(3, -2.0), np.full(3, 2.0), np.random.default_rng(0), 1)
    parts.cuts = 4
    found = parts.sample()
    total, error = parts.estimate(found)
    assert parts.finished and error < 0.1 * total and abs(total - truth) < 5 * error


def test_a_limit_of_the_time_ends_the_drawing():
    network = layers([3, 128, 128, 1])
    parts = _Parts(lower(pf.load(network)), np.full(3, -2.0), np.full(3, 2.0), np.random.default_rng(0), 1)
    with Clock(0.2):
        parts.sample()
    assert not parts.finished


def test_bad_input():
    with pytest.raises(pf.PolyfoldError, match="max_seconds=0"):
        pf.size.estimate(layers([2, 3, 1]), max_seconds=0)
