"""What notebooks show of networks, atlases, cells and results: a short table, with everything escaped."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.public import public_types
from polyfold.network.graph import Node, Port
from polyfold.network.load import load

# Errors are shown by tracebacks.
NO_TABLE = {"network.Head", "network.Node", "network.Port", "testing.Case"}
NO_TABLE |= {"datasets.Bundled", "testing.ReferenceAtlas"}
NO_TABLE |= {f"program.{name}" for name in ("Affine", "Block", "GateOrigin", "Stage")}
NO_TABLE |= {f"symmetry.{name}" for name in ("Composition", "Flip", "FreeIncoming", "FreeOutgoing", "Permutation")}
NO_TABLE |= {f"symmetry.{name}" for name in ("PositiveMixing", "Rescaling", "ShiftOutgoing", "Transformation")}
HOSTILE = "<img src=x onerror=alert(1)>"
# A corner: gates x and y, output |x| + y+.
LAYERS = [([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
X = [[0.5, 0.25], [-0.5, -0.25], [0.75, -0.5]]


class Reader(HTMLParser):
    """The elements of a piece of HTML, and what its rows say."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.open: list[str] = []
        self.heads: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
        self.elements.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open[-1] == "th":
            self.heads.append(data)


def test_every_public_type_has_a_table() -> None:
    without = {
        name
        for name, kind in public_types().items()
        if not callable(getattr(kind, "_repr_html_", None)) and not issubclass(kind, Exception)
    }
    assert len(public_types()) > 55 and without == NO_TABLE


def results() -> dict[str, Any]:
    network = load(LAYERS)
    atlas = pf.unfold(LAYERS, pf.box(-1, 1))
    weights = [(np.array(w), np.array(b)) for w, b in LAYERS]
    recorder = pf.training.record(weights)
    weights[0][0][0, 0] = 2.0
    recorder.step(loss=1.0)
    maps = pf.maps.matrices(network, X)
    graph = pf.graph.dual(atlas)
    faces = pf.topology.faces(atlas)
    return {
        "Network": network,
        "Program": atlas.program,
        "Domain": atlas.domain,
        "Atlas": atlas,
        "Cell": atlas[0],
        "Certificate": atlas.certificate,
        "Count": pf.count(LAYERS, pf.box(-1, 1)),
        "Regions": pf.regions(atlas),
        "Bounds": pf.size.bounds(LAYERS),
        "Boxes": pf.stats.boxes(atlas),
        "Canonical": pf.compare.canonical(atlas),
        "Equivalence": pf.equivalent(LAYERS, LAYERS, pf.box(-1, 1)),
        "Reduction": pf.reduce(LAYERS, pf.box(0, 1)),
        "Stability": pf.rewrite.stability(LAYERS, pf.box(0, 1)),
        "LocalMaps": pf.local(LAYERS, X),
        "MapMatrices": maps,
        "ClusteredMaps": pf.maps.cluster(maps, 2),
        "DualGraph": graph,
        "Diameter": pf.graph.diameter(graph),
        "Route": graph.route(0, len(graph) - 1),
        "DualSpace": pf.maps.dual_space(atlas, X=X),
        "FacetStatistics": pf.stats.facets(atlas),
        "Shapley": pf.explain.shapley(atlas, X, background=X),
        "IntegratedGradients": pf.explain.integrated_gradients(LAYERS, X, baseline=[0.0, 0.0]),
        "Classes": pf.stats.classes(atlas, threshold=0.5),
        "ClassAreas": pf.stats.class_areas(atlas),
        "DecisionBoundary": pf.stats.decision_boundary(pf.stats.classes(atlas, threshold=0.5)),
        "Extremum": pf.stats.maximum(atlas),
        "Lipschitz": pf.stats.lipschitz(atlas),
        "Summary": pf.summarise(atlas, X),
        "Recording": recorder.recording,
        "BoundaryMovement": pf.training.boundary_movement(recorder.recording, pf.box(-1, 1), threshold=0.5),
        "MapDrift": pf.training.map_drift(recorder.recording, X),
        "Shallow": pf.rewrite.shallow(atlas),
        "FaceComplex": faces,
        "Truncation": pf.layers.truncation(LAYERS),
        "Irreducible": pf.rewrite.irreducible(LAYERS),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_results_show_what_they_hold(name: str) -> None:
    result = RESULTS[name]
    assert type(result).__name__ == name
    html = result._repr_html_()
    read = Reader(html)
    assert "table" in read.elements <= {"table", "caption", "tr", "th", "td", "pre", "p", "br"} and not read.open
    assert len(html) < 6000
    assert "object at 0x" not in read.text and "array(" not in read.text
    if name not in ("Network", "Atlas", "Cell", "Summary"):
        assert is_dataclass(result)
        assert read.heads == [each.name for each in fields(result) if not each.name.startswith("_")]


def test_numbers_are_the_results_own() -> None:
    atlas = RESULTS["Atlas"]
    assert "4 (4 bounded)" in Reader(atlas._repr_html_()).text
    certificate = Reader(RESULTS["Certificate"]._repr_html_()).text
    assert "levelchecked" in certificate and "completeyes" in certificate
    assert f"cells{RESULTS['Count'].cells}" in Reader(RESULTS["Count"]._repr_html_()).text
    assert "saidequal" in Reader(RESULTS["Equivalence"]._repr_html_()).text
    cell = Reader(atlas[2]._repr_html_()).text
    assert f"pattern{atlas[2].pattern}" in cell and ", ".join(str(n.id) for n in atlas[2].neighbours) in cell


def test_names_that_users_give_are_escaped() -> None:
    plain = load(LAYERS)
    (port,) = plain.inputs
    named = pf.Network(
        (Port(HOSTILE, port.shape),),
        tuple(
            Node(
                f"{HOSTILE}{node.name}",
                node.op,
                tuple(HOSTILE if n == port.name else f"{HOSTILE}{n}" for n in node.inputs),
            )
            for node in plain.nodes
        ),
        tuple(f"{HOSTILE}{name}" for name in plain.outputs),
    )
    shapley = pf.explain.shapley(RESULTS["Atlas"], X, background=X, feature_names=[HOSTILE, "b"])
    statistics = pf.stats.facets(pf.unfold(named, pf.box(-1, 1)))
    summary = pf.summarise(RESULTS["Atlas"], X, feature_names=[HOSTILE, "b"])
    for result in (named, shapley, statistics, summary):
        read = Reader(result._repr_html_())
        assert "img" not in read.elements and HOSTILE in read.text


def test_long_networks_stay_short() -> None:
    deep = load([(np.eye(2), np.zeros(2))] * 40)
    read = Reader(deep._repr_html_())
    assert f"and {len(deep.nodes) - 19} more" in read.text
    assert "constants318" in read.text
