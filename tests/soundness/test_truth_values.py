"""`if result:` means what it says: a yes is True, a no is False, and what is not known raises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polyfold as pf
from polyfold.compare.equivalence.result import Difference, Equivalence

CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
# On a line, in turns: no half-line and no interval holds one class alone, and no order cuts them off.
CROSSED = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
APART = [[0.0, 0.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0]], [0, 0, 1, 1]


def raises(result: object) -> str:
    with pytest.raises(pf.errors.UnknownError) as caught:
        bool(result)
    return str(caught.value)


@pytest.mark.parametrize("question", [pf.separation.cone, pf.separation.simplex, pf.separation.sequential])
def test_separability(question):
    assert question(*APART)
    no = question(*CROSSED)
    assert no.word == "not separable" and not no
    unknown = replace(no, verdict="unknown", reason="unknown: time was over")
    assert "time was over" in raises(unknown) and "more time" in raises(unknown)


def test_equivalence():
    assert pf.equivalent(ABSOLUTE, ABSOLUTE)
    assert not pf.equivalent(ABSOLUTE, [*ABSOLUTE[:1], ([[1.0, 2.0]], [0.0])])
    unknown = Equivalence("unknown", pf.equivalent(ABSOLUTE, ABSOLUTE).tolerance, (Difference(0, 1),), "", None)
    assert "UNKNOWN" in raises(unknown) and "counts as False" not in repr(unknown)


def test_what_is_matched_is_not_the_same():
    other = [ABSOLUTE[0], ([[1.0, 1.0 + 1e-12]], [0.0])]
    assert pf.compare.match(ABSOLUTE, ABSOLUTE)
    assert not pf.compare.match(ABSOLUTE, other)
    near = pf.compare.match(ABSOLUTE, other, tolerance=1e-6)
    assert near.word == "matched" and near.verdict == "no" and not near


def test_identifiability():
    hexagon = [([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    no = pf.rewrite.identifiable(hexagon)
    assert no.verdict == "no" and not no
    assert pf.rewrite.identifiable([*hexagon[:1], ([[1.0, 1.0, 2.0]], [0.0])])
    raises(replace(no, verdict="unknown"))


def test_a_pattern_that_no_input_has():
    assert pf.maps.of_pattern(ABSOLUTE, [1, 0])
    assert not pf.maps.of_pattern(ABSOLUTE, [1, 1])


def test_certificates():
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    assert pf.check(atlas) and pf.certify(atlas)
    wrong = replace(atlas, bounded=~atlas.bounded)
    assert not pf.check(wrong) and not pf.certify(wrong)
    part = pf.unfold(CORNER, pf.box(-1, 1), max_cells=2)
    assert "max_cells" in raises(pf.check(part))
    assert not pf.certify(part)
    wide = pf.unfold([(np.random.default_rng(0).normal(size=(40, 3)), np.zeros(40)), (np.ones((1, 40)), [0.0])])
    unfinished = pf.certify(wide, max_seconds=1e-9)
    assert unfinished.level == "counted" and "counted" in raises(unfinished)


def test_what_is_no_yes_or_no():
    assert "neurons_after" in raises(pf.rewrite.irreducible(ABSOLUTE))
    assert "neurons_after" in raises(pf.reduce(ABSOLUTE, pf.box(1, 2)))
    assert "counts" in raises(pf.rewrite.stability(ABSOLUTE, pf.box(1, 2)))
