"""The path norm against all paths one by one, and what it bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.exact_networks import SEEDS, generated, points, random_steps
from polyfold.program.exact_program import ExactProgram


def by_paths(program: ExactProgram, p: int, biases: bool):
    """Walks back from every output along every weight."""

    def into(number: int, row: int):
        rows = program.affines[number]
        total = abs(rows.bias[row]) ** p if biases else 0
        for source, matrix in rows.terms.items():
            for column, weight in enumerate(matrix[row]):
                if weight != 0:
                    total = total + abs(weight) ** p * (1 if source == 0 else out_of(source, column))
        return total

    def out_of(source: int, neuron: int):
        stage = program.stages[source - 1]
        steepest = max(abs(stage.slope_on[neuron]), abs(stage.slope_off[neuron]))
        return steepest**p * into(source - 1, neuron)

    return sum(into(len(program.stages), row) for row in range(program.output_dim))


@given(seed=SEEDS, p=st.sampled_from([1, 2]), biases=st.booleans())
@settings(max_examples=40, deadline=None)
def test_all_paths(seed: int, p: int, biases: bool) -> None:
    program = generated(seed, 3)
    found = pf.symmetry.path_norm(program, norm=p, biases=biases).value
    expected = by_paths(program, p, biases)
    assert isinstance(found, Fraction)
    assert (found.numerator, found.denominator) == (int(expected.p), int(expected.q))


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_no_permutation_or_rescaling_changes_it(seed: int) -> None:
    program = generated(seed)
    changed = random_steps(program, seed, ("permutation", "rescaling"), count=6)(program)
    for p in (1, 2):
        for biases in (False, True):
            options = {"norm": p, "biases": biases}
            assert pf.symmetry.path_norm(changed, **options).value == pf.symmetry.path_norm(program, **options).value


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_it_bounds_how_fast_the_function_changes(seed: int) -> None:
    program = generated(seed)
    norm = pf.symmetry.path_norm(program).value
    X = points(program, seed, 10)
    values = program.evaluate(X)
    for i, j in np.ndindex(10, 10):
        change = sum(abs(values[i] - values[j]))
        assert change * norm.denominator <= norm.numerator * max(abs(X[i] - X[j]))


@pytest.mark.parametrize("p", [0, -1, 0.5, "two", True])
def test_exponents_that_make_no_sense(p) -> None:
    with pytest.raises(pf.PolyfoldError, match="norm must be an integer from 1 on"):
        pf.symmetry.path_norm([([[1.0]], [0.0])], norm=p)
