"""Cells whose walls depend on few of the parameters: found and proved without the others, handed out with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from polyfold.atlas.in_few_coordinates import in_few_coordinates
from polyfold.domain.domain import resolve_domain
from polyfold.program.derive import few_coordinates as module
from polyfold.program.derive.few_coordinates import few_coordinates
from polyfold.program.program import Program
from polyfold.testing import program_from_layers, wide_case

Facets = dict[bytes, set[tuple[frozenset[int], bytes | int]]]


def facets_of(atlas: pf.Atlas) -> Facets:
    """All facets by pattern, free of any order."""
    names = [row.tobytes() for row in atlas.patterns]
    return {
        names[cell]: {
            (frozenset(atlas.walls(f)), names[n] if (n := int(atlas.neighbour[f])) >= 0 else n)
            for f in atlas.facets(cell)
        }
        for cell in range(len(atlas))
    }


def low_rank(dim: int, rank: int, seed: int = 0, widths: tuple[int, ...] = (6, 4, 2)) -> Program:
    """A network on R^dim whose first layer has integer weights of this rank, more rows than that, one twice."""
    rng = np.random.default_rng(seed)
    W = rng.integers(-3, 4, (widths[0], rank)) @ rng.integers(-2, 3, (rank, dim))
    W[-1] = W[0]
    layers = [(W.astype(float), rng.normal(size=widths[0]))]
    layers += [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]
    return program_from_layers(layers)


def compared(program: Program, domain: pf.Domain | None, monkeypatch: pytest.MonkeyPatch) -> pf.Atlas:
    """The atlas with as few coordinates as possible, after a look at that with all of them."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "_MANY", 10**9)
        plain = pf.unfold(program, domain, threads=1)
        counts = pf.count(program, domain).f_vector
    atlas = pf.unfold(program, domain, threads=1)
    assert facets_of(atlas) == facets_of(plain)
    assert np.array_equal(atlas.patterns, plain.patterns)
    assert np.array_equal(atlas.bounded, plain.bounded)
    assert atlas.witnesses.shape == plain.witnesses.shape
    assert atlas.certificate.level == "checked"
    count = pf.count(program, domain)
    assert count.cells == len(plain) and count.f_vector == counts
    assert pf.certify(atlas).level == "certified"
    assert pf.certify(plain).level == "certified", "witnesses with other coordinates are proved with all of them"
    assert np.array_equal(pf.regions(atlas).label, pf.regions(plain).label)
    assert np.array_equal(atlas.volumes(), plain.volumes())
    return atlas


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_first_layer_of_low_rank(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = low_rank(11, rank, seed=rank)
    assert len(few_coordinates(program, resolve_domain(None, 11)).axes) == rank
    atlas = compared(program, None, monkeypatch)
    assert not atlas.bounded.any()
    assert np.count_nonzero(atlas.witnesses.any(axis=0)) <= rank
    assert pf.resume(pf.unfold(program, max_cells=2)).arrays_digest == atlas.arrays_digest


def test_polytopes_whose_rows_lie_in_the_row_space(monkeypatch: pytest.MonkeyPatch) -> None:
    program = low_rank(10, 2)
    W = program.stages[0].affine.blocks[0].weight
    rows = np.concatenate([W[:2], -W[:2]])
    domain = pf.polytope(rows, np.full(4, 3.0)).resolve(10)
    assert len(few_coordinates(program, domain).axes) == 2
    atlas = compared(program, domain, monkeypatch)
    assert not atlas.bounded.any(), "each is a bounded polygon times R^8"
    other = pf.polytope(np.concatenate([rows, np.eye(10)[3:4]]), np.full(5, 3.0)).resolve(10)
    assert len(few_coordinates(program, other).axes) == 3
    compared(program, other, monkeypatch)


def test_boxes_and_first_layers_of_full_rank_stay_as_they_are() -> None:
    program = low_rank(10, 2)
    box = pf.box(-1, 1).resolve(10)
    assert few_coordinates(program, box).program is program
    assert few_coordinates(low_rank(9, 9, widths=(12, 2)), resolve_domain(None, 9)).all
    half = pf.box(0, [1.0] * 3 + [np.inf] * 7).resolve(10)
    assert few_coordinates(program, half).all
    bounded_in_three = pf.box([0.0] * 3 + [-np.inf] * 7, [1.0] * 3 + [np.inf] * 7).resolve(10)
    assert len(few_coordinates(program, bounded_in_three).axes) == 5


def test_a_later_stage_that_reads_inputs_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Skip(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.first, self.again = torch.nn.Linear(12, 2), torch.nn.Linear(12, 3)
            self.second, self.last = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.last(torch.relu(self.second(torch.relu(self.first(x))) + self.again(x)))

    program = pf.unfold(pf.load(Skip().eval(), input_shape=(12,)), max_cells=1).program
    assert len(few_coordinates(program, resolve_domain(None, 12)).axes) == 5
    compared(program, None, monkeypatch)


def test_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    program = low_rank(12, 2)
    basis = np.random.default_rng(1).integers(-2, 3, (12, 9)).astype(float)
    domain = pf.slice_of(np.arange(12.0), basis).resolve(12)
    few = few_coordinates(program, domain)
    assert len(few.axes) == 2 and few.program is program
    compared(program, domain, monkeypatch)


def test_networks_without_any_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_from_layers([(np.zeros((2, 9)), [1.0, -1.0]), (np.ones((1, 2)), [0.0])])
    assert len(few_coordinates(program, resolve_domain(None, 9)).axes) == 1
    assert len(compared(program, None, monkeypatch)) == 1


@pytest.mark.parametrize("batch", range(3))
def test_wide_cases(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In low dimension nothing is left out by itself; here it is, and cells are those of all coordinates."""
    smaller = 0
    for seed in range(batch * 200, (batch + 1) * 200):
        case = wide_case(seed, size=4)
        if case.domain.dim < 2:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MANY", 2)
            few = few_coordinates(case.program, case.domain)
            if few.all:
                continue
            smaller += 1
            atlas = pf.unfold(case.program, case.domain, threads=1)
            assert in_few_coordinates(atlas) is not atlas
            assert pf.certify(atlas).level == "certified", case
            count = pf.count(case.program, case.domain).cells
        plain = pf.unfold(case.program, case.domain, threads=1)
        assert facets_of(atlas) == facets_of(plain), case
        assert np.array_equal(atlas.bounded, plain.bounded) and count == len(plain), case
        assert pf.certify(atlas).level == "certified", case
    assert smaller > 4


def test_a_forged_atlas_is_not_certified() -> None:
    """Proofs look at fewer coordinates, too: a wrong flag or a witness elsewhere does not pass."""
    atlas = pf.unfold(low_rank(11, 2))
    flags = np.array(atlas.bounded)
    flags[3] = True
    found = pf.certify(replace(atlas, bounded=flags))
    assert any("cell 3 is unbounded, and marked as bounded" in check.detail for check in found.failed_checks)
    witnesses = np.array(atlas.witnesses)
    witnesses[4] = witnesses[5]
    assert pf.certify(replace(atlas, witnesses=witnesses)).level == "counted"
