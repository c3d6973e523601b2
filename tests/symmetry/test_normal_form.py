"""One normal form for all networks that differ by permutations and rescalings, and another one for all others."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.exact_networks import SEEDS, generated, numbers, random_steps, same_values
from helpers.slow_params import examples
from polyfold.program.exact_program import ExactProgram, from_layers
from polyfold.symmetry.ordering import canonical_order

ORBIT = ("permutation", "rescaling")
normal_form, Permutation, Rescaling = pf.symmetry.normal_form, pf.symmetry.Permutation, pf.symmetry.Rescaling


@given(seed=SEEDS, size=st.integers(1, 7))
@settings(max_examples=examples(120), deadline=None)
def test_one_form_for_the_whole_orbit(seed: int, size: int) -> None:
    program = generated(seed, size)
    other = random_steps(program, seed, ORBIT, count=6)(program)
    here, there = normal_form(program), normal_form(other)
    assert here == there and hash(here) == hash(there) and here.digest == there.digest
    assert numbers(here.program) == numbers(there.program)
    assert same_values(program, here.program, seed)
    assert numbers(here.transformation(program)) == numbers(here.program)
    assert normal_form(here.program) == here


@given(seed=SEEDS)
@settings(max_examples=examples(40), deadline=None)
def test_another_weight_is_another_form(seed: int) -> None:
    """One incoming number of a neuron changes: no rescaling can make up for it unless it was the only one."""
    program = generated(2 * (seed // 2))
    rng = np.random.default_rng(seed)
    layer = int(rng.integers(1, len(program.stages) + 1))
    stage = program.stages[layer - 1]
    neuron = int(rng.integers(stage.width))
    bias = stage.rows.bias.copy()
    assume(bias[neuron] != 0 and any(matrix[neuron].any() for matrix in stage.rows.terms.values()))
    bias[neuron] = bias[neuron] + fmpq(1, 2**60)
    rows = type(stage.rows)(stage.rows.terms, bias)
    stages = list(program.stages)
    stages[layer - 1] = type(stage)(rows, stage.slope_on, stage.slope_off, stage.origins)
    changed = ExactProgram(program.frame, tuple(stages), program.output)
    assert normal_form(changed) != normal_form(program)
    assert normal_form(changed).digest != normal_form(program).digest


def test_incoming_numbers_add_up_to_one() -> None:
    form = normal_form(generated(4))
    for stage in form.program.stages:
        totals = sum((abs(matrix).sum(axis=1) for matrix in stage.rows.terms.values()), abs(stage.rows.bias))
        assert totals.tolist() == [1] * stage.width


def test_in_floats() -> None:
    network = [([[2.0], [-4.0]], [2.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    form = normal_form(network)
    assert form.network.nodes[0].op.weight.tolist() == [[-1.0], [0.5]]
    assert form.orders == [(1, 0)] and form.factors == [(Fraction(1, 4), Fraction(1, 4))]
    assert repr(form) == f"NormalForm: 1 -> 2 -> 1; digest {form.digest[:12]}..."
    assert form != "something else"


# -- neurons without a scale of their own


def test_neurons_that_are_zero_are_scaled_by_what_reads_them() -> None:
    layers = [([[1], [0]], [1, 0]), ([[1, 2], [3, 4]], [1, 0]), ([[1, 1]], [0])]
    program = from_layers(layers)
    form = normal_form(program)
    (dead,) = (i for i in range(2) if not form.program.stages[0].rows.terms[0][i].any())
    assert sum(abs(form.program.stages[1].rows.terms[1][:, dead])) == 1
    for scale in (fmpq(1, 7), fmpq(5)):
        step = Rescaling(1, (1, scale)).then(Rescaling(2, (3, fmpq(2, 9)))).then(Permutation(2, (1, 0)))
        assert normal_form(step(program)) == form


def test_neurons_that_read_zeros_only() -> None:
    """Neuron 0 of the second layer reads nothing but the dead one; the output gives both their scale."""
    layers = [([[1], [0]], [1, 0]), ([[0, 2], [3, 4]], [0, 0]), ([[1, 1]], [0])]
    program = from_layers(layers)
    for seed in range(20):
        assert normal_form(random_steps(program, seed, ORBIT)(program)) == normal_form(program)


def test_neurons_that_are_read_by_unread_ones() -> None:
    """The dead neuron is read by the output and by a neuron that nobody reads, which gets its scale from it."""
    program = from_layers([([[1], [0]], [1, 0]), ([[0, 2], [3, 4]], [0, 0]), ([[0, 1]], [0])])
    for seed in range(20):
        assert normal_form(random_steps(program, seed, ORBIT)(program)) == normal_form(program)


def test_neurons_without_any_weights() -> None:
    program = from_layers([([[1], [0], [0]], [1, 0, 0]), ([[1, 0, 0]], [0])])
    for seed in range(5):
        assert normal_form(random_steps(program, seed, ORBIT)(program)) == normal_form(program)


def test_weights_without_any_scale_are_refused() -> None:
    """A dead neuron, read by one only that nobody reads: their common weight can be made any number."""
    program = from_layers([([[1], [0]], [1, 0]), ([[0, 2], [3, 0]], [0, 0]), ([[0, 1]], [0])])
    with pytest.raises(pf.PolyfoldError, match="neuron 1 of hidden layer 1 has no normal scale"):
        normal_form(program)


# -- neurons that are hard to tell apart


def _all_orders(program: ExactProgram) -> list[ExactProgram]:
    found = [program]
    for layer, width in enumerate(program.widths[1:], start=1):
        found = [Permutation(layer, order)(each) for each in found for order in permutations(range(width))]
    return found


@pytest.mark.parametrize(
    "layers",
    [
        # twins, all alike
        [(np.ones((4, 1), int), np.ones(4, int)), (np.ones((3, 4), int), np.ones(3, int)), ([[1, 1, 1]], [0])],
        # two alike in the first layer, told apart by two in the second, which nothing else tells apart
        [([[1], [1]], [0, 0]), ([[1, 2], [2, 1]], [0, 0]), ([[1, 1]], [0])],
        # a cycle: every neuron is like every other, but not every order is the same network
        [
            (np.ones((4, 1), int), np.ones(4, int)),
            ([[1, 2, 0, 0], [0, 1, 2, 0], [0, 0, 1, 2], [2, 0, 0, 1]], np.ones(4, int)),
            ([[1, 1, 1, 1]], [0]),
        ],
        # two pairs and one of six: both have two weights a neuron, and only a search tells the first from the second
        [
            (np.ones((4, 1), int), np.ones(4, int)),
            ([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], np.ones(4, int)),
            ([[1, 1, 1, 1]], [0]),
        ],
    ],
)
def test_all_orders_of_equal_neurons_have_one_form(layers) -> None:
    program = from_layers(layers)
    forms = {normal_form(each) for each in _all_orders(program)}
    assert len(forms) == 1


@given(seed=SEEDS)
@settings(max_examples=examples(150), deadline=None)
def test_networks_of_zeros_and_ones(seed: int) -> None:
    """Neurons without weights, without scale, and alike: every way to settle them occurs."""
    rng = np.random.default_rng(seed)
    dims = [*rng.integers(1, 3, size=1), *rng.integers(1, 6, size=rng.integers(1, 4)), *rng.integers(1, 3, size=1)]
    values = [[-1, 0, 1], [0, 1], [0, 0, 0, 1], [0, 1, 2]][rng.integers(4)]
    program = from_layers([(rng.choice(values, size=(m, n)), rng.choice([0, 0, 1], size=m)) for n, m in pairwise(dims)])
    other = random_steps(program, seed, ORBIT, count=8)(program)
    assert form_or_refusal(program) == form_or_refusal(other)


def form_or_refusal(program: ExactProgram) -> object:
    try:
        return normal_form(program)
    except pf.PolyfoldError as error:
        assert "has no normal scale" in str(error)
        return "no normal scale"


def test_cycles_of_other_lengths_are_told_apart() -> None:
    """One cycle of six against two of three: neurons look alike from near by, and sorting alone cannot tell them."""

    def cycles(*lengths: int) -> ExactProgram:
        size = sum(lengths)
        W, first = np.zeros((size, size), int), 0
        for length in lengths:
            for i in range(length):
                W[first + i, first + i] = W[first + i, first + (i + 1) % length] = 1
            first += length
        ones = np.ones(size, int)
        return from_layers([(ones[:, None], ones), (W, ones), (ones[None, :], [0])])

    one, two = cycles(6), cycles(3, 3)
    assert normal_form(one) != normal_form(two)
    for seed in range(6):
        for program in (one, two):
            assert normal_form(random_steps(program, seed, ORBIT)(program)) == normal_form(program)


def test_hundreds_of_twins() -> None:
    ones = np.ones(300, int)
    program = from_layers([(ones[:, None], ones), (ones[None, :], [0])])
    assert normal_form(program).program.output.terms[1].tolist() == [[2] * 300]


def test_too_many_equal_neurons_are_refused() -> None:
    size = 9
    ones = np.ones(size, int)
    program = from_layers([(ones[:, None], ones), (np.eye(size, dtype=int), ones), (ones[None, :], [0])])
    with pytest.raises(pf.PolyfoldError, match="more than 2,000 orders of equal neurons"):
        canonical_order(program)
