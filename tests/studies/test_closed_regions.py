"""Networks no wider than their input close no region; wider ones do; and cells are another matter."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import polyfold as pf
from helpers.slow_params import quick_then_slow
from studies import closed_regions as study

PAGE = Path(__file__).parents[2] / "docs" / "dual_space.md"
NARROW = [hidden for hidden in study.WIDTHS if max(hidden) <= 2]
# A triangle around the origin: 1 minus how far a point is beyond each of three lines.
TRIANGLE = [([[0.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], [0.0, 0.0, 0.0]), ([[-1.0, -1.0, -1.0]], [1.0])]


def shown_rows() -> dict[tuple[str, str], str]:
    (shown,) = re.findall(r"^\$ python -m studies.closed_regions\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    return {tuple(line.split()[1:3]): line for line in shown.splitlines()[1:]}


@pytest.mark.parametrize("hidden", quick_then_slow([(3,), (2, 2)], quick=1))
def test_rows_of_the_page(hidden):
    shown = shown_rows()
    rows = [study.row("random", hidden, 200, study.random_network)]
    rows.append(study.row("trained", hidden, 10, study.trained_network))
    for row, line in zip(rows, study.table(rows).splitlines()[1:], strict=True):
        assert line.rstrip() == shown[row.kind, "-".join(map(str, hidden))].rstrip()
        assert (row.bounded == 0) == (max(hidden) == 2)


def open_components_without_end(network) -> bool:
    """Whether every component of {f > 0}, through facets only, has an unbounded part."""
    found = pf.stats.classes(pf.unfold(network))
    parts, inside = found.atlas, found.label == 1
    owner, other = parts.facet_owner, parts.neighbour.astype(int)
    inner = (other >= 0) & inside[owner] & inside[other]
    links = coo_array((np.ones(inner.sum()), (owner[inner], other[inner])), shape=(len(parts), len(parts)))
    label = connected_components(links, directed=False)[1]
    return {*label[inside]} == {*label[inside & ~parts.bounded]}


@pytest.mark.parametrize("hidden", NARROW)
def test_open_regions_and_level_sets_of_narrow_networks_have_no_bounded_component(hidden):
    for seed in range(30):
        network = study.random_network(hidden, seed)
        assert open_components_without_end(network)
        atlas = pf.unfold(network)
        at = float(network([[0.3, -0.2]])[0, 0])  # a value that is taken
        for level in (at, 0.0):
            assert not pf.topology.level_set(atlas, level).components.bounded.any()


@pytest.mark.parametrize("outputs", [2, 3])
def test_two_and_three_classes(outputs):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        widths = [2, 2, 2, 2, outputs]
        found = pf.stats.classes(
            pf.unfold([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)])
        )
        for label in range(outputs):
            assert not pf.topology.class_region(found, label).components.bounded.any()


def test_four_classes_close_a_region_without_any_neuron():
    linear = [([[0.0, 0.0], [0.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], [1.0, 0.0, 0.0, 0.0])]
    assert pf.topology.class_region(pf.unfold(linear), 0).components.bounded.tolist() == [True]


def test_three_neurons_close_a_triangle():
    cells, components, bounded = study.bounded_components(pf.load(TRIANGLE))
    assert bounded == 1 and components == 2 and cells == 0
    assert not open_components_without_end(TRIANGLE)


def test_a_narrow_network_with_a_bounded_cell():
    # 1 - x - y is positive on a triangle of the quadrant, which is a cell; {f > 0} reaches to infinity all the same.
    corner = [(np.eye(2), np.zeros(2)), ([[-1.0, -1.0]], [1.0]), ([[1.0]], [-0.5])]
    atlas = pf.unfold(corner)
    (bounded,) = np.flatnonzero(atlas.bounded)
    assert sorted(atlas.vertices([bounded])[0].tolist()) == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert open_components_without_end(corner)
    assert not pf.topology.class_region(atlas, 1).components.bounded.any()
