"""polyfold beside relucent 1.0.0, which runs in an environment of its own. `make test-relucent` makes that environment.

Where it is not there these tests are skipped, and pytest's summary says so; POLYFOLD_RELUCENT may name its Python.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

import polyfold as pf
from helpers.facet_oracles import facets_by_programs
from helpers.wavy import wavy
from processes import run
from studies.small_networks import Layers, along_training, random_network
from workers.archive import write
from workers.awkward import awkward, integer_networks

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("POLYFOLD_RELUCENT", ROOT / ".venv-bench-relucent" / "bin" / "python"))
needs_relucent = pytest.mark.skipif(
    not PYTHON.exists() or not (PYTHON.parents[1] / ".with-torch").exists(),
    reason="NOT COMPARED WITH RELUCENT: its environment is not there; make test-relucent makes it",
)

# Hidden layers by dimension: a random and a trained network of each.
HIDDEN = {
    2: ((10,), (8, 6), (5, 5, 4)),
    3: ((8,), (6, 5), (4, 4, 3)),
    4: ((7,), (5, 4), (4, 3, 3)),
    5: ((6,), (5, 3), (4, 3, 2)),
    6: ((6,), (5, 2), (3, 3, 2)),
}


def thirty_networks() -> dict[str, Layers]:
    """d = 2 to 6, random and trained."""
    networks: dict[str, Layers] = {}
    for dim, hidden in HIDDEN.items():
        for number, widths in enumerate(hidden):
            shape = (dim, *widths, 1)
            networks[f"random-{dim}-{number}.npz"] = random_network(shape, 10 * dim + number)
            networks[f"trained-{dim}-{number}.npz"] = dict(along_training(shape, 10 * dim + number, [150]))[150]
    return networks


def words(atlas: pf.Atlas) -> list[str]:
    """Patterns as strings of 0 and 1."""
    return ["".join("01"[on] for on in row) for row in atlas.signs().astype(int)]


def cells_by_relucent(networks: dict[str, Layers], folder: Path) -> dict[str, dict]:
    paths = [folder / name for name in networks]
    for path in paths:
        write(path, networks[path.name], None)
    found = run("run_relucent_cells", *paths, python=str(PYTHON))
    assert found is not None and list(found) == list(networks)
    return found


@pytest.mark.slow
@needs_relucent
def test_cells_of_thirty_networks_are_relucents_pattern_for_pattern(tmp_path: Path) -> None:
    networks = thirty_networks()
    assert len(networks) == 30
    for name, theirs in cells_by_relucent(networks, tmp_path).items():
        atlas = pf.unfold(networks[name])
        assert theirs["complete"]
        assert len(theirs["cells"]) == len(set(theirs["cells"])) == len(atlas)
        assert set(theirs["cells"]) == set(words(atlas)), name
        ours = facets(atlas)
        # All facets are drawn, and beside them what is no facet but one gate apart.
        assert ours <= {frozenset(edge) for edge in theirs["edges"]}, name


@pytest.mark.slow
@needs_relucent
def test_relucent_draws_four_edges_that_are_no_facets(tmp_path: Path) -> None:
    torch.manual_seed(0)
    linear = [torch.nn.Linear(a, b) for a, b in ((2, 16), (16, 16), (16, 1))]
    layers = [(part.weight.detach().numpy().astype(float), part.bias.detach().numpy().astype(float)) for part in linear]
    theirs = cells_by_relucent({"seed-0.npz": layers}, tmp_path)["seed-0.npz"]
    atlas = pf.unfold(layers)
    assert set(theirs["cells"]) == set(words(atlas))
    drawn, ours = {frozenset(edge) for edge in theirs["edges"]}, facets(atlas)
    assert (len(drawn), len(ours), len(ours - drawn), len(drawn - ours)) == (1115, 1111, 0, 4)


@pytest.mark.slow
@needs_relucent
def test_relucent_finds_the_cells_of_the_network_with_more_than_2d_facets(tmp_path: Path) -> None:
    layers = wavy(kinks=5, copies=4, seed=0)
    theirs = cells_by_relucent({"wavy.npz": layers}, tmp_path)["wavy.npz"]
    atlas = pf.unfold(layers)
    assert theirs["complete"] and set(theirs["cells"]) == set(words(atlas)) and len(atlas) == 1808
    assert facets(atlas) <= {frozenset(edge) for edge in theirs["edges"]}
    assert pf.stats.facets(atlas).mean > 6.18


def facets(atlas: pf.Atlas) -> set[frozenset[str]]:
    """Pairs of cells that share one."""
    names = words(atlas)
    inner = np.flatnonzero(atlas.neighbour >= 0)
    return {frozenset((names[atlas.facet_owner[k]], names[atlas.neighbour[k]])) for k in inner}


# -- what relucent refuses


@pytest.mark.slow
@needs_relucent
def test_relucent_refuses_all_awkward_networks() -> None:
    """docs/comparison.md says so of each; if one is accepted, the page is wrong."""
    found = run("run_relucent_awkward", python=str(PYTHON))
    assert found is not None
    answers = found["named"]
    expected = {
        "duplicate neurons": "NonGenericArrangementError",
        "opposite neurons": "NonGenericArrangementError",
        "integer weights": "NonGenericArrangementError",
        "nested modules": "ValueError: M",
        "BatchNorm1d": "ValueError: Module 1 is not supported",
        "MaxPool2d": "ValueError: Module",
        "residual connection": "ValueError: Conversion failed",
        "torch.relu in forward": "ValueError: Conversion failed",
        "LeakyReLU": "ValueError: Module 1 is not supported",
        "Hardtanh": "ValueError: Module 1 is not supported",
        "2,001 neurons without a Gurobi licence": "GurobiError: Model too large for size-limited license",
    }
    assert answers.keys() == {*expected, "three walls through a point"}
    for name, start in expected.items():
        assert len(answers[name]) == 1 and answers[name][0].startswith(start), (name, answers[name])
    cells, topology = answers.pop("three walls through a point")
    assert cells == "6 cells" and topology.startswith("NonGenericArrangementError: row 2 vanishes exactly")
    assert found["integers"] == {"cells": 11, "betti": 7}


@pytest.mark.parametrize("name", list(awkward()))
def test_polyfold_takes_all_of_them(name: str) -> None:
    """The maps of the cells are the module's own values at random points."""
    takes(awkward()[name], 0.01 if name.startswith("2,001") else 1.0)


def test_polyfold_takes_networks_of_small_integers() -> None:
    """As layers, which load faster than modules."""
    for model in integer_networks():
        linear = [part for part in model if isinstance(part, torch.nn.Linear)]
        takes(model, 1.0, [(part.weight.detach().numpy(), part.bias.detach().numpy()) for part in linear])


def takes(model: torch.nn.Module, size: float, network: object = None) -> None:
    atlas = pf.unfold(model if network is None else network, pf.box(-size, size))
    assert atlas.complete and atlas.certificate.level == "checked"
    assert atlas.euler_characteristic() == 1
    X = np.random.default_rng(0).uniform(-size, size, size=(50, 2))
    A, c = atlas.maps(atlas.locate(X))
    with torch.no_grad():
        expected = model(torch.from_numpy(X)).numpy()
    assert np.einsum("kij,kj->ki", A, X) + c == pytest.approx(expected, abs=1e-9)


# -- the same call in both


@pytest.mark.slow
@needs_relucent
def test_calls_that_the_comparison_names_answer_alike(tmp_path: Path) -> None:
    layers = random_network((2, 5, 4, 1), 3)
    write(tmp_path / "network.npz", layers, None)
    theirs = run("run_relucent_calls", tmp_path / "network.npz", python=str(PYTHON))
    assert theirs is not None and theirs["complete"]
    atlas = pf.unfold(layers)
    names = words(atlas)
    number = {name: k for k, name in enumerate(names)}
    start, end = [[0.31, 0.17]], [[-1.37, 1.21]]
    assert names[int(atlas.locate(start)[0])] == theirs["cell_of_point"]
    # Its facets hold phantoms: when a search is over it reads them off its graph. Those of a cell alone are right.
    walls = {name: set(atlas.facet_wall[list(atlas.facets(k))].tolist()) for k, name in enumerate(names)}
    assert {name: set(found) for name, found in theirs["facets_alone"].items()} == walls
    phantoms = sum(len(set(theirs["facets"][name]) - walls[name]) for name in names)
    assert all(walls[name] <= set(theirs["facets"][name]) for name in names)
    assert [facets_by_programs(layers, signs) for signs in atlas.signs()] == np.diff(atlas.facet_start).tolist()
    assert phantoms == 6
    assert theirs["bounded"] == {name: bool(atlas.bounded[k]) for name, k in number.items()}
    bounded = [number[name] for name in theirs["volume"]]
    assert atlas.volumes(bounded) == pytest.approx(list(theirs["volume"].values()), rel=1e-6)
    assert atlas.chebyshev(bounded)[1] == pytest.approx([theirs["inradius"][names[k]] for k in bounded], rel=1e-6)
    assert [len(corners) for corners in atlas.vertices(bounded)] == [theirs["vertices"][names[k]] for k in bounded]
    A, c = atlas.maps()
    for name, (slopes, constant) in theirs["maps"].items():
        assert A[number[name]].ravel() == pytest.approx(slopes, abs=1e-9)
        assert c[number[name]] == pytest.approx(constant, abs=1e-9)
    edges = pf.graph.dual(atlas).to_networkx().number_of_edges()
    assert edges == atlas.inner_facets == theirs["edges"] - phantoms // 2
    assert pf.graph.path(atlas, start[0], end[0]).hops == theirs["path"]
    sliced = pf.unfold(layers, pf.slice_of([0.1, 0.2], [[1.0], [0.5]]))
    assert sorted(words(sliced)) == theirs["slice"]
    assert theirs["faces"] == list(atlas.f_vector()[::-1])
    # The cells of a fold are its graph's edges, phantoms included.
    on_the_first = sum(0 in set(theirs["facets"][name]) - walls[name] for name in names) // 2
    assert on_the_first == 1 and (atlas.facet_wall == 0).sum() // 2 == theirs["fold"] - on_the_first
