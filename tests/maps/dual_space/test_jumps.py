"""Jumps between pieces: none where they fit, and elsewhere what an exact edit of a shallow network tears."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf


def atlas_of(seed: int, hidden: int = 5):
    rng = np.random.default_rng(seed)
    layers = [
        (rng.normal(size=(hidden, 2)), rng.normal(size=hidden)),
        (rng.normal(size=(1, hidden)), rng.normal(size=1)),
    ]
    return pf.unfold(layers, pf.box(-1, 1))


def pieces_of(atlas):
    dual = pf.maps.dual_space(atlas)
    return dual.points[dual.point_of_cell]


def test_pieces_of_a_network_fit():
    for seed in range(5):
        atlas = atlas_of(seed, 12)
        found = pf.maps.facet_jumps(atlas, pieces=pieces_of(atlas))
        assert len(found) == atlas.inner_facets and found.max < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_against_an_exact_edit(seed):
    atlas = atlas_of(seed)
    cell = int(np.argmax(np.diff(atlas.facet_start)))
    pieces = pieces_of(atlas)
    pieces[cell] += [0.5, -0.25, 1.0]
    edited = pf.rewrite.edit(pf.rewrite.shallow(atlas), region=[cell], map=(pieces[cell, None, :2], pieces[cell, 2:]))
    found = pf.maps.facet_jumps(atlas, pieces=pieces)
    torn = found.largest > 1e-9
    assert (cell == found.cells[torn]).any(axis=1).all()
    assert sorted(found.largest[torn].tolist()) == pytest.approx(sorted(jump.largest for jump in edited.jumps))
    assert found.max == pytest.approx(edited.largest)


def test_the_largest_is_a_bound_that_is_taken():
    atlas = atlas_of(7, 8)
    pieces = pieces_of(atlas) @ np.random.default_rng(0).normal(size=(3, 3))
    found = pf.maps.facet_jumps(atlas, pieces=pieces)
    apart = pieces[found.cells[:, 0]] - pieces[found.cells[:, 1]]
    there = np.abs((apart[:, :2] * found.at).sum(axis=1) + apart[:, 2])
    assert there == pytest.approx(found.largest)
    vertices = atlas.vertices()
    rng = np.random.default_rng(1)
    for i, (a, b) in enumerate(found.cells.tolist()):
        common = np.array([v for v in vertices[a] if np.abs(vertices[b] - v).max(axis=1).min() < 1e-12])
        assert len(common) == 2
        share = rng.uniform(size=(50, 1))
        some = share * common[0] + (1 - share) * common[1]
        assert np.abs(some @ apart[i, :2] + apart[i, 2]).max() <= found.largest[i] + 1e-12


def test_questions_that_have_no_answer():
    atlas = atlas_of(0)
    with pytest.raises(pf.PolyfoldError, match=r"rows? \(w, b\).* their shape is \(2, 3\)"):
        pf.maps.facet_jumps(atlas, pieces=np.zeros((2, 3)))
    whole = pf.unfold([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(pf.PolyfoldError, match="needs a bounded domain"):
        pf.maps.facet_jumps(whole, pieces=np.zeros((2, 2)))


def test_one_cell_has_no_jumps():
    alone = pf.unfold([([[1.0]], [0.0])], pf.box(0, 1))
    assert pf.maps.facet_jumps(alone, pieces=[[1.0, 0.0]]).max == 0.0
