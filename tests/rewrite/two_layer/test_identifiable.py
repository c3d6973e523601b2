"""identifiable: the conditions of theorem 2, against all subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import polyfold as pf
from helpers.generated_two_layer import random_program
from helpers.two_layer_in_fractions import parts
from polyfold.errors import NetworkError
from polyfold.program.exact_program import from_layers


def subsets_that_vanish(program):
    """All non-empty sets of neurons with sum (on + off) v_j w_j = 0, by trying."""
    W, b, on, off, V, _, _ = parts(program)
    found = []
    for size in range(1, len(b) + 1):
        for chosen in combinations(range(len(b)), size):
            sums = [sum((on[j] + off[j]) * sent[j] * W[j][i] for j in chosen) for sent in V for i in range(len(W[0]))]
            if not any(sums):
                found.append(chosen)
    return found


@pytest.mark.parametrize("seed", range(200))
def test_against_all_subsets(seed):
    rng = np.random.default_rng([seed, 30])
    program = pf.rewrite.irreducible(random_program(rng, path=False)).program
    if 0 in program.output.terms:
        found = pf.rewrite.identifiable(program)
        assert (found.verdict == "no") == (program.gates > 0)
        return
    found = pf.rewrite.identifiable(program)
    vanish = subsets_that_vanish(program)
    assert found.verdict == ("no" if vanish else "yes") and not found.steps and found.pair is None
    if vanish:
        numbers = tuple(program.stages[0].origins.index(origin) for origin in found.subset)
        assert numbers in vanish
        flipped = pf.symmetry.Flip(1, numbers)(program)
        assert 0 not in flipped.output.terms and pf.compare.match(program, flipped).word == "equal"


def test_reducible_networks_are_not():
    found = pf.rewrite.identifiable([([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    assert found.verdict == "no" and not found and [step.rule for step in found.steps] == ["R2"]
    assert "relu1[1]" in found.reason


def test_a_single_even_gate_can_be_flipped():
    found = pf.rewrite.identifiable(from_layers([([[1]], [1]), ([[1]], [0])], slope_off=-1))
    assert found.verdict == "no" and [str(origin) for origin in found.subset] == ["relu1[0]"]


def test_networks_without_neurons_are():
    assert pf.rewrite.identifiable([([[1.0]], [0.0])]).verdict == "yes"


def test_what_is_not_decided_is_unknown():
    rng = np.random.default_rng(5)
    found = pf.rewrite.identifiable(
        [(rng.normal(size=(80, 1)), rng.normal(size=80)), (rng.normal(size=(1, 80)), [0.0])], max_seconds=1
    )
    assert found.verdict == "unknown" and "UNKNOWN" in repr(found)
    with pytest.raises(pf.errors.UnknownError, match="more time"):
        bool(found)


def test_deep_networks_are_refused():
    deep = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    with pytest.raises(NetworkError, match="at most one hidden layer"):
        pf.rewrite.identifiable(deep)
