"""Algorithm 1, the baseline of Figure 3, finds polyfold's cells, and its section of `make bench` runs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from baselines.algorithm_1 import ByHighs, by_scipy, find_shallow
from log_plot import Series, draw
from networks import linear_layers, xavier_uniform
from sections import figure3
from settings import Bench

WIDTHS = pytest.mark.parametrize("widths", [(1, 3, 2, 1), (2, 4, 1), (2, 3, 3, 4, 1), (3, 4, 3, 2)])
SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def as_set(patterns: np.ndarray) -> set[tuple[bool, ...]]:
    return set(map(tuple, patterns.tolist()))


@WIDTHS
@SEEDS
@pytest.mark.parametrize("interior", [False, True])
def test_patterns_and_maps_are_those_of_the_cells(widths: tuple[int, ...], seed: int, interior: bool) -> None:
    layers = linear_layers(xavier_uniform(widths, seed, biases=True))
    found, atlas = find_shallow(layers, ByHighs(), interior), pf.unfold(layers)
    assert len(found.patterns) == len(atlas)
    assert as_set(found.patterns) == as_set(atlas.signs())
    order = [np.flatnonzero((found.patterns == row).all(axis=1))[0] for row in atlas.signs()]
    A, c = atlas.maps(atlas.ids())
    assert np.allclose(found.alpha[order], A) and np.allclose(found.beta[order], c)
    assert (np.einsum("pij,pj->pi", found.H[order], atlas.witnesses) <= found.c[order]).all()


@WIDTHS
@SEEDS
def test_without_biases_an_interior_must_be_asked_for(widths: tuple[int, ...], seed: int) -> None:
    """All closed programs hold at 0; the ones with an interior are the cells."""
    layers = linear_layers(xavier_uniform(widths, seed, biases=False))
    atlas = pf.unfold(layers)
    assert as_set(find_shallow(layers, ByHighs(), interior=True).patterns) == as_set(atlas.signs())
    assert len(find_shallow(layers, ByHighs()).patterns) == 2 ** sum(widths[1:-1]) > len(atlas)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("interior", [False, True])
def test_both_solvers_find_the_same(biases: bool, interior: bool) -> None:
    layers = linear_layers(xavier_uniform((2, 3, 2, 1), 3, biases))
    direct, through_scipy = (find_shallow(layers, solve, interior) for solve in (ByHighs(), by_scipy))
    assert direct.patterns.tolist() == through_scipy.patterns.tolist()
    assert direct.programs == through_scipy.programs


def test_local_programs_prune() -> None:
    """Activations are not negative, so that a neuron with positive weights and bias is never off."""
    layers = [(np.eye(2), np.ones(2)), (np.ones((1, 2)), np.ones(1)), (np.ones((1, 1)), np.zeros(1))]
    found = find_shallow(layers, ByHighs())
    # Four and two patterns to try, then four pairs: the other four are pruned.
    assert (found.programs, len(found.patterns)) == (4 + 2 + 4, 4)


def test_weights_are_xavier_uniform() -> None:
    (W, b), *_ = linear_layers(xavier_uniform((300, 200, 1), 0, biases=True))
    bound = np.sqrt(6 / 500)
    assert 0.99 * bound < np.abs(W).max() <= bound * (1 + 1e-6)
    assert 0.9 / np.sqrt(300) < np.abs(b).max() <= (1 + 1e-6) / np.sqrt(300)
    assert not any(b.any() for _, b in linear_layers(xavier_uniform((3, 2, 1), 0, biases=False)))


@pytest.mark.slow
def test_the_section_runs(tmp_path: Path) -> None:
    options = Namespace(
        quick=True, relucent=None, before=None, verifiers=None, relucent_seconds=None, baseline_seconds=None
    )
    section = figure3.section(Bench.make(tmp_path, options))
    (note,) = section.notes
    assert "first call" in note and section.picture is None
    assert len(section.table.rows) == 2 * len(figure3.EVERYWHERE) + len(figure3.AT_ONE_PAIR)
    assert all(len(row) == len(section.table.headings) and "-" not in row for row in section.table.rows)
    assert section.table.rows[0][5] == "256"
    assert ET.fromstring((tmp_path / "figure3.svg").read_text(encoding="utf-8")).tag.endswith("svg")


def test_wrong_patterns_are_told() -> None:
    ours = [{"pieces": 3, "patterns": "a"}] * 5
    theirs = [{"pieces": 3, "patterns": "a"}] * 4 + [{"pieces": 4, "patterns": "b"}]
    (note,) = figure3.disagreements((3, 2), figure3.Way(True, "closed", "highs"), ours, theirs)
    assert "seed 4" in note and "4 patterns" in note and "3 of polyfold's cells" in note
    assert len(figure3.disagreements((3, 2), figure3.Way(False, "closed", "highs"), ours, theirs)) == 5


def test_a_row_without_an_end_has_no_ratio() -> None:
    ours = [{"pieces": 3, "cpu_seconds": 0.5}] * 5
    row = figure3.row((6, 5), figure3.EVERYWHERE[0], ours, None)
    assert row[-2:] == ["-", "-"] and row[6] == "3"


def test_points_are_placed_by_their_logarithms() -> None:
    series = [Series("s", [(1.0, 0.0), (10.0, 20.0), (100.0, 0.0)]), Series("t", [None, (5.0, 1.0), None])]
    (axes,) = draw("t", ["a", "b", "c"], "x", "y", series).axes
    means = axes.containers[0].lines[0].get_xydata()
    first, second, third = axes.transData.transform(means)[:, 1]
    assert first - second == pytest.approx(second - third) and first < second
