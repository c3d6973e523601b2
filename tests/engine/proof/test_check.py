"""check(): passes on what the engine made, and names the check that fails on an atlas that was tampered with."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import CORNER, by_hand, unfolded
from helpers.forged_atlases import keeping_cells
from polyfold.atlas.certificate import CHANGED
from polyfold.atlas.geometry.generators import find_measures

PAIRING, DISTINCT, WITNESSES = "facets pair up", "patterns differ", "witnesses have their patterns"
CONTINUITY, VOLUMES, FACETS = "maps agree across facets", "volumes add up", "facets are those of the vertices"
ARRAYS = "the certificate speaks of these arrays"
GRID = [
    (np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.0, -1.0, 0.0, 0.0])),
    (np.array([[1.0, -1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 1.0]]), np.array([0.0, -0.5])),
    (np.ones((1, 2)), np.zeros(1)),
]


@pytest.fixture
def atlas() -> pf.Atlas:
    return pf.unfold(GRID, pf.box(-2, 2))


def failed(atlas: pf.Atlas) -> list[str]:
    """The names of the checks that fail; a certificate with one of them is at level "counted". That the arrays are not
    those that were found fails of every atlas that was tampered with, and is not listed."""
    certificate = pf.check(atlas)
    names = [check.name for check in certificate.checks if not check.passed]
    assert certificate.level == ("counted" if names else "checked")
    assert (ARRAYS in names) == (not atlas.complete and atlas.certificate.stopped_by == CHANGED)
    names = [name for name in names if name != ARRAYS]
    assert all(str(check).startswith("ok" if check.passed else "FAILED") for check in certificate.checks)
    return names


def changed(array, at, value):
    copy = array.copy()
    copy[at] = value
    return copy


@pytest.mark.parametrize("batch", range(2))
def test_what_the_engine_makes_passes(batch):
    for seed in range(batch, 150, 2):
        case, atlas = unfolded(seed)
        certificate = pf.check(atlas)
        assert certificate.level == "checked", (case, certificate.checks)
        names = [check.name for check in certificate.checks]
        assert names[:4] == [PAIRING, DISTINCT, WITNESSES, CONTINUITY]
        assert (VOLUMES in names) == atlas.bounded.all(), case
    assert all(not failed(special) for special in by_hand())


def test_every_run_is_checked(atlas):
    assert atlas.certificate.level == "checked"
    assert [check.name for check in atlas.certificate.checks] == [PAIRING, DISTINCT, WITNESSES]


def test_an_incomplete_atlas_is_only_counted_though_nothing_fails():
    part = pf.unfold(GRID, pf.box(-2, 2), max_cells=5)
    certificate = pf.check(part)
    assert certificate.level == part.certificate.level == "counted"
    assert all(check.passed for check in certificate.checks)
    assert VOLUMES not in [check.name for check in certificate.checks]


def test_an_incomplete_atlas_that_says_it_is_complete():
    part = pf.unfold(GRID, pf.box(-2, 2), max_cells=5)
    assert failed(part.with_certificate(replace(part.certificate, complete=True))) == [PAIRING]


def without_cell(atlas: pf.Atlas, cell: int, hole: int) -> pf.Atlas:
    """The atlas with one cell left out, and `hole` for those who had it as a neighbour."""
    return keeping_cells(atlas, np.arange(len(atlas)) != cell, hole=hole)


@pytest.mark.parametrize("hole", [-1, -2, 0])
def test_a_missing_cell(hole):
    rng = np.random.default_rng(1)
    network = [(rng.normal(size=(5, 2)), rng.normal(size=5)), (rng.normal(size=(1, 5)), [0.0])]
    atlas = pf.unfold(network, pf.box(-2, 2))
    for cell in range(1, len(atlas)):
        assert PAIRING in failed(without_cell(atlas, cell, hole))


def test_a_missing_cell_behind_a_false_boundary():
    """Where the facets of a missing cell are declared to lie on the domain's boundary, only the volume tells."""
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    towards = atlas.neighbour == 3
    walled = replace(atlas, facet_wall=np.where(towards, atlas.gates, atlas.facet_wall).astype(np.int32))
    assert failed(without_cell(walled, 3, -1)) == [VOLUMES]


def test_volumes_that_do_not_add_up(atlas, monkeypatch):
    found = find_measures(atlas.program, atlas.domain, atlas.patterns)
    for factor in (1.001, np.nan):
        measured = replace(found, volumes=found.volumes * factor)
        monkeypatch.setattr(
            import_module("polyfold.engine.proof.check"), "find_measures", lambda *_, as_is=measured: as_is
        )
        assert failed(atlas) == [VOLUMES]


def test_a_changed_neighbour(atlas):
    inner = np.flatnonzero(atlas.neighbour >= 0)
    edge = np.flatnonzero(atlas.neighbour == -1)
    for facet in (inner[0], inner[-1]):
        for value in (-1, -2, -7, len(atlas), 10**6, (atlas.neighbour[facet] + 1) % len(atlas)):
            assert failed(replace(atlas, neighbour=changed(atlas.neighbour, facet, value))) == [PAIRING]
    for value in (0, 3, -2, len(atlas)):
        assert failed(replace(atlas, neighbour=changed(atlas.neighbour, edge[0], value))) == [PAIRING]


def test_a_changed_wall(atlas):
    inner = np.flatnonzero(atlas.neighbour >= 0)
    edge = np.flatnonzero(atlas.neighbour == -1)
    for facet, walls in ((inner[0], (-1, atlas.gates, 10**6)), (edge[0], (0, -1, 10**6))):
        for wall in walls:
            assert failed(replace(atlas, facet_wall=changed(atlas.facet_wall, facet, wall))) == [PAIRING]


def test_walls_that_share_a_facet_are_needed():
    """Two equal gates switch together; without the note that they share the facet the patterns differ too much."""
    double = pf.unfold([(np.array([[1.0, 0.0], [2.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), [0.0])])
    assert failed(double) == []
    none = np.zeros(0, dtype=np.int64)
    assert failed(replace(double, shared_facet=none, shared_wall=none.astype(np.int32))) == [PAIRING]


def without_facet(atlas: pf.Atlas, facet: int) -> pf.Atlas:
    kept = np.arange(len(atlas.neighbour)) != facet
    owner = int(np.searchsorted(atlas.facet_start, facet, side="right")) - 1
    noted = atlas.shared_facet != facet
    return replace(
        atlas,
        facet_start=atlas.facet_start - (np.arange(len(atlas) + 1) > owner),
        facet_wall=atlas.facet_wall[kept],
        neighbour=atlas.neighbour[kept],
        shared_facet=(atlas.shared_facet - (atlas.shared_facet > facet))[noted],
        shared_wall=atlas.shared_wall[noted],
    )


def test_a_facet_that_is_left_out(atlas):
    """A facet on the boundary has no partner that could miss it; walking the cell again finds it."""
    for facet in range(0, len(atlas.neighbour), 3):
        inner = atlas.neighbour[facet] >= 0
        assert failed(without_facet(atlas, facet)) == [PAIRING if inner else FACETS]


def test_a_moved_witness(atlas):
    for cell in range(len(atlas)):
        other = (cell + 1) % len(atlas)
        moved = replace(atlas, witnesses=changed(atlas.witnesses, cell, atlas.witnesses[other]))
        assert failed(moved) == [WITNESSES]


@pytest.mark.parametrize("where", [[-0.5, 0.0], [0.0, -0.5], [-3.0, -1.0], [-2.0, -1.0]])
def test_a_witness_on_a_wall_on_the_boundary_or_beyond_it(where):
    """All these points have the pattern of the cell x < 0, y < 0: a gate at zero counts as off."""
    corner = pf.unfold(CORNER, pf.box(-2, 2))
    cell = int(corner.locate([[-1.0, -1.0]])[0])
    assert failed(replace(corner, witnesses=changed(corner.witnesses, cell, [-1.5, -0.25]))) == []
    assert failed(replace(corner, witnesses=changed(corner.witnesses, cell, where))) == [WITNESSES]


@pytest.mark.parametrize("where", [[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
def test_a_witness_on_a_wall_seen_from_the_other_side(where):
    """Here the gates fall along the axes, and are off just next to the wall as well."""
    corner = pf.unfold([(-np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-2, 2))
    cell = int(corner.locate([[1.0, 1.0]])[0])
    assert failed(replace(corner, witnesses=changed(corner.witnesses, cell, where))) == [WITNESSES]


def test_a_gate_that_vanishes_on_its_cell_may_be_zero_at_the_witness():
    """A gate behind one that is off, and a gate with no weights at all."""
    network = [(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), [0.0]), ([[1.0]], [0.0])]
    assert failed(pf.unfold(network, pf.box(-1, 1))) == []
    assert failed(pf.unfold(network, pf.slice_of([0.0, 1.0], [1.0, 0.0], within=pf.box(-1, 1)))) == []


def test_a_flipped_pattern_bit(atlas):
    for cell in range(len(atlas)):
        for gate in range(atlas.gates):
            patterns = atlas.patterns.copy()
            patterns[cell, gate // 8] ^= 1 << (gate % 8)
            assert WITNESSES in failed(replace(atlas, patterns=patterns))


def test_a_repeated_pattern(atlas):
    assert DISTINCT in failed(replace(atlas, patterns=changed(atlas.patterns, 1, atlas.patterns[0])))


def test_maps_that_jump(atlas, monkeypatch):
    maps = pf.Atlas.maps

    def jumping(self, cells=None, **options):
        A, c = maps(self, cells, **options)
        return A, c + 1e-3 * np.asarray(self.ids(cells))[:, None]

    monkeypatch.setattr(pf.Atlas, "maps", jumping)
    assert failed(atlas) == [CONTINUITY]
    monkeypatch.setattr(pf.Atlas, "maps", lambda self, cells=None, **o: tuple(x * np.nan for x in maps(self, cells)))
    assert failed(atlas) == [CONTINUITY]


def test_maps_with_large_terms_that_cancel():
    """Two gates share a wall. What their terms of 1e16 leave over is rounding: no multiple of the wall, yet no jump."""
    wall = np.array([[7.0, 11.0, -13.0]])
    rows = np.concatenate([wall, 3 * wall])
    large = np.array([[1.1e16], [1.7e16], [2.3e16]])
    last = (np.concatenate([large, -large / 3], axis=1), np.zeros(3))
    atlas = pf.unfold([(rows[:, :2], rows[:, 2]), last], pf.box(-2, 2))
    assert len(atlas) == 2 and np.abs(atlas.maps()[0]).max() < 1e3
    assert not failed(atlas)
