"""Ways between cells: in an atlas against networkx, and without one against the atlas."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import unfolded
from helpers.slow_params import quick_then_slow
from polyfold.atlas.patterns import pack
from polyfold.engine.cells.facets import Cells
from polyfold.errors import DomainError, LimitError
from polyfold.graph.neighbourhood import Separation
from polyfold.program.lower.lower import lower


def layers(widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


def follow(program, domain, route) -> None:
    """Every step of a route leads over a facet between its two cells, which lies on the gates that it names."""
    atlas = pf.unfold(program, domain)
    cells = atlas.index.find(pack(route.patterns))
    assert (cells >= 0).all()
    for k, (here, there) in enumerate(pairwise(cells.tolist())):
        facets = [facet for facet in atlas.facets(here) if atlas.neighbour[facet] == there]
        assert [tuple(sorted(atlas.walls(facet))) for facet in facets] == [route.gates[k]]


def test_in_an_atlas_ways_are_shortest():
    for seed in range(80):
        case, atlas = unfolded(seed)
        graph = nx.from_scipy_sparse_array(pf.graph.dual(atlas).matrix)
        a, b = np.random.default_rng(seed).integers(len(atlas), size=2).tolist()
        route = pf.graph.path(atlas, a, b)
        assert route.hops == len(route) == nx.shortest_path_length(graph, a, b) and route.shortest
        assert (route.nodes[0], route.nodes[-1]) == (a, b)
        follow(case.program, case.domain, route)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_without_an_atlas_ways_are_the_same_length(batch):
    for seed in range(batch, 100, 4):
        case, atlas = unfolded(seed)
        a, b = np.random.default_rng(seed).integers(len(atlas), size=2).tolist()
        if a in atlas.exact_witnesses or b in atlas.exact_witnesses:
            continue
        route = pf.graph.path(case.program, atlas.witnesses[a], atlas.witnesses[b], domain=case.domain)
        assert route.shortest and route.stopped_by is None, case
        assert route.hops == pf.graph.path(atlas, a, b).hops, case
        follow(case.program, case.domain, route)


@pytest.mark.parametrize("seed", quick_then_slow(range(0, 60, 3), quick=10))
def test_in_an_incomplete_atlas_cells_between_are_looked_at(seed):
    case, whole = unfolded(seed)
    if len(whole) < 6:
        pytest.skip("too few cells to leave some out")
    part = pf.unfold(case.program, case.domain, max_cells=len(whole) // 2, threads=1)
    assert not part.complete
    route = pf.graph.path(part, 0, len(part) - 1)
    a, b = whole.index.find(part.patterns[[0, len(part) - 1]]).tolist()
    assert route.shortest and route.hops == pf.graph.path(whole, a, b).hops
    follow(case.program, case.domain, route)


def test_the_lower_bound_never_exceeds_the_distance():
    for seed in range(80):
        case, atlas = unfolded(seed)
        graph = pf.graph.dual(atlas)
        goal = len(atlas) // 2
        separation = Separation(Cells(case.program, case.domain), atlas.signs([goal])[0])
        bound = np.array([separation(signs) for signs in atlas.signs()])
        assert (bound <= graph.distances(goal)).all(), case
        assert (np.abs(bound[graph.edges[:, 0]] - bound[graph.edges[:, 1]]) <= 1).all(), case


def test_gates_of_one_hyperplane_are_crossed_together():
    """Patterns differ in three gates and the way has one step: their number bounds nothing."""
    same = [([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    for where in (same, pf.unfold(same)):
        route = pf.graph.path(where, [1.0, 0.5], [-1.0, 0.5])
        assert route.gates == ((0, 1, 2),) and route.shortest
    assert [str(neuron) for neuron in route.neurons[0]] == ["relu1[0]", "relu1[1]", "relu1[2]"]


def test_regions_and_graphs():
    atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))])
    regions = pf.regions(atlas)
    assert pf.graph.path(regions, [1.0, 1.0], [-1.0, -1.0]).hops == 1
    assert pf.graph.path(pf.graph.dual(regions), 0, 1).gates == ((0,),)
    assert pf.graph.path(atlas, 2, 2).hops == 0 and pf.graph.path(atlas, 2, 2).shortest


def test_a_network_that_nobody_unfolds():
    network = layers([20, 24, 24, 1])
    x = np.random.default_rng(1).normal(size=20)
    route = pf.graph.path(network, x, x + 0.3, max_cells=25, domain=pf.box(-9, 9))
    assert 0 < route.lower <= route.hops and route.looked_at <= 25
    signs = lower(pf.load(network)).evaluate(route.witnesses)[1]
    assert (signs == route.patterns).all()
    switched = [tuple(np.flatnonzero(one != other).tolist()) for one, other in pairwise(signs)]
    assert switched == list(route.gates)
    assert route.shortest or route.stopped_by == "max_cells"


def test_a_limit_says_what_is_proved():
    network = layers([2, 12, 12, 1], seed=4)
    a, b = [-2.0, -2.0], [2.0, 2.0]
    truth = pf.graph.path(pf.unfold(network), a, b).hops
    with pytest.raises(LimitError, match="at least"):
        pf.graph.path(network, a, b, max_cells=2)
    seen = set()
    for limit in (25, 60, 231):
        try:
            route = pf.graph.path(network, a, b, max_cells=limit)
        except LimitError:
            continue
        seen.add(route.shortest)
        assert route.lower <= truth <= route.hops
        assert not route.shortest or route.hops == truth
        assert route.shortest or route.stopped_by == "max_cells"
    assert seen == {True, False}


def test_bad_input():
    network = layers([2, 3, 1])
    atlas = pf.unfold(network, pf.box(-1, 1))
    with pytest.raises(pf.PolyfoldError, match="numbers in an atlas only"):
        pf.graph.path(network, 0, 1)
    with pytest.raises(DomainError):
        pf.graph.path(atlas, [5.0, 0.0], 0)
    with pytest.raises(DomainError, match="end lies outside"):
        pf.graph.path(network, [0.0, 0.0], [5.0, 0.0], domain=pf.box(-1, 1))
    with pytest.raises(IndexError, match="there is no cell 99"):
        pf.graph.path(atlas, 99, 0)
    with pytest.raises(pf.PolyfoldError, match="an atlas has a domain of its own"):
        pf.graph.path(atlas, 0, 1, domain=pf.box(0, 1))
    with pytest.raises(LimitError, match="max_cells=0"):
        pf.graph.path(network, [0.0, 0.0], [1.0, 0.0], max_cells=0)
