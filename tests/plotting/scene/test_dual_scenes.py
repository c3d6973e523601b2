"""Dual space and dual graphs, read as data against finite differences and networkx."""

from __future__ import annotations

import sys

import networkx
import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError
from polyfold.network.load import load
from polyfold.plotting.scene.dual_graph import dual_graph_scene
from polyfold.plotting.scene.dual_space import dual_space_scene
from polyfold.plotting.scene.shapes import Points, Segments

RNG = np.random.default_rng(1)
NETWORK = [(RNG.normal(size=(6, 2)), RNG.normal(size=6)), (RNG.normal(size=(1, 6)), RNG.normal(size=1))]
ATLAS = pf.unfold(NETWORK, pf.box(-1, 1))
DATA = RNG.uniform(-1, 1, size=(20, 2))


def test_points_are_slopes_and_offsets() -> None:
    dual = pf.maps.dual_space(ATLAS, X=DATA)
    (points,) = (part for part in dual_space_scene(dual).parts if isinstance(part, Points))
    network, step = load(NETWORK), 1e-6
    at = ATLAS.chebyshev(dual.first_cell)[0]
    slopes = np.stack([(network(at + e) - network(at - e))[:, 0] / (2 * step) for e in step * np.eye(2)], axis=1)
    np.testing.assert_allclose(points.points[:, :2], slopes, atol=1e-6)
    np.testing.assert_allclose(points.points[:, 2], network(at)[:, 0] - (slopes * at).sum(axis=1), atol=1e-6)
    held = np.zeros(len(dual), dtype=bool)
    held[dual.point_of_cell[ATLAS.locate(DATA)]] = True
    assert (points.colouring.values == held).all()
    assert points.sizes[held].sum() == len(DATA) and (points.sizes[~held] < 1).all()


def test_two_axes_and_edges() -> None:
    dual = pf.maps.dual_space(ATLAS)
    scene = dual_space_scene(dual, axes=("w0", "b"), edges=True)
    edges, points = scene.parts
    assert isinstance(edges, Segments) and isinstance(points, Points)
    assert scene.axes.labels == ("w0", "b") and "w1" in " ".join(scene.notes)
    np.testing.assert_array_equal(points.points, dual.points[:, [0, 2]])
    graph = pf.graph.dual(ATLAS).to_networkx()
    pairs = {tuple(sorted((int(dual.point_of_cell[a]), int(dual.point_of_cell[b])))) for a, b in graph.edges}
    assert len(edges.ends) == len({pair for pair in pairs if pair[0] != pair[1]})
    assert points.sizes is None and (dual.cells == 1).all() and "1 cell" in scene.notes[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"axes": ("w0", "w7")}, "w7"),
        ({"axes": ("w0",)}, "two or three"),
        ({"axes": ("b", 2)}, "differ"),
        ({"size": "large"}, "large"),
        ({"size": "data"}, "needs data"),
    ],
)
def test_wrong_options(options: dict[str, object], said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        dual_space_scene(pf.maps.dual_space(ATLAS), **options)  # type: ignore[arg-type]


def test_a_graphs_colours_are_distances() -> None:
    graph = pf.graph.dual(ATLAS)
    edges, nodes = dual_graph_scene(graph, source=3).parts
    assert isinstance(edges, Segments) and isinstance(nodes, Points) and nodes.colouring is not None
    hops = networkx.single_source_shortest_path_length(graph.to_networkx(), 3)
    assert nodes.colouring.values.tolist() == [hops[node] for node in range(len(graph))]
    assert (ATLAS.locate(nodes.points) == np.arange(len(ATLAS))).all()
    ends = {tuple(row) for row in ATLAS.locate(edges.ends.reshape(-1, 2)).reshape(-1, 2).tolist()}
    assert ends == {tuple(sorted(edge)) for edge in graph.to_networkx().edges}
    assert all("across" in text for text in edges.hover)


@pytest.mark.parametrize("layout", [None, "spring", "spectral"])
def test_layouts_for_many_dimensions(layout: str | None) -> None:
    rng = np.random.default_rng(2)
    deep = [(rng.normal(size=(5, 4)), rng.normal(size=5)), (rng.normal(size=(1, 5)), np.zeros(1))]
    graph = pf.graph.dual(pf.unfold(deep, pf.box(-1, 1)))
    first, again = (dual_graph_scene(graph, layout=layout).parts[1] for _ in range(2))
    assert isinstance(first, Points) and isinstance(again, Points)
    assert first.points.shape == (len(graph), 2) and np.isfinite(first.points).all()
    np.testing.assert_array_equal(first.points, again.points)
    assert first.colouring is not None and first.colouring.values.tolist() == graph.degrees.tolist()


def test_no_layout() -> None:
    graph = pf.graph.dual(pf.unfold([(np.ones((1, 4)), [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1)))
    with pytest.raises(PolyfoldError, match="got 'circle'"):
        dual_graph_scene(graph, layout="circle")
    with pytest.raises(PolyfoldError, match="two or three dimensions, not 4"):
        dual_graph_scene(graph, layout="cells")


def test_without_networkx(monkeypatch, tmp_path):
    """It comes with an extra, and what needs it says which."""
    monkeypatch.setitem(sys.modules, "networkx", None)
    graph = pf.graph.dual(ATLAS)
    for ask in (
        graph.to_networkx,
        lambda: graph.save(tmp_path / "a.json"),
        pf.topology.faces(ATLAS).hasse,
        lambda: pf.plot(graph, layout="spring"),
    ):
        with pytest.raises(pf.PolyfoldError, match=r"pip install polyfold\[graph\]"):
            ask()
