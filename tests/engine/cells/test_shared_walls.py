"""Facets on walls that coincide, as behind pools over ReLUs: merged, proved, and the same as integers find."""

from __future__ import annotations

import time

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MODELS
from polyfold.domain.domain import Domain, resolve_domain
from polyfold.engine.cells import exact_cell, shared_walls
from polyfold.engine.cells.exact_cell import ExactCells, Hints
from polyfold.engine.cells.facets import CellFacets, Cells
from polyfold.engine.cells.shared_walls import SharedWalls
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder
from polyfold.program import Program
from polyfold.program.lower.lower import lower

MODEL = MODELS / "marabou_conv_mp1.onnx"
RELU = Rectify(constant(1.0), constant(0.0))


def pooled(seed: int) -> Program:
    """Convolution, ReLU, a pool over neighbours, a dense layer, ReLU."""
    rng = np.random.default_rng(seed)
    length = int(rng.integers(4, 7))
    build = Builder("test")
    kernel = rng.normal(size=(2, 1, 2))
    if seed % 3 == 0:  # one filter twice, up to a factor: walls coincide, and so do members of a pool over channels
        kernel[1] = kernel[0] * (1.0 if seed % 2 else 0.5)
    bias = rng.normal(size=2) * (seed % 4 > 0)
    window = Window((1,), ((0, 0),), (1,))
    hidden = build.emit("conv", Convolution(constant(kernel), constant(bias), window), build.port("x", (1, length)))
    hidden = build.emit("relu", RELU, hidden)
    places = length - 1
    if seed % 2:
        members = np.arange(2 * places).reshape(2, places, 1)[:, : places - 1] + np.arange(2)
    else:
        members = np.arange(places)[:, None] + np.array([0, places])
    hidden = build.emit("pool", Largest(members), hidden)
    last = hidden.shape[-1]
    hidden = build.emit("dense", Linear(constant(rng.normal(size=(3, last))), constant(rng.normal(size=3))), hidden)
    return lower(build.finish([build.emit("last", RELU, hidden)]))


def facets_in_integers(program: Program, domain: Domain, found: CellFacets) -> set[tuple[frozenset[int], bytes]]:
    pattern = tuple(found.validity.signs.tolist())
    exact, unsaid = ExactCells(program, domain).facets(pattern, found.witness.rational, Hints())
    assert not unsaid
    return {(frozenset(f.walls), b"" if f.across is None else np.array(f.across).tobytes()) for f in exact}


def as_set(found: CellFacets) -> set[tuple[frozenset[int], bytes]]:
    return {(frozenset(f.walls), b"" if f.across is None else f.across.tobytes()) for f in found.facets}


@pytest.mark.parametrize("bounded", [True, False])
def test_generated_pools_have_the_facets_that_integers_find(bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    several = 0
    for seed in range(14):
        program = pooled(seed)
        domain = resolve_domain(pf.box(-2, 2) if bounded else None, program.input_dim)
        X = np.random.default_rng(seed).uniform(-1, 1, size=(2, program.input_dim))
        with monkeypatch.context() as patch:
            patch.setattr(exact_cell, "_MOST_PRODUCTS", 0)
            found = [pf.local(program, X, domain=domain).facets(i) for i in range(len(X))]
        for each in found:
            assert not each.undecided, (seed, each)
            assert as_set(each) == facets_in_integers(program, domain, each), seed
            several += any(len(facet.walls) > 1 for facet in each.facets)
            for facet in each.facets:
                assert facet.walls[0] in each.validity.wall
    assert several > 18


def test_a_domain_row_on_a_wall_ends_the_domain() -> None:
    both = [([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    for network in (both, pooled(3)):
        program = network if isinstance(network, Program) else lower(pf.load(network))
        x = np.full((1, program.input_dim), 0.5)
        found = pf.local(program, x, domain=pf.box(0, 1)).facets(0)
        assert not found.undecided
        assert as_set(found) == facets_in_integers(program, found.validity.domain, found)
    ended = [f for f in pf.local(both, [[0.5, 0.5]], domain=pf.box(0, 1)).facets(0).facets if len(f.walls) > 1]
    assert [f.across for f in ended] == [None, None]
    assert {f.walls[0] >= 3 for f in ended} == {True}


def test_rows_that_only_floats_take_for_one_stay_apart() -> None:
    close = [([[1.0, 0.0], [1.0, 2.0**-52], [0.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    program = lower(pf.load(close))
    cells = Cells(program, resolve_domain(None, 2))
    validity = cells.walls.under(np.ones(3, dtype=bool))
    assert sorted(SharedWalls(validity).groups) == [(0,), (1,), (2,)]
    same = lower(pf.load([([[0.1, 0.3], [0.2, 0.6], [-0.1, -0.3]], [0.7, 1.4, 9.0]), ([[1.0, 1.0, 1.0]], [0.0])]))
    validity = Cells(same, resolve_domain(None, 2)).walls.under(np.ones(3, dtype=bool))
    assert sorted(SharedWalls(validity).groups) == [(0, 1), (2,)]


def test_what_takes_too_much_stays_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_cell, "_MOST_PRODUCTS", 0)
    monkeypatch.setattr(shared_walls, "_MOST_PRODUCTS", 0)
    program = pooled(1)
    found = pf.local(program, np.full((1, program.input_dim), 0.3), domain=pf.box(-2, 2)).facets(0)
    assert found.undecided


@pytest.mark.shared("models")
def test_all_facets_of_a_convolution_with_a_pool_behind_relus() -> None:
    x = np.random.default_rng(0).uniform(size=(1, 192))
    maps = pf.local(str(MODEL), x, domain=pf.box(0, 1))
    started = time.process_time()
    found = maps.facets(0)
    assert not found.undecided and len(found) == 945
    assert time.process_time() - started < 20
    assert any(len(facet.walls) > 2 for facet in found.facets)
    # Every neighbour is one: its own point has the pattern that was found, and so does no other gate.
    behind = [(f.witness.point, f.across) for f in found.facets if f.witness is not None]
    there = pf.local(maps.program, np.array([point for point, _ in behind]))
    assert not any(map(len, there.undecided))
    assert (there.signs == np.array([across for _, across in behind])).all()
