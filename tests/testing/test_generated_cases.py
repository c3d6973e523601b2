"""The generated cases are reproducible, small, and really contain what they promise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from polyfold.testing import edits, generated_case, program_from_layers, random_program
from polyfold.testing.networks import draft_from_layers, random_draft
from polyfold.testing.reference import reference_unfold
from polyfold.testing.strategies import cases


def test_a_seed_names_one_case():
    for seed in range(30):
        one, two = generated_case(seed), generated_case(seed)
        assert one.program.digest == two.program.digest
        assert one.domain.digest == two.domain.digest
        assert repr(one) == repr(two)


def test_every_edit_and_every_kind_of_domain_turns_up():
    text = " ".join(generated_case(seed).description for seed in range(500))
    for edit in (*edits.STRUCTURE, *edits.DEGENERACIES, edits.along_the_unit_box):
        assert edit.__name__ in text
    for kind in ("everything", "unit_box", "random_box", "bounded_polytope", "unbounded_polytope"):
        assert f"on {kind}" in text
    for kind in ("redundant_polytope", "random_slice", "aligned_slice"):
        assert f"on {kind}" in text


def test_dimensions_depths_and_sizes():
    generated = [generated_case(seed) for seed in range(300)]
    assert {case.domain.dim for case in generated} == {1, 2, 3, 4, 5}
    assert {len(case.program.stages) for case in generated} == {1, 2, 3}
    assert {stage.width for case in generated for stage in case.program.stages} >= {1, 2, 3, 4, 5}
    tiny = generated_case(3, size=1)
    assert (tiny.program.input_dim, tiny.program.gates) == (1, 1)


def test_half_of_them_are_degenerate():
    atlases = [reference_unfold(case.program, case.domain) for case in map(generated_case, range(1, 80, 2))]
    several = [any(len(f.walls) > 1 for facets in atlas.facets for f in facets) for atlas in atlases]
    assert sum(several) > 15
    assert sum(len(atlas) for atlas in atlases) > 5 * len(atlases)


def test_weights_are_read_only():
    case = generated_case(0)
    with pytest.raises(ValueError, match="read-only"):
        case.program.stages[0].affine.bias[0] = 1.0


def test_layers_with_slopes():
    layers = [([[1.0], [1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.25])]
    program = program_from_layers(layers, slopes=[(1.0, [-1.0, 0.5])])
    outputs, pattern = program.evaluate(np.array([[-2.0], [2.0]]))
    assert outputs.tolist() == [[1.25], [4.25]]
    assert pattern.tolist() == [[False, False], [True, True]]
    assert [str(origin) for origin in program.origins] == ["gate1[0]", "gate1[1]"]


def test_max_gates_compute_a_maximum():
    rng = np.random.default_rng(5)
    draft = draft_from_layers([(rng.normal(size=(3, 2)), np.zeros(3)), (np.eye(3), np.zeros(3))])
    edits.max_gates(rng, draft)
    second = draft.output.weights[0]
    first = draft.stages[0].affine.weights[0] + second
    X = rng.normal(size=(20, 2))
    changed = second.any(axis=1)
    assert changed.any()
    np.testing.assert_allclose(
        draft.freeze().evaluate(X)[0][:, changed], np.maximum(X @ first.T, X @ second.T)[:, changed]
    )


def test_touching_gates_come_back():
    rng = np.random.default_rng(0)
    draft = random_draft(rng, [2, 3, 1, 1])
    edits.touching(rng, draft)
    assert not draft.freeze().evaluate(rng.normal(size=(200, 2)))[1][:, 3].any()


def test_random_programs_have_the_shape_asked_for():
    program = random_program(np.random.default_rng(0), [3, 5, 2, 4])
    assert (program.input_dim, program.gates, program.output_dim) == (3, 7, 4)


@settings(max_examples=20, deadline=None)
@given(cases(max_size=3))
def test_the_strategy_draws_cases_within_its_size(case):
    assert case.program.input_dim <= 3
    layers = case.description.split(": ")[1].split(",")[0]
    assert all(int(width) <= 3 for width in layers.split("-")[:-1])
    # Comparisons between the entries of a layer are gates beside its own.
    if "pooled" not in case.description and "max_gates" not in case.description:
        assert all(stage.width <= 3 for stage in case.program.stages)


@settings(max_examples=20, deadline=None)
@given(cases(degenerate=True))
def test_the_strategy_can_be_restricted(case):
    assert int(case.description.split()[2].rstrip(",")) % 2 == 1


def test_generators_do_not_need_hypothesis():
    check = "import polyfold.testing, sys; sys.exit('hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
