"""The walk by linear programs, which high dimension needs, against the walk by vertices and rays and against counts."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest

import polyfold as pf
from polyfold.engine import method
from polyfold.testing.cases import generated_case

BATCH = 50


def facets_of(atlas: pf.Atlas) -> dict[bytes, set[tuple[frozenset[int], bytes | int]]]:
    """All facets by pattern, free of any order."""
    names = [row.tobytes() for row in atlas.patterns]
    return {
        names[cell]: {
            (frozenset(atlas.walls(f)), names[n] if (n := int(atlas.neighbour[f])) >= 0 else n)
            for f in atlas.facets(cell)
        }
        for cell in range(len(atlas))
    }


@pytest.mark.parametrize("batch", range(8))
def test_both_walks_agree_on_bounded_domains(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        case = generated_case(seed)
        by_generators = pf.unfold(case.program, case.domain, threads=1)
        assert by_generators.certificate.method == method.GENERATORS
        with monkeypatch.context() as patch:
            patch.setattr(method, "_MANY_CORNERS", 1)
            patch.setattr(method, "_MANY_CORNERS_OF_FEW_STAGES", 1)
            by_programs = pf.unfold(case.program, case.domain, threads=1)
        if by_programs.certificate.method != method.PROGRAMS:
            assert not by_generators.bounded.all(), case
            continue
        compared += 1
        assert facets_of(by_programs) == facets_of(by_generators), case
        assert by_programs.bounded.all() and by_programs.certificate.level == "checked", case
    assert compared > BATCH // 4


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_both_walks_agree_in_eight_dimensions(bias: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that are cut often enough to forget rows on the way; without biases all first walls meet in one point."""
    rng = np.random.default_rng(8)
    widths = [8, 7, 4, 1]
    network = [(rng.normal(size=(m, n)), bias * rng.normal(size=m)) for n, m in pairwise(widths)]
    by_generators = pf.unfold(network, pf.box(-3, 3))
    assert by_generators.certificate.method == method.GENERATORS
    monkeypatch.setattr(method, "_FEW_STAGES", 1)
    by_programs = pf.unfold(network, pf.box(-3, 3))
    assert by_programs.certificate.method == method.PROGRAMS
    assert facets_of(by_programs) == facets_of(by_generators)


@pytest.mark.parametrize(("d", "n"), [(7, 9), (9, 10), (12, 9), (20, 8)])
def test_hyperplanes_in_a_wide_box(d: int, n: int) -> None:
    rng = np.random.default_rng(d)
    network = [(rng.normal(size=(n, d)), rng.normal(size=n)), (np.ones((1, n)), np.zeros(1))]
    atlas = pf.unfold(network, pf.box(-1e4, 1e4))
    assert atlas.certificate.method == (method.PROGRAMS if d > 8 else method.GENERATORS)
    assert len(atlas) == sum(comb(n, i) for i in range(d + 1))
    assert atlas.inner_facets == n * sum(comb(n - 1, i) for i in range(d))


@pytest.mark.parametrize("seed", range(3))
def test_coordinates_that_no_gate_reads_change_nothing(seed: int) -> None:
    """In many dimensions corners are walked to from outside, and sides are seen along rows; the cells are the same."""
    rng = np.random.default_rng(seed)
    d, more = 9, 61
    first, bias = rng.normal(size=(6, d)), rng.normal(size=6)
    rest = [(rng.normal(size=(3, 6)), rng.normal(size=3)), (np.ones((1, 3)), np.zeros(1))]
    few = pf.unfold([(first, bias), *rest], pf.box(-1, 1))
    wide = np.concatenate([np.zeros((6, more)), first], axis=1)
    many = pf.unfold([(wide, bias), *rest], pf.box(-1, 1))
    assert few.certificate.method == many.certificate.method == method.PROGRAMS
    np.testing.assert_array_equal(few.patterns, many.patterns)
    gates = few.program.gates
    of_gates = [
        [sorted(w for f in atlas.facets(cell) for w in atlas.walls(f) if w < gates) for cell in range(len(atlas))]
        for atlas in (few, many)
    ]
    assert of_gates[0] == of_gates[1]
    sides = [[len(atlas.facets(cell)) for cell in range(len(atlas))] for atlas in (few, many)]
    assert sides[1] == [n + 2 * more for n in sides[0]]
    assert pf.count(many.program, pf.box(-1, 1)).cells == len(few)


@pytest.mark.parametrize("seed", range(3))
def test_a_small_box_in_many_dimensions(seed: int) -> None:
    """Thin cells, whose sides no ray along an axis meets; certify looks at every facet."""
    rng = np.random.default_rng(seed)
    d = 80
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m) * 0.05) for n, m in ((d, 5), (5, 4))]
    layers.append((np.ones((1, 4)), np.zeros(1)))
    atlas = pf.unfold(layers, pf.box(-0.02, 0.02))
    assert atlas.certificate.method == method.PROGRAMS and atlas.certificate.level == "checked"
    assert pf.count(layers, pf.box(-0.02, 0.02)).cells == len(atlas) > 10
    assert pf.certify(atlas).level == "certified"


def test_a_grid_in_thirty_dimensions() -> None:
    """Axis-parallel walls, one twice, one along a face, one through a corner: 2^6 boxes with 60 facets each."""
    W = np.zeros((9, 30))
    W[np.arange(6), np.arange(6)] = 1
    W[6, 0], W[7, 7], W[8, :] = 2, 1, 1
    b = np.array([0, 0, 0, 0, 0, 0, 0, -1, -30.0])
    atlas = pf.unfold([(W, b), (np.ones((1, 9)), np.zeros(1))], pf.box(-1, 1))
    assert len(atlas) == 64
    assert (np.diff(atlas.facet_start) == 60).all()
    assert atlas.inner_facets == 6 * 32
    walls = {atlas.walls(f) for f in range(len(atlas.facet_wall)) if atlas.neighbour[f] >= 0}
    assert walls == {(0, 6), (1,), (2,), (3,), (4,), (5,)}
    touched = {wall for f in range(len(atlas.facet_wall)) for wall in atlas.walls(f)}
    assert 7 in touched and 8 not in touched


def test_a_simplex_in_twelve_dimensions() -> None:
    """Not a box: x >= 0, sum x <= 1, cut by x_0 = x_1 and x_2 = x_3 into quarters."""
    A, b = np.vstack([-np.eye(12), np.ones((1, 12))]), np.array([0.0] * 12 + [1.0])
    W = np.zeros((2, 12))
    W[0, :2], W[1, 2:4] = [1, -1], [1, -1]
    atlas = pf.unfold([(W, np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.polytope(A, b))
    assert atlas.certificate.method == method.PROGRAMS
    assert len(atlas) == 4 and atlas.inner_facets == 4
    # x_0 >= x_1 >= 0 makes the row x_0 >= 0 redundant: eleven coordinate faces less one more, the sum, two cuts.
    assert np.diff(atlas.facet_start).tolist() == [13] * 4


def test_an_unbounded_domain_of_high_dimension_is_left_to_generators() -> None:
    atlas = pf.unfold(
        [(np.eye(9)[:2], np.array([-1.0, -1.0])), (np.ones((1, 2)), np.zeros(1))], pf.polytope(-np.eye(9), np.zeros(9))
    )
    assert atlas.certificate.method == method.GENERATORS
    assert len(atlas) == 4 and int(atlas.bounded.sum()) == 0


def test_too_many_vertices_is_a_clear_error() -> None:
    """Half a cube that is open to one side: unbounded, with 2^19 vertices."""
    A = np.vstack([np.eye(20), -np.eye(20)])[:-1]
    with pytest.raises(pf.PolyfoldError, match="more than 65,536 vertices"):
        pf.unfold([(np.ones((1, 20)), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))], pf.polytope(A, np.ones(39)))
