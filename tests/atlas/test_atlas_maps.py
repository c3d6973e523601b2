"""Maps of cells against the network itself and against the exact maps of the reference engine."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import by_hand, points_inside, unfolded
from helpers.slow_params import quick_then_slow
from polyfold.testing.reference import reference_unfold

SEEDS = range(80)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_maps_are_the_network_on_their_cells(batch):
    rng = np.random.default_rng(batch)
    for seed in SEEDS[batch::4]:
        case, atlas = unfolded(seed)
        A, c = atlas.maps()
        B, e = atlas.maps(over="parameters")
        assert A.shape == (len(atlas), atlas.outputs, case.program.input_dim)
        assert B.shape == (len(atlas), atlas.outputs, atlas.dim)
        for cell in rng.permutation(len(atlas))[:10]:
            U = np.vstack([atlas.witnesses[cell], points_inside(atlas, cell, 4, rng)])
            X = case.domain.lift(U)
            expected, _ = case.program.evaluate(X)
            size = max(1.0, float(np.abs(expected).max()))
            assert np.abs(X @ A[cell].T + c[cell] - expected).max() <= 1e-9 * size, case
            assert np.abs(U @ B[cell].T + e[cell] - expected).max() <= 1e-9 * size, case


@pytest.mark.parametrize("batch", quick_then_slow([1, 0], quick=1))
def test_maps_are_those_of_the_reference_engine(batch):
    for seed in range(batch, 40, 2):
        case, atlas = unfolded(seed)
        reference = reference_unfold(case.program, case.domain)
        number = {pattern: i for i, pattern in enumerate(reference.patterns)}
        A, c = atlas.maps(over="parameters")
        for cell, signs in enumerate(atlas.signs().tolist()):
            linear, constant = reference.maps[number[tuple(signs)]]
            exact_A = np.array([[float(x.p) / float(x.q) for x in row] for row in linear])
            exact_c = np.array([float(x.p) / float(x.q) for x in constant])
            assert A[cell] == pytest.approx(exact_A, rel=1e-9, abs=1e-9), case
            assert c[cell] == pytest.approx(exact_c, rel=1e-9, abs=1e-9), case


def test_maps_of_special_networks():
    for atlas in by_hand():
        A, c = atlas.maps()
        expected, _ = atlas.program.evaluate(atlas.domain.lift(atlas.witnesses))
        found = np.einsum("nij,nj->ni", A, atlas.domain.lift(atlas.witnesses)) + c
        assert found == pytest.approx(expected)


def test_many_cells_are_computed_in_parts(monkeypatch):
    """The same numbers come out when the work is cut into pieces of a few cells."""
    from polyfold._base.chunks import in_chunks
    from polyfold.atlas import atlas as module
    from polyfold.atlas.geometry import halfspaces
    from polyfold.program.passes import jets

    _, atlas = unfolded(6)
    maps, rows = atlas.maps(), atlas.halfspaces(minimal=False)
    over = atlas.maps(over="parameters")
    pieces = []

    def small(count, floats_each, work, budget=0):
        def counted(part):
            pieces.append(part)
            work(part)

        in_chunks(count, floats_each, counted, budget=3 * floats_each)

    monkeypatch.setattr(module, "in_chunks", small)
    monkeypatch.setattr(halfspaces, "in_chunks", small)
    monkeypatch.setattr(jets, "in_chunks", small)
    for part, whole in zip((*atlas.maps(), *atlas.maps(over="parameters")), (*maps, *over), strict=True):
        assert part == pytest.approx(whole, rel=1e-12)
    again = atlas.halfspaces(minimal=False)
    assert np.allclose(again.A, rows.A, rtol=1e-9, atol=1e-12)
    assert np.allclose(again.b, rows.b, rtol=1e-9, atol=1e-12)
    assert len(pieces) > 10


def test_the_map_of_a_constant_output():
    atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.zeros((1, 2)), np.array([3.0]))])
    A, c = atlas.maps()
    assert not A.any()
    assert (c == 3.0).all()
