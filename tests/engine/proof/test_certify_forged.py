"""certify(): whatever is wrong with an atlas, it is not certified, and what is wrong is named."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import unfolded
from helpers.forged_atlases import (
    FORGERIES,
    back_of,
    changed,
    facet_on_another_wall,
    false_domain_row,
    false_facet,
    flipped,
    keeping_facets,
    with_cell_twice,
    with_facet,
    without_cell,
)
from polyfold.engine.proof.certify import _by_floats
from polyfold.engine.proof.exact_proof import ExactProof
from polyfold.program.lower.lower import lower

EXISTS = "every cell exists: its witness is proved to lie inside"
FACETS = "the facets listed are all facets of their cells"
BEHIND = "behind every facet lies the cell listed, or the domain's boundary"
SPEAKS = "the certificate speaks of this network and domain"
TWICE = "no pattern is listed twice"


def network(seed=4, widths=(2, 6, 4, 1)):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    return pf.unfold(network(), pf.box(-2, 2))


def failed(atlas: pf.Atlas) -> dict[str, str]:
    """What fails, with the details."""
    certificate = pf.certify(atlas, threads=1)
    assert certificate.level == ("counted" if certificate.failed_checks else "certified")
    return {check.name: check.detail for check in certificate.failed_checks}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_every_forgery_is_found(atlas, forge):
    rng = np.random.default_rng(0)
    for _ in range(12):
        found = failed(forge(atlas, rng))
        assert found
        assert all(re.search(r"cell \d+", detail) for detail in found.values()), found


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_every_forgery_of_degenerate_atlases_is_found(forge):
    """Here most proofs are in exact arithmetic. Atlases that have no place for a forgery are left out."""
    rng = np.random.default_rng(1)
    forged = 0
    for seed in range(1, 120, 2):
        _, degenerate = unfolded(seed)
        if len(degenerate) < 4 or not degenerate.domain.rows or degenerate.exact_witnesses:
            continue
        listed = [len(set(degenerate.facet_wall[degenerate.facets(c)].tolist())) for c in range(len(degenerate))]
        if max(listed) >= degenerate.gates or min(degenerate.gates, degenerate.domain.rows) < 3:
            continue
        candidate = forge(degenerate, rng)
        if np.array_equal(candidate.patterns, degenerate.patterns) and _same_facets(candidate, degenerate):
            continue
        assert failed(candidate), (seed, forge.__name__)
        forged += 1
    assert forged >= 5


def _same_facets(a: pf.Atlas, b: pf.Atlas) -> bool:
    return (
        a.facet_wall.tolist() == b.facet_wall.tolist()
        and a.neighbour.tolist() == b.neighbour.tolist()
        and bool((a.witnesses == b.witnesses).all())
    )


def test_a_missing_cell_is_named_by_its_neighbours(atlas):
    cell = int(np.flatnonzero(atlas.neighbour[atlas.facet_start[:-1]] >= 0)[0])
    found = failed(without_cell(atlas, cell, facets="dropped"))
    assert list(found) == [FACETS]
    assert re.search(r"cell \d+: gate \d+ \(.*\) bounds it too, but no facet lies on it", found[FACETS])
    found = failed(without_cell(atlas, cell, facets="dangling"))
    assert list(found) == [BEHIND]
    assert re.search(r"cell \d+, facet \d+ on gate \d+ \(.*\): inner, but listed with -2 behind it", found[BEHIND])


def test_a_facet_dropped_from_both_cells(atlas):
    cell = 3
    facet = next(f for f in atlas.facets(cell) if atlas.neighbour[f] >= 0)
    kept = np.ones(len(atlas.neighbour), dtype=bool)
    kept[[facet, back_of(atlas, cell, facet)]] = False
    detail = failed(keeping_facets(atlas, kept))[FACETS]
    for culprit in (cell, int(atlas.neighbour[facet])):
        assert f"cell {culprit}: gate {atlas.facet_wall[facet]} (" in detail


def test_swapped_neighbours(atlas):
    cell = 2
    first, second = [f for f in atlas.facets(cell) if atlas.neighbour[f] >= 0][:2]
    swapped = changed(atlas.neighbour, [first, second], atlas.neighbour[[second, first]])
    found = failed(replace(atlas, neighbour=swapped))
    assert list(found) == [BEHIND]
    for facet in (first, second):
        name = f"cell {cell}, facet {facet} on gate {atlas.facet_wall[facet]} "
        assert name in found[BEHIND] and f"cell {swapped[facet]} is listed behind it, but gate" in found[BEHIND]


def test_a_false_facet(atlas):
    found = failed(false_facet(atlas, np.random.default_rng(3)))
    assert list(found) == [FACETS]
    assert re.fullmatch(r"cell \d+, facet \d+ on gate \d+ \(.*\): is no facet: the others imply it", found[FACETS])


def test_a_facet_listed_twice(atlas):
    facet = int(atlas.facets(5)[0])
    found = failed(with_facet(atlas, 5, int(atlas.facet_wall[facet]), int(atlas.neighbour[facet])))
    assert list(found) == [FACETS]
    assert "cell 5" in found[FACETS] and "it is listed twice" in found[FACETS]


def test_a_wall_that_does_not_exist(atlas):
    facet = int(atlas.facets(5)[0])
    for wall in (-1, atlas.gates + atlas.domain.rows, 10**6):
        found = failed(replace(atlas, facet_wall=changed(atlas.facet_wall, facet, wall)))
        assert f"cell 5, facet {facet} on wall {wall}, which does not exist" in found[FACETS]


@pytest.mark.parametrize("neighbour", [-1, -2, -7, 10**6])
def test_a_neighbour_that_does_not_exist(atlas, neighbour):
    facet = next(f for f in atlas.facets(5) if atlas.neighbour[f] >= 0)
    found = failed(replace(atlas, neighbour=changed(atlas.neighbour, facet, neighbour)))
    assert list(found) == [BEHIND]
    assert f"cell 5, facet {facet} on gate" in found[BEHIND] and str(neighbour) in found[BEHIND]


def test_a_boundary_facet_that_leads_on(atlas):
    facet = int(np.flatnonzero(atlas.neighbour == -1)[0])
    found = failed(replace(atlas, neighbour=changed(atlas.neighbour, facet, 1)))
    assert "on the domain's boundary" in found[BEHIND] and f"facet {facet} on domain row" in found[BEHIND]


def test_a_moved_witness(atlas):
    moved = replace(atlas, witnesses=changed(atlas.witnesses, 7, atlas.witnesses[8]))
    found = failed(moved)
    assert list(found) == [EXISTS]
    assert re.search(r"cell 7: its witness lies outside of gate \d+", found[EXISTS])
    found = failed(replace(atlas, witnesses=changed(atlas.witnesses, 7, [9.0, 0.0])))
    assert "cell 7: its witness lies outside of" in found[EXISTS]


def test_a_witness_that_is_no_point(atlas):
    for value in (np.nan, np.inf):
        found = failed(replace(atlas, witnesses=changed(atlas.witnesses, 7, value)))
        assert found == {EXISTS: "cell 7: its witness is no point of R^2"}
    found = failed(replace(atlas, exact_witnesses={7: (Fraction(1, 3),)}))
    assert found == {EXISTS: "cell 7: its witness is no point of R^2"}


def test_a_wrong_rational_witness_beside_a_right_float(atlas):
    away = tuple(Fraction(x) for x in atlas.witnesses[8].tolist())
    assert "cell 7: its witness lies outside" in failed(replace(atlas, exact_witnesses={7: away}))[EXISTS]
    here = tuple(Fraction(x) for x in atlas.witnesses[7].tolist())
    assert failed(replace(atlas, exact_witnesses={7: here})) == {}


def test_a_flipped_bit(atlas):
    for cell in range(0, len(atlas), 5):
        for gate in range(atlas.gates):
            found = failed(flipped(atlas, cell, gate))
            assert any(f"cell {cell}" in detail for detail in found.values()), (cell, gate, found)


def test_bits_behind_the_last_gate(atlas):
    assert atlas.gates % 8
    assert "cell 4 has bits behind" in failed(flipped(atlas, 4, atlas.gates))[TWICE]


def test_a_cell_listed_twice(atlas):
    last = len(atlas)
    assert failed(with_cell_twice(atlas, 6)) == {TWICE: f"cell {last} has the pattern of cell 6"}


def test_the_weights_of_another_network(atlas):
    for other in (lower(pf.load(network(seed=5))), _nudged(atlas)):
        found = failed(replace(atlas, program=other))
        assert list(found) == [SPEAKS]
        assert "the network has digest" in found[SPEAKS]
        # A certificate that was made for the other one does not help.
        forged = replace(atlas.certificate, network_digest=replace(other).digest)
        found = failed(replace(atlas, program=other, certificate=forged))
        assert (found == {}) == (other.origins is atlas.program.origins)


def _nudged(atlas: pf.Atlas) -> pf.program.Program:
    """The last bit of one weight changed: another network, though its cells look the same."""
    first, *rest = atlas.program.stages
    block = first.affine.blocks[0]
    weight = changed(block.weight, (0, 0), np.nextafter(block.weight[0, 0], 9.0))
    stage = replace(first, affine=replace(first.affine, matrices=(replace(block, weight=weight),)))
    return replace(atlas.program, stages=(stage, *rest))


def test_a_remembered_digest_is_not_believed(atlas):
    other = _nudged(atlas)
    other.__dict__["digest"] = atlas.program.digest
    assert list(failed(replace(atlas, program=other))) == [SPEAKS]


def test_another_domain(atlas):
    other = pf.box(-2, 2.5).resolve(2)
    found = failed(replace(atlas, domain=other))
    assert list(found) == [SPEAKS] and "the domain has digest" in found[SPEAKS]
    smaller = pf.box(-2, 1.0).resolve(2)
    for domain in (pf.box(-2, 200.0).resolve(2), smaller):
        certificate = replace(atlas.certificate, domain_digest=domain.digest)
        assert failed(replace(atlas, domain=domain, certificate=certificate))


def test_an_incomplete_atlas(atlas):
    part = pf.unfold(network(), pf.box(-2, 2), max_cells=5)
    ((name, detail),) = failed(part).items()
    assert name == "the engine came to its end" and "incomplete, stopped by max_cells" in detail
    said = replace(part.certificate, complete=True, stopped_by=None)
    assert BEHIND in failed(part.with_certificate(said))


def test_an_atlas_without_cells(atlas):
    kept = np.zeros(len(atlas), dtype=bool)
    none = replace(
        keeping_facets(atlas, np.zeros(len(atlas.neighbour), dtype=bool)),
        patterns=atlas.patterns[kept],
        witnesses=atlas.witnesses[kept],
        bounded=atlas.bounded[kept],
        facet_start=np.zeros(1, dtype=np.int64),
    )
    assert failed(none) == {"the engine came to its end": "no cell at all"}


def test_walls_that_share_a_facet_are_needed():
    """Two equal gates switch together: both lie on the facet, and the atlas must say so."""
    double = pf.unfold([(np.array([[1.0, 0.0], [2.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), [0.0])])
    assert failed(double) == {}
    none = np.zeros(0, dtype=np.int64)
    found = failed(replace(double, shared_facet=none, shared_wall=none.astype(np.int32)))
    assert re.search(r"cell 0, facet 0 on gate 0 \(.*\): gate 1 \(.*\) lies on it too", found[BEHIND])


def test_a_wall_too_many_on_a_facet(atlas):
    facet = next(f for f in atlas.facets(5) if atlas.neighbour[f] >= 0)
    gate = next(g for g in range(atlas.gates) if g not in atlas.facet_wall[atlas.facets(5)])
    shared = replace(atlas, shared_facet=np.array([facet]), shared_wall=np.array([gate], dtype=np.int32))
    assert "cell 5, facet" in failed(shared)[FACETS]


def test_a_dead_gate_that_is_said_to_be_on():
    dead = pf.unfold([(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), [0.0])], pf.box(-1, 1))
    assert failed(dead) == {}
    assert "cell 0: gate 1" in failed(flipped(dead, 0, 1))[EXISTS]


def test_what_floats_prove_is_true():
    """On right and on wrong atlases: no cell that floats prove is refused by exact arithmetic."""
    rng = np.random.default_rng(2)
    both = 0
    for seed in range(0, 60, 2):
        _, right = unfolded(seed)
        if len(right) < 4 or right.gates < 4 or not right.domain.rows or right.exact_witnesses:
            continue
        usable = [forge for forge in FORGERIES if forge is not false_domain_row and forge is not facet_on_another_wall]
        for candidate in (right, usable[seed // 2 % len(usable)](right, rng)):
            proved = np.flatnonzero(_by_floats(candidate, 1))
            exact = ExactProof(candidate)
            assert not any(exact.faults(int(cell)) for cell in proved[:40])
            both += len(proved[:40])
    assert both > 200
