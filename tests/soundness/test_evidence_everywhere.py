"""Every result that is computed from an atlas carries what is known of it, and is called proved only if that is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.public import public_functions, public_types
from polyfold._base.evidence import Evidence
from polyfold.explain.shapley.result import Attribution
from polyfold.program.lower.lower import lower

POINT = np.array([[0.3, -0.4]])


def pieces(atlas: pf.Atlas) -> np.ndarray:
    return np.zeros((len(atlas), atlas.dim + 1))


# What every public function makes of an atlas, and what can be asked of that. Each names the function that it is for.
ASKED: dict[str, tuple[Callable[[pf.Atlas], object], ...]] = {
    "size.bounds": (pf.size.bounds,),
    "topology.betti": (pf.topology.betti, lambda atlas: pf.topology.betti(pf.topology.level_set(atlas, 0.1))),
    "topology.boundary": (pf.topology.boundary, lambda atlas: pf.topology.boundary(atlas).components),
    "stats.boxes": (pf.stats.boxes, lambda atlas: pf.stats.boxes(pf.regions(atlas))),
    "compare.canonical": (pf.compare.canonical, lambda atlas: pf.compare.canonical(atlas).shallow()),
    "stats.class_areas": (pf.stats.class_areas, lambda atlas: pf.stats.class_areas(pf.stats.classes(atlas))),
    "topology.class_region": (lambda atlas: pf.topology.class_region(atlas, 0),),
    "stats.classes": (pf.stats.classes,),
    "topology.critical_points": (
        pf.topology.critical_points,
        lambda atlas: pf.topology.critical_points(pf.topology.faces(atlas)),
    ),
    "stats.covariance": (pf.stats.covariance,),
    "stats.decision_boundary": (pf.stats.decision_boundary,),
    "graph.diameter": (
        pf.graph.diameter,
        lambda atlas: pf.graph.diameter(pf.regions(atlas)),
        lambda atlas: pf.graph.diameter(atlas).route,
    ),
    "graph.dual": (
        pf.graph.dual,
        lambda atlas: pf.graph.dual(pf.regions(atlas)),
        lambda atlas: pf.graph.dual(atlas).route(0, 1),
    ),
    "maps.dual_space": (pf.maps.dual_space,),
    "topology.faces": (
        pf.topology.faces,
        lambda atlas: pf.topology.faces(atlas).all(),
        lambda atlas: pf.topology.faces(atlas).skeleton(1).components,
    ),
    "maps.facet_jumps": (lambda atlas: pf.maps.facet_jumps(atlas, pieces=pieces(atlas)),),
    "stats.facets": (pf.stats.facets,),
    "stats.integral": (pf.stats.integral,),
    "topology.level_set": (lambda atlas: pf.topology.level_set(atlas, 0.1),),
    "stats.lipschitz": (pf.stats.lipschitz,),
    "stats.maximum": (lambda atlas: pf.stats.maximum(atlas, output=0),),
    "stats.mean": (pf.stats.mean,),
    "stats.minimum": (lambda atlas: pf.stats.minimum(atlas, output=1),),
    "stats.nearest_change": (lambda atlas: pf.stats.nearest_change(atlas, POINT),),
    "graph.path": (
        lambda atlas: pf.graph.path(atlas, 0, len(atlas) - 1),
        lambda atlas: pf.graph.path(atlas, [0.0, 0.0], [0.9, 0.9]),
    ),
    "topology.persistence": (lambda atlas: pytest.importorskip("gudhi") and pf.topology.persistence(atlas),),
    "regions": (pf.regions,),
    "rewrite.shallow": (
        pf.rewrite.shallow,
        lambda atlas: pf.rewrite.edit(pf.rewrite.shallow(atlas), region=[0], freeze=True).network,
        lambda atlas: pf.rewrite.edit(pf.rewrite.shallow(atlas), region=[0], freeze=True),
    ),
    "explain.shapley": (
        lambda atlas: pf.explain.shapley(atlas, POINT, background="uniform", scope="cell"),
        lambda atlas: pf.explain.shapley(atlas, POINT, background="uniform", scope="region"),
        lambda atlas: pf.explain.shapley(atlas, POINT, background=[[0.0, 0.0]]),
    ),
    "topology.sublevel": (lambda atlas: pf.topology.sublevel(atlas, 0.1),),
    "summarise": (lambda atlas: pf.summarise(atlas, POINT), lambda atlas: pf.summarise(pf.regions(atlas), POINT).boxes),
    "stats.variance": (pf.stats.variance,),
    "topology.superlevel": (lambda atlas: pf.topology.superlevel(atlas, 0.1),),
}
# These take an atlas too, and give no result of this kind.
OTHERS = {
    "certify": "a certificate",
    "check": "a certificate",
    "plot": "a figure",
    "resume": "an atlas",
}
# These take any source, too, and read nothing off the cells of an atlas; `rewrite.edit` takes a shallow network.
OF_THE_NETWORK = {
    "compare.match",
    "count",
    "equivalent",
    "explain.integrated_gradients",
    "explore",
    "layers.truncation",
    "local",
    "maps.matrices",
    "maps.of_pattern",
    "reduce",
    "report",
    "rewrite.edit",
    "rewrite.identifiable",
    "rewrite.irreducible",
    "rewrite.stability",
    "separation.cost_bound",
    "separation.cost_decomposition",
    "size.estimate",
    "symmetry.distance",
    "symmetry.flatness",
    "symmetry.normal_form",
    "symmetry.path_norm",
    "unfold",
}

# Answers that are not read off an atlas.
WITHOUT_ATLAS = {
    pf.compare.Equivalence,
    pf.explain.IntegratedGradients,
    pf.layers.Interpretation,
    pf.layers.Truncation,
    pf.maps.ClusterCurve,
    pf.maps.ClusteredMaps,
    pf.maps.MapMatrices,
    pf.maps.Similarity,
    pf.maps.Transfer,
    pf.maps.TransferTable,
    pf.symmetry.Distance,
    pf.symmetry.Flatness,
    pf.symmetry.NormalForm,
    pf.symmetry.PathNorm,
    pf.training.BoundaryMovement,
    pf.training.CellCounts,
    pf.training.MapDrift,
    pf.training.Movie,
}
WITHOUT_ATLAS |= {pf.Atlas, pf.Certificate, pf.engine.Count, pf.reporting.Report, pf.size.Estimate}
WITHOUT_ATLAS |= {pf.compare.Match, pf.maps.LocalMaps, pf.maps.PatternMap, pf.maps.TouchingCells}
WITHOUT_ATLAS |= {pf.rewrite.Identifiability, pf.rewrite.Irreducible, pf.rewrite.Reduction, pf.rewrite.Stability}
WITHOUT_ATLAS |= {getattr(pf.separation, name) for name in pf.separation.__all__ if name[0].isupper()}


def random_layers(*widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(7)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def certified(atlas: pf.Atlas) -> pf.Atlas:
    return atlas.with_certificate(pf.certify(atlas))


@pytest.fixture(scope="module")
def atlases(tmp_path_factory) -> dict[str, pf.Atlas]:
    """The same cells, known in four ways, and those of a neighbour of a network."""
    checked = pf.unfold(random_layers(2, 5, 2), pf.box(-1, 1))
    path = tmp_path_factory.mktemp("kept") / "atlas.parquet"
    certified(checked).save(path)
    thirds = [(np.full((3, 2), 0.1) + np.eye(3, 2), np.full(3, 0.1)), (np.eye(3) / 3, np.zeros(3))]
    linear = [*thirds[:1], (np.ones((2, 3)) / 3, np.zeros(2)), (np.array([[0.1, 0.3], [0.3, 0.7]]), np.zeros(2))]
    rounded = lower(pf.load(joined(linear)))
    assert rounded.rounded
    return {
        "checked": checked,
        "certified": certified(checked),
        "of a file": pf.open(path),
        "of a neighbour": certified(pf.unfold(rounded, pf.box(-1, 1))),
    }


def joined(layers: list[tuple[np.ndarray, np.ndarray]]) -> object:
    """Two linear layers with nothing in between, whose product is no matrix of floats."""
    torch = pytest.importorskip("torch")
    modules = []
    for number, (W, b) in enumerate(layers):
        layer = torch.nn.Linear(W.shape[1], W.shape[0]).double()
        layer.weight.data, layer.bias.data = torch.from_numpy(W), torch.from_numpy(b)
        modules += [layer, torch.nn.ReLU()] if number == 0 else [layer]
    return torch.nn.Sequential(*modules)


def test_every_function_that_takes_an_atlas_is_asked():
    """Whoever adds one says here what it carries."""
    taking = {
        name
        for name, function in public_functions().items()
        if hasattr(function, "question") and "source" in inspect.signature(function).parameters
    }
    assert len(taking) > 40
    new = taking - ASKED.keys() - OTHERS.keys() - OF_THE_NETWORK
    assert not new, f"put these into ASKED, or into OF_THE_NETWORK if they read nothing off an atlas: {sorted(new)}"
    assert not ASKED.keys() & OTHERS.keys() and not OF_THE_NETWORK & (ASKED.keys() | OTHERS.keys())
    assert taking >= OF_THE_NETWORK


def test_every_class_that_carries_evidence_is_asked(atlases):
    """The classes of pf that have evidence are those that were asked, and those that need no atlas."""
    with_evidence = {kind for kind in public_types().values() if isinstance(getattr(kind, "evidence", None), property)}
    asked = {type(result) for _, result in answers(atlases["checked"])}
    left = with_evidence - asked - WITHOUT_ATLAS
    assert not left, f"{left}: write into ASKED a call that gives one, or into WITHOUT_ATLAS what needs no atlas"


def answers(atlas: pf.Atlas) -> Iterator[tuple[str, object]]:
    for name, questions in ASKED.items():
        for ask in questions:
            yield name, ask(atlas)


@pytest.mark.parametrize("known", ["checked", "certified", "of a file", "of a neighbour"])
def test_every_result_says_what_it_rests_on(atlases, known):
    atlas = atlases[known]
    for name, result in answers(atlas):
        evidence = result.evidence
        assert isinstance(evidence, Evidence) and is_dataclass(result), name
        assert evidence.network_digest == atlas.program.digest and evidence.domain_digest == atlas.domain.digest, name
        assert evidence.arrays_digest == atlas.arrays_digest, name
        assert not evidence.proved or known == "certified", name
        assert evidence.level in ("checked", "certified") and evidence.complete, name
        assert evidence.level == "checked" or known != "checked", name
        if known == "of a file":
            assert evidence.source == "in the file", name
        if known == "of a neighbour":
            assert "neighbour" in evidence.of, name
        assert json.loads(json.dumps(evidence.to_json()))["proved"] == evidence.proved
        # SHAP values do not rest on cells.
        words = repr(result)
        if not isinstance(result, Attribution) or result.scope in ("cell", "region"):
            assert evidence.proved or evidence.word in words, (name, words)
        if not evidence.proved:
            assert "proved" not in words and not getattr(result, "proved", False), (name, words)


def test_certified_atlases_have_answers_that_are_proved(atlases):
    """What needs no other cells than the atlas's own is as sure as the atlas."""
    proved = {name for name, result in answers(atlases["certified"]) if result.evidence.proved}
    cut_anew = {f"stats.{name}" for name in ("class_areas", "classes", "decision_boundary", "nearest_change")}
    cut_anew |= {f"topology.{name}" for name in ("boundary", "class_region", "level_set", "sublevel", "superlevel")}
    assert proved == ASKED.keys() - cut_anew, "cut_anew names the questions that find other cells than the atlas's own"


def test_json_says_it_too(atlases):
    found = pf.size.bounds(atlases["certified"])
    assert json.loads(json.dumps(found.to_json()))["evidence"]["level"] == "certified"
    without = pf.size.bounds(random_layers(2, 3, 1)).to_json()["evidence"]
    assert without["level"] is without["proof"] is None and not without["proved"]
    assert pf.size.bounds(pf.count(random_layers(2, 3, 1), pf.box(-1, 1))).to_json()["evidence"]["level"] == "checked"


def test_edited_results_have_none(atlases):
    atlas = atlases["certified"]
    for name, result in answers(atlas):
        # A set of faces is the user's choice; what is known of the faces stays known.
        if not isinstance(result, pf.topology.Subcomplex):
            assert replace(result).evidence.nothing, name


def test_the_movement_of_a_boundary_rests_on_all_snapshots():
    layers = [(np.array([[1.0, 0.0]]), np.array([0.0]))]
    recorder = pf.training.record(layers)
    layers[0][1][:] = -0.25
    recorder.step()
    moved = pf.training.boundary_movement(recorder.recording, pf.box(-1, 1))
    assert moved.evidence.level == "checked" and moved.evidence.complete and "checked, complete" in repr(moved)
    first = lower(recorder.recording.network(0))
    assert moved.evidence.network_digest == first.digest and moved.evidence.arrays_digest
    assert replace(moved).evidence.nothing
