"""The wide cases contain, many times each, everything that an engine may stumble over."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np

import polyfold as pf
from polyfold.exact.linear_algebra import column_rank
from polyfold.program.passes.pulled_back import gate_forms
from polyfold.testing import Case, domains, edits, wide_case
from polyfold.testing.networks import random_draft

CASES = 2000


@cache
def all_cases() -> list[Case]:
    return [wide_case(seed) for seed in range(CASES)]


def names(case: Case) -> list[str]:
    """The edits, and the kind of the domain."""
    *_, made, place = case.description.split(", ")
    return [*made.split(" + "), place.removeprefix("on ")]


def test_a_seed_names_one_case():
    for seed in range(0, CASES, 50):
        again, case = wide_case(seed), all_cases()[seed]
        assert again.program.digest == case.program.digest
        assert again.domain.digest == case.domain.digest
        assert repr(again) == repr(case)


def test_every_dimension_and_every_depth_together():
    counts = Counter((case.domain.dim, len(case.program.stages)) for case in all_cases())
    assert set(counts) == {(dim, depth) for dim in range(1, 8) for depth in range(1, 5)}
    assert min(counts.values()) >= 30
    assert max(case.program.gates for case in all_cases() if case.domain.dim <= 2) > 30


def test_every_edit_and_every_kind_of_domain():
    counts = Counter(name for case in all_cases() for name in names(case))
    makers = {*domains.GENERIC, *domains.DEGENERATE, *domains.MORE_GENERIC, *domains.MORE_DEGENERATE}
    structure = {*edits.STRUCTURE, edits.along_the_unit_box}
    degeneracies = {*edits.DEGENERACIES, *edits.MORE_DEGENERACIES}
    every = {item.__name__ for item in makers | structure | degeneracies} | {"generic", "pooled"}
    assert set(counts) == every
    assert min(counts.values()) >= 60


def test_half_of_them_are_degenerate():
    special = {edit.__name__ for edit in (*edits.DEGENERACIES, *edits.MORE_DEGENERACIES)}
    assert [bool(special.intersection(names(case))) for case in all_cases()] == [False, True] * (CASES // 2)


def test_every_kind_of_gate():
    slopes = Counter(pair for case in all_cases() for pair in slope_pairs(case))
    assert min(slopes[1.0, off] for off in (0.0, 0.1, -1.0, 2.5)) >= 100
    roles = Counter(role for case in all_cases() for role in {origin.role for origin in case.program.origins})
    assert min(roles[role] for role in ("max", "min", "lower", "upper")) >= 30
    # A maximum of three takes two comparisons one after the other.
    assert sum("pooled" in names(case) and pool_depth(case) > 1 for case in all_cases()) >= 100


def slope_pairs(case: Case) -> set[tuple[float, float]]:
    stages = case.program.stages
    return {pair for s in stages for pair in zip(s.slope_on.tolist(), s.slope_off.tolist(), strict=True)}


def pool_depth(case: Case) -> int:
    return len({origin.node for origin in case.program.origins if origin.role in ("max", "min")})


def test_what_the_cells_show():
    """Domains of either kind; facets on several walls; gates that are constant, or vanish, on a cell."""
    counts: Counter[str] = Counter()
    extent: Counter[tuple[int, bool]] = Counter()
    for case in all_cases()[:600]:
        atlas = pf.unfold(case.program, case.domain, threads=1)
        assert atlas.complete and len(atlas) <= 300, case
        extent[atlas.dim, bool(atlas.bounded.all())] += 1
        cells, gates = (index.ravel() for index in np.indices((len(atlas), atlas.gates)))
        linear, constant = gate_forms(case.program, atlas.signs(cells), gates)
        flat = ~(linear @ case.domain.basis).any(axis=1)
        counts["cells"] += len(atlas)
        counts["slices"] += atlas.dim < case.program.input_dim
        counts["facets on several walls"] += len(atlas.shared_facet) > 0
        counts["gates constant on a cell"] += bool(flat.any())
        counts["gates that vanish on a cell"] += bool((flat & (constant == 0)).any())
        counts["cells of both kinds"] += bool(atlas.bounded.any() and not atlas.bounded.all())
    assert set(extent) == {(dim, bounded) for dim in range(1, 8) for bounded in (True, False)}
    assert min(extent.values()) >= 10
    assert counts.pop("cells") > 30 * 600
    assert min(counts.values()) >= 60


def test_ranks_and_shared_weights():
    rng = np.random.default_rng(3)
    draft = random_draft(rng, [5, 6, 1])
    edits.rank_deficient(rng, draft)
    assert column_rank(draft.stages[0].affine.weights[0]) <= 2
    edits.shared_kernel(rng, draft)
    weight = draft.stages[0].affine.weights[0]
    assert np.array_equal(weight[3], np.roll(weight[0], 3)) and len(set(draft.stages[0].affine.bias)) == 1
    deep = random_draft(rng, [3, 4, 4, 1])
    edits.shared_stages(rng, deep)
    assert np.array_equal(deep.stages[1].affine.weights[1][:, :3], deep.stages[0].affine.weights[0])


def test_all_walls_through_one_point():
    rng = np.random.default_rng(0)
    draft = random_draft(rng, [2, 4, 3, 2, 1])
    edits.skips(rng, draft)
    edits.deep_concurrent(rng, draft)
    program = draft.freeze()
    points = np.array([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])
    signs = program.evaluate(points)[1]
    opposite = program.evaluate(np.nextafter(points, np.inf))[1]
    assert (~signs.any(axis=1) & opposite.any(axis=1)).any()
