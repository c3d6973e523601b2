"""Maps of patterns, and proofs that patterns occur or do not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from polyfold.engine.cells import exact_cell, feasible
from polyfold.errors import ShapeError
from polyfold.program.lower.lower import lower
from polyfold.testing import generated_case
from polyfold.testing.reference import exact_at

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


def published_example() -> list[tuple[np.ndarray, np.ndarray]]:
    """The network of figure 1 in "Locally linear attributes of ReLU neural networks" (Sattelberg et al.).

    The figure's first two layers, and of the last one what the figure's map tells: the column of the gate that is on.
    The other two gates are off, so their columns play no part.
    """
    first = np.array([[3.0, 0, 4], [5, 9, 1], [6, 1, 2]]), np.array([7.0, 2, 9])
    second = np.array([[1.0, 3, 3], [2, 9, 5], [8, 7, 0]]), np.array([7.0, 7, 8])
    last = np.array([[9.0, 4, 1], [0, 2, 6], [3, 5, 8]]), np.array([5.0, 5, 2])
    return [first, second, last]


def test_the_published_example() -> None:
    found = pf.maps.of_pattern(published_example(), [[True, False, True], [True, False, False]])
    assert found.A.tolist() == [[189, 27, 90], [0, 0, 0], [63, 9, 30]]
    assert found.c.tolist() == [374, 5, 125]
    # Both first gates are on and enter the off ones with weights >= 0 and a positive bias: those cannot be off.
    assert found.status == "infeasible" and found.feasible is False
    assert_contradicts(found)


def assert_contradicts(found: pf.maps.PatternMap) -> None:
    """The multiples of the inequalities a . u <= b that are shown, added up in rationals, cannot hold."""
    total, bound, strict = [Fraction(0)] * found.domain.dim, Fraction(0), False
    for wall, multiple in found.contradiction.items():
        assert multiple > 0
        a, b = found.exact_row(wall)
        strict |= wall < found.program.gates and bool(found.signs[wall])
        total = [t + multiple * x for t, x in zip(total, a, strict=True)]
        bound += multiple * b
    assert found.contradiction and not any(total)
    assert bound < 0 or (bound == 0 and strict)


def test_a_pattern_that_occurs_has_a_witness() -> None:
    found = pf.maps.of_pattern(ABSOLUTE, [False, True])
    assert found.status == "cell" and found.feasible and not found.contradiction
    assert found.witness is not None and found.witness.point[0] < 0
    assert found.A.tolist() == [[-1.0]] and len(found.polytope) == 2
    assert "cell" in repr(found)


def test_a_pattern_on_a_flat_set() -> None:
    found = pf.maps.of_pattern(ABSOLUTE, [0, 0])
    assert found.status == "thin" and found.feasible
    assert found.witness is not None and found.witness.rational == (fmpq(0),)


def test_a_constant_gate_contradicts_by_itself() -> None:
    constant = [([[0.0]], [-1.0]), ([[1.0]], [0.0])]
    found = pf.maps.of_pattern(constant, [1])
    assert found.status == "infeasible" and dict(found.contradiction) == {0: Fraction(1)}
    assert pf.maps.of_pattern(constant, [0]).status == "cell"
    assert pf.maps.of_pattern([([[0.0]], [0.0]), ([[1.0]], [0.0])], [1]).status == "infeasible"


def test_the_domain_decides_too() -> None:
    assert pf.maps.of_pattern(ABSOLUTE, [1, 0]).feasible
    found = pf.maps.of_pattern(ABSOLUTE, [1, 0], domain=pf.box(-3, -1))
    assert found.feasible is False
    assert_contradicts(found)


@pytest.mark.parametrize("seed", [s for s in range(30) if generated_case(s, size=3).program.gates <= 7])
def test_exactly_the_patterns_of_the_atlas_are_cells(seed: int) -> None:
    case = generated_case(seed, size=3)
    listed = {tuple(signs) for signs in pf.unfold(case.program, case.domain).signs().tolist()}
    for pattern in product([False, True], repeat=case.program.gates):
        found = pf.maps.of_pattern(case.program, np.array(pattern, dtype=bool), domain=case.domain)
        assert (found.status == "cell") == (pattern in listed), (case, pattern)
        assert found.status != "undecided"
        if found.contradiction:
            assert_contradicts(found)
        if found.witness is not None:
            assert exact_at(case.program, case.domain, found.witness.rational).pattern == pattern


def test_too_large_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_cell, "_MOST_PRODUCTS", 0)
    found = pf.maps.of_pattern(ABSOLUTE, [1, 1])
    assert found.status == "undecided" and found.feasible is None
    monkeypatch.undo()
    monkeypatch.setattr(feasible, "_MOST_ENTRIES", 0)
    assert pf.maps.of_pattern(ABSOLUTE, [0, 0]).status == "undecided"


def test_maps_are_those_of_the_atlas() -> None:
    program = lower(pf.load(published_example()))
    atlas = pf.unfold(program)
    A, c = atlas.maps()
    for k, signs in enumerate(atlas.signs()):
        found = pf.maps.of_pattern(program, [signs[:3].tolist(), signs[3:].tolist()])
        assert np.allclose(found.A, A[k], rtol=1e-12, atol=0) and np.allclose(found.c, c[k], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ([True], r"shape \(1,\); the network has 2 gates, in stages of \[2\]"),
        ([[True], [False]], r"stages of \[1, 1\] gates"),
        ([0, 2], "the pattern has 2$"),
        (3, "the pattern 3 is not a vector"),
        ("10", "pattern"),
    ],
)
def test_wrong_patterns_are_quoted(pattern: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        pf.maps.of_pattern(ABSOLUTE, pattern)
