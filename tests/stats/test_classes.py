"""Classes and their volumes: by hand, against exact evaluation, against samples; ties; what floats would round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.known_networks import HAT, XOR, random_classifier, unit_square
from polyfold.domain.points import exact_lift
from polyfold.exact.rational import rational
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.lower.lower import written_out
from polyfold.program.passes.rationals import RationalProgram
from polyfold.testing.strategies import cases


def test_exclusive_or_by_hand():
    atlas = unit_square(XOR)
    # More than 1/2 between two lines: all but two triangles.
    found = pf.stats.class_areas(pf.stats.classes(atlas, threshold=0.5))
    assert found.areas == pytest.approx([1 / 4, 3 / 4]) and found.total == pytest.approx(1)
    assert pf.stats.class_areas(pf.stats.classes(atlas, threshold=0.0)).areas == pytest.approx([0.0, 1.0])
    assert pf.stats.class_areas(pf.stats.classes(atlas, threshold=1.0)).areas == pytest.approx([1.0, 0.0])
    half = pf.stats.class_areas(pf.stats.classes(atlas, threshold=0.5), cells=atlas.locate([[0.1, 0.1]]))
    assert half.areas == pytest.approx([1 / 8, 3 / 8])


def test_the_largest_of_five():
    # Four slopes along the diagonals: each wins in a quarter of the square.
    angles = 2 * np.pi * np.arange(4) / 4 + np.pi / 4
    star = [(np.column_stack([np.cos(angles), np.sin(angles)]), np.zeros(4))]
    assert pf.stats.class_areas(pf.unfold(star, pf.box(-1, 1))).areas == pytest.approx(np.ones(4))
    five = [(np.vstack([star[0][0], [[0.0, 0.0]]]), np.array([0, 0, 0, 0, 0.5]))]
    found = pf.stats.class_areas(pf.unfold(five, pf.box(-1, 1)))
    # The fifth wins in a square of half diagonal sqrt(2) / 2.
    assert found.areas == pytest.approx([0.75, 0.75, 0.75, 0.75, 1.0])


def test_ties_of_positive_volume_go_to_the_lowest_number_and_are_named():
    # Outputs 1 and 2 are both the hat, 0 is 1/4: where the hat is lower 0 wins, elsewhere 1, tied.
    network = [*HAT[:1], ([[0.0, 0.0, 0.0], [1.0, -2.0, 1.0], [1.0, -2.0, 1.0]], [0.25, 0.0, 0.0])]
    found = pf.stats.class_areas(pf.unfold(network, pf.box(0, 2)))
    assert found.areas == pytest.approx([0.5, 1.5, 0.0])
    assert found.tied == pytest.approx([0.0, 1.5, 0.0])
    flat = pf.stats.class_areas(pf.unfold(HAT, pf.box(0, 4)))  # the hat equals its threshold 0 on [2, 4]
    assert flat.areas == pytest.approx([2.0, 2.0]) and flat.tied == pytest.approx([2.0, 0.0])


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 7, 10])
def test_every_number_of_classes_against_samples(classes):
    rng = np.random.default_rng(classes)
    network = random_classifier(rng, 2, 8, 6, classes)
    atlas = pf.unfold(network, pf.box(-1, 1))
    found = pf.stats.classes(atlas)
    X = rng.uniform(-1, 1, size=(20_000, 2))
    assert np.array_equal(found.of(X), atlas.program.evaluate(X)[0].argmax(axis=1))
    assert np.array_equal(found.cell[found.atlas.locate(X)], atlas.locate(X))
    assert pf.certify(found.atlas).level == "certified"


def with_more_outputs(program: pf.program.Program, outputs: int, seed: int) -> pf.program.Program:
    """The same gates under other outputs: small whole weights, so that some tie, and biases that floats round."""
    rng = np.random.default_rng(seed)
    blocks = tuple(
        Block(block.source, rng.integers(-1, 2, size=(outputs, block.weight.shape[1])) * 0.1)
        for block in program.output.blocks
    )
    return replace(program, output=WrittenOut(blocks, rng.integers(-2, 3, size=outputs) * 0.1))


@given(cases(), st.integers(1, 7))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_against_exact_evaluation(case, outputs):
    program = with_more_outputs(written_out(case.program), outputs, seed=outputs)
    atlas = pf.unfold(program, case.domain, max_cells=100)
    if not atlas.complete:
        return
    threshold = 0.3 if outputs == 1 else 0.0
    found = pf.stats.classes(atlas, threshold=threshold)
    assert found.atlas.certificate.level == "checked" and len(found) == max(2, outputs)
    exact = RationalProgram(program)
    for part in range(min(len(found.atlas), 50)):
        point = found.atlas.rational_witness(part)
        outcome = exact.forward(exact_lift(case.domain, fmpq_mat(len(point), 1, list(point))))
        values = [line[0] for line in outcome.outputs]
        if outputs == 1:
            assert found.label[part] == (values[0] > rational(threshold))
            assert found.tied[part] == (values[0] == rational(threshold))
        else:
            assert found.label[part] == values.index(max(values))
            # A witness lies inside: outputs tie there only where they tie on the whole part.
            assert found.tied[part] == (values.count(max(values)) > 1)
        assert found.cell[part] == atlas.index.find(
            np.packbits(np.array(outcome.pattern, dtype=bool)[None], axis=1, bitorder="little")
        )
    if atlas.bounded.all() and atlas.dim <= 5:
        assert pf.stats.class_areas(found).total == pytest.approx(atlas.volumes().sum(), rel=1e-6)


def test_differences_that_floats_would_round():
    # 2^-80 x against x - 1: at x = 1 the first is larger, by what 1 - 2^-80 = 1 would lose.
    weights = pf.unfold([([[1.0], [2.0**-80]], [-1.0, 0.0])], pf.box(0, 2))
    assert pf.stats.classes(weights).of([[1.0], [1.0 + 2.0**-52]]).tolist() == [1, 0]
    # x + 1 against 2^-80: at x = -1 the second is larger.
    biases = pf.unfold([([[1.0], [0.0]], [1.0, 2.0**-80])], pf.box(-2, 0))
    assert pf.stats.classes(biases).of([[-1.0], [-1.0 + 2.0**-53]]).tolist() == [1, 0]
    above = pf.unfold([([[1.0]], [1.0])], pf.box(-2, 0))
    assert pf.stats.classes(above, threshold=2.0**-80).of([[-1.0], [-1.0 + 2.0**-53]]).tolist() == [0, 1]
    for atlas in (weights, biases):
        assert pf.certify(pf.stats.classes(atlas).atlas).level == "certified"


def test_parts_are_an_atlas_like_any_other(tmp_path):
    found = pf.stats.classes(pf.unfold(random_classifier(np.random.default_rng(4), 2, 6, 4), pf.box(-1, 1)))
    found.atlas.save(tmp_path / "parts")
    again = pf.open(tmp_path / "parts")
    assert np.array_equal(again.patterns, found.atlas.patterns)
    assert str(again.program.origins[again.gates - 1]) == str(found.atlas.program.origins[again.gates - 1])
    assert np.allclose(again.maps()[0], found.original.maps(found.cell)[0])
    pf.check(found.atlas)


def test_too_many_parts():
    atlas = pf.unfold(random_classifier(np.random.default_rng(4), 2, 10, 4), pf.box(-1, 1))
    with pytest.raises(pf.PolyfoldError, match="max_cells stopped the search"):
        pf.stats.classes(atlas, max_cells=3)
