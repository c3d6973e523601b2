"""The study of XOR networks prints what its page shows, and what it says holds by other means too."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from studies import xor_duals as study

PAGE = Path(__file__).parents[2] / "docs" / "dual_space.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    figures = [folder / "duals.svg", folder / "transfers.svg"]
    return figures, ["--figure", str(figures[0]), "--transfer-figure", str(figures[1])]


def test_the_page_shows_what_is_printed(capsys, printed):
    figures, options = printed
    study.main(options)
    (shown,) = re.findall(r"^\$ python -m studies.xor_duals\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert capsys.readouterr().out.strip() == shown.strip()
    for figure, name in zip(figures, ("xor_duals.svg", "xor_transfers.svg"), strict=True):
        assert figure.read_text() == (PAGE.parent / "images" / name).read_text()


def test_json(capsys):
    study.main(["--json"])
    facts = json.loads(capsys.readouterr().out)
    assert [len(facts[name]) for name in ("patterns", "grids", "transfers")] == [8, 2, 2]


def test_the_printed_network_is_no_xor_and_the_other_is():
    assert pf.load(study.PRINTED)(study.INPUTS)[:, 0].tolist() == [-1.0, 0.0, 0.0, -2.0]
    assert pf.load(study.SOLVING)(study.INPUTS)[:, 0].tolist() == study.TARGETS.tolist()
    # x + y takes three values on the inputs, which leaves one choice for two weights and the constant.
    sums = np.array([-2.0, 0.0, 2.0])
    rows = np.stack([np.maximum(sums + 1, 0), np.maximum(sums, 0), np.ones(3)], axis=1)
    assert np.linalg.solve(rows, [-1.0, 1.0, -1.0]).tolist() == [2.0, -3.0, -1.0]


@pytest.mark.parametrize("layers", [study.PRINTED, study.SOLVING])
def test_three_cells_and_an_empty_fourth(layers):
    atlas = pf.unfold(layers)
    assert len(atlas) == 3 and not atlas.bounded.any()
    fourth = pf.maps.of_pattern(layers, [[False, True]])
    assert fourth.status == "infeasible" and fourth.contradiction == {0: 1, 1: 1}
    bottom = layers[1][0][0, 1]
    assert (*fourth.A[0].tolist(), float(fourth.c[0])) == (bottom, bottom, -1.0)
    assert (*fourth.A[0].tolist(), float(fourth.c[0])) != (-4.0, -4.0, 3.0)


@pytest.mark.parametrize("hidden", study.HIDDEN)
def test_grid_against_a_forward_pass_by_hand(hidden):
    network = study.xor_network(hidden)
    found, dual = study.on_grid(network, hidden)
    assert np.abs(network(study.INPUTS)[:, 0] - study.TARGETS).max() < 1e-3
    W, b = network.nodes[0].op.weight, network.nodes[0].op.bias
    v, c = network.nodes[2].op.weight[0], network.nodes[2].op.bias[0]
    points = study.grid_points()
    # Whole numbers of any length: a float here is a multiple of 2^-100, a weight of 2^-20.
    exact = np.vectorize(lambda x: int(Fraction(x) * 2**100), otypes=[object])
    sums = exact(points) @ exact(W.T) + exact(b) * 2**100
    inside = (sums != 0).all(axis=1)
    on = sums > 0
    maps = np.column_stack([np.where(on, v, 0.0) @ W, np.where(on, v, 0.0) @ b + c])
    assert np.abs(maps - dual.points[dual.point_of_sample])[inside].max() < 1e-12
    assert found.inside + found.on_walls == 10201 and found.inside == inside.sum()
    # Another count of the cells that the grid meets: distinct patterns of points that are inside.
    assert found.cells - found.missed >= len(np.unique(on[inside].astype(bool), axis=0))
    assert found.maps <= found.cells <= found.everywhere <= 1 + hidden + hidden * (hidden - 1) // 2


def test_transferred_pieces_are_the_best_fit_and_jump():
    duals = [study.on_grid(study.xor_network(hidden), hidden)[1] for hidden in study.HIDDEN]
    found, jumps, pieces = study.transferred(*duals, study.HIDDEN)
    here, there = (dual.points[dual.point_of_sample] for dual in duals)
    M = np.linalg.solve(here.T @ here, here.T @ there)
    assert pieces == pytest.approx(duals[0].points[duals[0].point_of_cell] @ M, abs=1e-9)
    assert found.before < 1e-12 < 1e-2 < found.largest_jump
    # The jump is there: two points close to the place, one in each cell.
    at = jumps.largest.argmax()
    a, b = jumps.cells[at]
    one, other = (pieces[cell, :2] @ jumps.at[at] + pieces[cell, 2] for cell in (a, b))
    assert abs(one - other) == pytest.approx(found.largest_jump)
