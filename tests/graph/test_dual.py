"""Dual graphs: edges against the reference engine, distances and diameters against networkx."""

from __future__ import annotations

import json
import os
import signal
import threading
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import by_hand, unfolded
from helpers.slow_params import quick_then_slow
from polyfold.errors import StorageError
from polyfold.graph.dual import DualGraph
from polyfold.testing.reference import reference_unfold


def layers(widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


def plain(graph: DualGraph) -> nx.Graph:
    """The same graph, from its matrix."""
    return nx.from_scipy_sparse_array(graph.matrix)


def graph_of_edges(nodes: int, edges) -> DualGraph:
    """Any graph, over an atlas with as many cells: those of nodes - 1 points on a line."""
    gates = nodes - 1
    atlas = pf.unfold([(np.ones((gates, 1)), -np.arange(float(gates))), (np.ones((1, gates)), np.zeros(1))])
    edges = np.array(sorted({tuple(sorted(edge)) for edge in edges}), dtype=np.int64).reshape(-1, 2)
    zeros, ones = np.zeros(len(edges), dtype=np.int32), np.ones(len(edges), dtype=np.int64)
    return DualGraph(atlas, None, edges, np.arange(len(edges) + 1), zeros, ones)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_edges_and_their_gates_are_those_of_the_reference_engine(batch):
    several = 0
    for seed in range(batch, 120, 4):
        case, atlas = unfolded(seed)
        if len(atlas) > 60:
            continue
        graph = pf.graph.dual(atlas)
        reference = reference_unfold(case.program, case.domain)
        number = {tuple(row): k for k, row in enumerate(atlas.signs().tolist())}
        rename = [number[tuple(pattern)] for pattern in reference.patterns]
        expected = {
            tuple(sorted((rename[cell], rename[facet.neighbour]))): tuple(sorted(facet.walls))
            for cell, facets in enumerate(reference.facets)
            for facet in facets
            if facet.neighbour is not None and facet.neighbour >= 0
        }
        found = {tuple(edge): graph.gates_of(k) for k, edge in enumerate(graph.edges.tolist())}
        assert found == expected, case
        several += any(len(gates) > 1 for gates in found.values())
    assert batch % 2 == 0 or several > 2


def test_diameter_and_radius_against_brute_force_on_200_graphs():
    disconnected = degenerate = incomplete = 0
    for seed in range(200):
        _, atlas = unfolded(seed)
        if seed % 3 == 0 and len(atlas) > 3:
            atlas = pf.unfold(atlas.program, atlas.domain, max_cells=max(2, len(atlas) // 2), threads=1)
            incomplete += not atlas.complete
        degenerate += len(atlas.shared_wall) > 0
        graph = pf.graph.dual(pf.regions(atlas) if seed % 5 == 0 else atlas)
        whole = plain(graph)
        parts = list(nx.connected_components(whole))
        disconnected += len(parts) > 1
        largest = max(parts, key=lambda part: (len(part), -min(part)))
        part = whole.subgraph(largest)
        eccentricity = nx.eccentricity(part)
        found = pf.graph.diameter(graph, sets=True)
        assert found.complete and found.components == len(parts) and found.nodes == len(part)
        assert found.diameter == max(eccentricity.values())
        assert found.radius == min(eccentricity.values())
        assert eccentricity[found.centre_node] == found.radius
        assert found.centre.tolist() == sorted(v for v, e in eccentricity.items() if e == found.radius)
        assert found.periphery.tolist() == sorted(v for v, e in eccentricity.items() if e == found.diameter)
        assert nx.shortest_path_length(part, *found.ends) == found.route.hops == found.diameter
        assert found.segment_bound is None or found.diameter <= found.segment_bound
        assert pf.graph.diameter(graph, radius=False).diameter == found.diameter
    assert min(disconnected, degenerate, incomplete) > 5


@pytest.mark.parametrize(
    "made",
    [
        nx.path_graph(2),
        nx.path_graph(40),
        nx.cycle_graph(31),
        nx.grid_2d_graph(9, 7),
        nx.star_graph(20),
        nx.complete_graph(12),
        nx.hypercube_graph(5),
        nx.disjoint_union(nx.path_graph(5), nx.cycle_graph(6)),
        *(nx.gnm_random_graph(60, 75, seed=seed) for seed in range(10)),
        *(nx.random_labeled_tree(50, seed=seed) for seed in range(5)),
    ],
    ids=str,
)
def test_graphs_that_no_network_has(made):
    made = nx.convert_node_labels_to_integers(made)
    graph = graph_of_edges(len(made), made.edges)
    largest = max(nx.connected_components(made), key=lambda part: (len(part), -min(part)))
    part = made.subgraph(largest)
    found = pf.graph.diameter(graph, sets=True)
    assert found.diameter == found.route.hops == nx.diameter(part)
    assert found.radius == nx.radius(part)
    assert found.centre.tolist() == sorted(nx.center(part))
    assert found.periphery.tolist() == sorted(nx.periphery(part))
    expected = np.full((len(made), len(made)), -1)
    for v, lengths in nx.all_pairs_shortest_path_length(made):
        expected[v, list(lengths)] = list(lengths.values())
    assert (graph.distances(np.arange(len(made))) == expected).all()
    assert (graph.eccentricities(threads=2) == expected.max(axis=1)).all()


def test_distances_and_eccentricities_against_networkx():
    atlas = pf.unfold(layers([3, 9, 7, 1]))
    graph = pf.graph.dual(atlas)
    lengths = dict(nx.all_pairs_shortest_path_length(plain(graph)))
    expected = np.array([[lengths[a][b] for b in range(len(graph))] for a in range(len(graph))])
    assert len(graph) > 200
    assert (graph.distances(range(len(graph))) == expected).all()
    assert (graph.distances(5) == expected[5]).all() and graph.distances([5]).shape == (1, len(graph))
    assert (graph.eccentricities() == expected.max(axis=1)).all()
    assert (graph.eccentricities([7, 3], threads=1) == expected.max(axis=1)[[7, 3]]).all()


@pytest.mark.slow
def test_a_large_graph_against_all_eccentricities():
    graph = pf.graph.dual(pf.unfold(layers([3, 32, 24, 1]), pf.box(-3, 3)))
    assert len(graph) > 10_000
    found, all_of_them = pf.graph.diameter(graph, sets=True), graph.eccentricities()
    assert (found.diameter, found.radius) == (all_of_them.max(), all_of_them.min())
    assert found.centre.tolist() == np.flatnonzero(all_of_them == found.radius).tolist()
    assert found.periphery.tolist() == np.flatnonzero(all_of_them == found.diameter).tolist()
    assert found.walks < len(graph) / 10


def test_one_layer_in_general_position_is_as_far_across_as_it_has_gates():
    found = pf.graph.diameter(pf.unfold(layers([2, 30, 1])))
    assert found.diameter == found.segment_bound == 30
    assert found.history[0][0] == 1 and found.history[-1][1:] == (30, 30)


def test_regions_are_contracted():
    for seed in range(60):
        _, atlas = unfolded(seed)
        regions = pf.regions(atlas)
        graph, cells = pf.graph.dual(regions), pf.graph.dual(atlas)
        expected = {}
        for k, (a, b) in enumerate(cells.edges.tolist()):
            ends = tuple(sorted((int(regions.label[a]), int(regions.label[b]))))
            if ends[0] != ends[1]:
                expected.setdefault(ends, []).append(cells.gates_of(k))
        assert list(map(tuple, graph.edges.tolist())) == sorted(expected)
        for k, edge in enumerate(graph.edges.tolist()):
            several = expected[tuple(edge)]
            assert graph.facets[k] == len(several)
            assert graph.gates_of(k) == tuple(sorted(set().union(*several)))


def test_special_atlases():
    for atlas in by_hand():
        graph = pf.graph.dual(atlas)
        assert len(graph.edges) == atlas.inner_facets
        assert graph.degrees.sum() == 2 * atlas.inner_facets
        assert pf.graph.diameter(graph).diameter == nx.diameter(plain(graph))


def test_networkx_gets_the_names():
    atlas = pf.unfold(layers([2, 5, 4, 1]))
    graph = pf.graph.dual(atlas)
    made = graph.to_networkx()
    assert made.number_of_nodes() == len(atlas) and made.number_of_edges() == len(graph.edges)
    for a, b, values in made.edges(data=True):
        one, other = made.nodes[a]["pattern"], made.nodes[b]["pattern"]
        assert [g for g in range(atlas.gates) if one[g] != other[g]] == list(values["gates"])  # generic: what switches
        assert values["neurons"] == tuple(str(atlas.program.origins[gate]) for gate in values["gates"])
    assert made.nodes[3]["witness"] == atlas.witnesses[3].tolist()
    merged = pf.graph.dual(pf.regions(atlas)).to_networkx()
    assert sum(values["cells"] for _, values in merged.nodes(data=True)) == len(atlas)


@pytest.mark.parametrize("ending", ["graphml", "gexf", "json"])
def test_files_can_be_read_again(tmp_path, ending):
    graph = pf.graph.dual(unfolded(1)[1])
    file = tmp_path / f"graph.{ending}"
    graph.save(file)
    if ending == "json":
        again = nx.node_link_graph(json.loads(file.read_text()), edges="edges")
        made = graph.to_networkx()
        for _, _, values in made.edges(data=True):
            values |= {"gates": list(values["gates"]), "neurons": list(values["neurons"])}  # JSON has no tuples
        assert nx.utils.graphs_equal(again, made)
    else:
        again = nx.read_graphml(file) if ending == "graphml" else nx.read_gexf(file)
        assert {frozenset(map(int, edge)) for edge in again.edges} == {frozenset(edge) for edge in graph.edges.tolist()}
        gates = {frozenset((int(a), int(b))): values["gates"] for a, b, values in again.edges(data=True)}
        for k, edge in enumerate(graph.edges.tolist()):
            assert gates[frozenset(edge)] == " ".join(map(str, graph.gates_of(k)))


def test_bad_files(tmp_path):
    graph = pf.graph.dual(unfolded(1)[1])
    with pytest.raises(StorageError, match="graphml"):
        graph.save(tmp_path / "graph.dot")
    with pytest.raises(StorageError, match="not a folder"):
        graph.save(tmp_path / "nowhere" / "graph.gexf")
    assert not list(tmp_path.iterdir())


def test_bad_input():
    atlas = unfolded(0)[1]
    graph = pf.graph.dual(atlas)
    with pytest.raises(pf.PolyfoldError, match="must be a pair"):
        pf.graph.dual([1, 2])
    with pytest.raises(IndexError, match=f"the graph has {len(atlas)}"):
        graph.distances(len(atlas))
    with pytest.raises(pf.PolyfoldError, match="whole numbers"):
        graph.distances([0.5])
    with pytest.raises(pf.PolyfoldError, match="share no facet"):
        graph.edge(0, 0)
    with pytest.raises(pf.PolyfoldError, match="max_seconds=0"):
        pf.graph.diameter(graph, max_seconds=0)


def test_a_limit_leaves_bounds():
    atlas = pf.unfold(layers([4, 12, 10, 1]))
    truth = pf.graph.diameter(atlas)
    found = pf.graph.diameter(atlas, max_seconds=1e-9)
    assert found.stopped_by == "max_seconds" and not found.complete and found.diameter is None
    assert found.lower <= truth.diameter <= found.upper
    assert found.radius_lower <= truth.radius <= found.radius_upper
    assert found.route.hops == found.lower and "stopped by max_seconds" in repr(found)


def test_an_interrupt_leaves_bounds(interruptible):
    atlas = pf.unfold(layers([4, 12, 10, 1]))
    walks = []

    def interrupt(event):
        walks.append(event.done)
        assert event.what == "walks"
        if event.done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    found = pf.graph.diameter(atlas, progress=interrupt)
    assert found.stopped_by == "interrupt" and found.walks <= 5 and found.lower < found.upper
    assert walks[0] == 1
