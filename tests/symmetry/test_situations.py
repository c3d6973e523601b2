"""Transformations that only some weights allow: they keep the function, can be undone, and are refused elsewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.exact_networks import SEEDS, generated, numbers, points, same_values
from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import ExactProgram, from_layers
from polyfold.program.passes.rational_intervals import row_ranges, source_ranges

FreeIncoming, FreeOutgoing, PositiveMixing, ShiftOutgoing = (
    pf.symmetry.FreeIncoming,
    pf.symmetry.FreeOutgoing,
    pf.symmetry.PositiveMixing,
    pf.symmetry.ShiftOutgoing,
)


def integers(seed: int, *dims: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [(rng.integers(-4, 5, (m, n)), rng.integers(-4, 5, m)) for n, m in pairwise(dims)]


# -- shifts


@given(seed=SEEDS, slope=st.sampled_from([0, Fraction(1, 5), -1]), layer=st.sampled_from([1, 2]))
@settings(max_examples=40, deadline=None)
def test_shifts_between_proportional_neurons(seed: int, slope: Fraction, layer: int) -> None:
    layers = integers(seed, 2, 4, 3, 2)
    W, b = (array.astype(object) for array in layers[layer - 1])
    W[1], b[1] = W[0] * Fraction(3, 2), b[0] * Fraction(3, 2)
    layers[layer - 1] = (W, b)
    program = from_layers(layers, slope_off=slope)
    rows = program.affines[layer].size
    for amount in (7, [fmpq(k, 3) for k in range(1, rows + 1)]):
        step = ShiftOutgoing(layer, 0, 1, amount)
        changed = step(program)
        assert numbers(changed) != numbers(program)
        assert same_values(program, changed, seed)
        assert numbers(step.inverse()(changed)) == numbers(program)


def test_a_shift_by_the_papers_formula() -> None:
    """With n2 = L n1: v1 (n1)+ + v2 (n2)+ = (v1 - z)(n1)+ + (v2 + z / L)(n2)+."""
    program = from_layers([([[1], [3]], [2, 6]), ([[10, 20]], [0])])
    assert ShiftOutgoing(1, 0, 1, 6)(program).output.terms[1].tolist() == [[4, 22]]
    # Removing the second neuron adds v2 L to v1; the paper's (R2) has n1 = L n2, for which it is v2 / L.
    everything = pf.symmetry.shift_everything(program, 1, 1, 0)
    assert everything(program).output.terms[1].tolist() == [[10 + 20 * 3, 0]]
    assert same_values(program, everything(program))


def test_everything_is_shifted_from_every_reader() -> None:
    rng = np.random.default_rng(0)
    program = generated(8)
    while not any(1 in rows.terms for rows in program.affines[2:]) or program.widths[1] < 2:
        program = generated(int(rng.integers(1000)))
    twin = _with_twin(program)
    step = pf.symmetry.shift_everything(twin, 1, 0, 1)
    moved = step(twin)
    assert isinstance(step, pf.symmetry.Composition) and len(step.steps) > 1
    assert same_values(twin, moved)
    assert not any(rows.terms[1][:, 0].any() for rows in moved.affines if 1 in rows.terms)
    # Now nobody reads the neuron, so that its incoming weights are free.
    free = FreeIncoming(1, 0, [5] * program.input_dim, bias=-3)
    assert same_values(twin, free(moved))
    assert numbers(step.inverse()(free.inverse()(free(moved)))) == numbers(twin)


def _with_twin(program: ExactProgram) -> ExactProgram:
    stage = program.stages[0]
    return pf.symmetry.identity(
        type(program)(program.frame, (stage.take([0, 0, *range(2, stage.width)]), *program.stages[1:]), program.output)
    )


@pytest.mark.parametrize(
    ("weights", "biases", "slopes"),
    [
        ([[1], [-1]], [1, -1], (0, 0)),  # opposite sides
        ([[1], [2]], [1, 1], (0, 0)),  # parallel, elsewhere
        ([[1, 0], [0, 1]], [0, 0], (0, 0)),
        ([[0], [0]], [1, -1], (0, 0)),  # constants, one of them off
        ([[0], [1]], [0, 0], (0, 0)),
        ([[1], [2]], [1, 2], (0, fmpq(1, 2))),  # one hyperplane, other slopes
    ],
)
def test_shifts_between_other_neurons_are_refused(weights, biases, slopes) -> None:
    program = from_layers([(weights, biases), ([[1, 1]], [0])])
    stage = program.stages[0]
    stage = type(stage)(stage.rows, stage.slope_on, rationals(list(slopes)), stage.origins)
    program = type(program)(program.frame, (stage,), program.output)
    with pytest.raises(pf.PolyfoldError, match="neuron 1 is no positive multiple of neuron 0"):
        ShiftOutgoing(1, 0, 1, 1)(program)


def test_constant_neurons_of_one_sign_are_multiples() -> None:
    program = from_layers([([[0], [0], [1]], [2, 5, 0]), ([[1, 1, 1]], [0])])
    assert same_values(program, ShiftOutgoing(1, 0, 1, Fraction(3, 7))(program))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: ShiftOutgoing(1, 0, 0, 1), "weight is shifted between two neurons, and these are one"),
        (lambda p: ShiftOutgoing(1, 0, 1, "much"), "each of the amount must be a finite number .* got 'm'"),
        (lambda p: ShiftOutgoing(1, 0, 1, None), "the amount must be a finite number .* got None"),
        (lambda p: ShiftOutgoing(1, 0, 9, 1)(p), "there is no neuron 9"),
        (lambda p: ShiftOutgoing(1, 0, 1, (1, 2))(p), "2 amounts for a reader of 1 row; give one for each"),
        (lambda p: ShiftOutgoing(1, 0, 1, 1, reader=1)(p), "nothing numbered 1 can read layer 1"),
        (lambda p: ShiftOutgoing(1, 0, 1, 1, reader=3)(p), "nothing numbered 3 can read layer 1; .* the output, 2"),
    ],
)
def test_shifts_that_make_no_sense(make, message: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=message):
        make(from_layers([([[1], [2]], [1, 2]), ([[1, 1]], [0])]))


def test_two_ways_to_split_opposite_neurons() -> None:
    """v1 (n)+ + v2 (-k n)+ is v1 n + (v1 + k v2)(-n)+ and -k v2 n + (v1 + k v2)(n)+: the paper lacks the minus sign."""
    v1, v2, k = fmpq(3), fmpq(5), fmpq(2, 7)
    program = from_layers([([[1], [-k]], [0, 0]), ([[v1, v2]], [0])])
    for keep, linear in ((1, v1), (0, -k * v2)):
        flipped = pf.symmetry.Flip(1, (1 - keep,))(program)
        one = pf.symmetry.shift_everything(flipped, 1, 1 - keep, keep)(flipped)
        assert one.output.terms[0].tolist() == [[linear]]
        weight = one.output.terms[1][0, keep] * abs(one.stages[0].rows.terms[0][keep, 0])
        assert weight == v1 + k * v2
        assert same_values(program, one)


# -- free weights


@pytest.mark.parametrize("bias", [0, -3])
def test_what_dead_neurons_say_does_not_matter(bias: int) -> None:
    program = from_layers([([[1, 2], [0, 0]], [1, bias]), ([[3, 4], [5, 6]], [0, 1])])
    step = FreeOutgoing(1, 1, (100, -7))
    assert step(program).output.terms[1].tolist() == [[3, 104], [5, -1]]
    assert same_values(program, step(program))
    assert numbers(step.inverse()(step(program))) == numbers(program)


def test_neurons_behind_relus_are_dead_by_their_signs() -> None:
    program = from_layers([*integers(3, 2, 3), ([[-1, 0, -2], [1, 0, 1]], [0, 0]), ([[1, 1]], [0])])
    assert same_values(program, FreeOutgoing(2, 0, 50)(program))
    with pytest.raises(pf.PolyfoldError, match="that the output of neuron 1 is always zero cannot be seen"):
        FreeOutgoing(2, 1, 50)(program)


@pytest.mark.parametrize(("slope", "bias"), [(0, 1), (Fraction(1, 4), -1)])
def test_what_living_neurons_say_does(slope: Fraction, bias: int) -> None:
    """A bias above zero, or a LeakyReLU below: the neuron is a constant that is not zero."""
    program = from_layers([([[1], [0]], [1, bias]), ([[3, 4]], [0])], slope_off=slope)
    with pytest.raises(pf.PolyfoldError, match="cannot be seen from its weights"):
        FreeOutgoing(1, 1, 1)(program)


def test_what_nobody_hears_is_free() -> None:
    program = from_layers([([[1, 2], [3, 4]], [1, 1]), ([[3, 0], [5, 0]], [0, 1])])
    step = FreeIncoming(1, 1, (Fraction(1, 3), -9), bias=2)
    assert step(program).stages[0].rows.terms[0].tolist() == [[1, 2], [fmpq(10, 3), -5]]
    assert step(program).stages[0].rows.bias.tolist() == [1, 3]
    assert same_values(program, step(program))
    assert numbers(step.inverse()(step(program))) == numbers(program)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: FreeIncoming(1, 0, (1, 1))(p), "the output reads neuron 0, so its incoming weights matter"),
        (lambda p: FreeIncoming(1, 1, (1,))(p), "1 number for the weights on source 0, which has 2 entries"),
        (lambda p: FreeIncoming(1, 1, (1, 1), source=1)(p), "layer 1 reads sources 0 to 0, not 1"),
        (lambda p: FreeIncoming(1, 1, 3), "the change must be a sequence of numbers, got 3"),
        (lambda p: FreeOutgoing(2, 1, 3)(p), "there is no hidden layer 2"),
    ],
)
def test_free_weights_that_make_no_sense(make, message: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=message):
        make(from_layers([([[1, 2], [3, 4]], [1, 1]), ([[3, 0], [5, 0]], [0, 1])]))


# -- mixing


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_example_2_of_the_paper(seed: int) -> None:
    """Two neurons behind ReLUs whose incoming weights and biases are not negative, and any positive invertible B."""
    rng = np.random.default_rng(seed)
    layers = integers(seed, 2, 4, 3, 2)
    W, b = np.abs(layers[1][0]), np.abs(layers[1][1])
    W[2] = layers[1][0][2]
    layers[1] = (W, b)
    program = from_layers(layers)
    B = rng.integers(0, 6, (2, 2))
    B[0, 0] += B[0, 1] * B[1, 0] + 1
    B[1, 1] += 1
    step = PositiveMixing(2, (0, 1), B)
    mixed = step(program)
    A, C = program.stages[1].rows.terms[1], program.output.terms[2]
    assert (mixed.stages[1].rows.terms[1][:2] == rationals(B).dot(A[:2])).all()
    assert (mixed.output.terms.get(2, C * fmpq(0))[:, :2].dot(rationals(B)) == C[:, :2]).all()
    assert same_values(program, mixed, seed)
    assert any(entry < 0 for row in step.inverse().B for entry in row) == bool(B[0, 1] or B[1, 0])
    assert numbers(step.inverse()(mixed)) == numbers(program)


def test_mixing_is_decided_on_the_whole_space() -> None:
    layers = [([[1.0, 2.0], [-1.0, 1.0]], [0.0, 1.0]), ([[1.0, 2.0], [3.0, 1.0]], [0.0, 2.0]), ([[1.0, -3.0]], [0.5])]
    mixed = PositiveMixing(2, (0, 1), ((2, 2), (1, 2)))(layers)
    assert pf.equivalent(layers, mixed).word == "equal"
    assert mixed.nodes[2].op.weight.tolist() == [[8.0, 6.0], [7.0, 4.0]]


def test_biases_decide_too() -> None:
    """The paper looks at weights only. With a bias below zero a neuron is not always active, and B changes values."""
    layers = [([[1], [-1]], [0, 0]), ([[1, 0], [0, 1]], [-1, 0]), ([[1, 1]], [0])]
    program = from_layers(layers)
    with pytest.raises(pf.PolyfoldError, match="before mixing, neuron 0 may be negative"):
        PositiveMixing(2, (0, 1), ((1, 1), (0, 1)))(program)
    by_hand = from_layers([layers[0], ([[1, 1], [0, 1]], [-1, 0]), ([[1, 0]], [0])])
    assert not same_values(program, by_hand)


def test_the_result_must_stay_active() -> None:
    program = from_layers([([[1], [-1]], [0, 0]), ([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0])])
    with pytest.raises(pf.PolyfoldError, match="after mixing, neuron 1 may be negative"):
        PositiveMixing(2, (0, 1), ((1, 0), (-1, 1)))(program)
    # With a large bias B may have negative entries where weights allow it.
    program = from_layers([([[1], [-1]], [0, 0]), ([[3, 0], [1, 1]], [5, 1]), ([[1, -1]], [0])])
    step = PositiveMixing(2, (0, 1), ((1, 0), (0, 1)))
    assert numbers(step(program)) == numbers(program)


def test_inputs_that_are_bounded() -> None:
    """In the first layer nothing is known of inputs, unless it is said."""
    program = from_layers([([[1, 2], [3, -1]], [0, 1]), ([[1, -1]], [0])])
    B = ((1, 1), (1, 2))
    with pytest.raises(pf.PolyfoldError, match="before mixing, neuron 0 may be negative"):
        PositiveMixing(1, (0, 1), B)(program)
    step = PositiveMixing(1, (0, 1), B, low=0, high=(5, 1))
    inside = rationals([[0, 0], [5, 1], [fmpq(1, 3), fmpq(2, 3)], [0, 1]])
    changed = step(program)
    assert (changed.evaluate(inside) == program.evaluate(inside)).all()
    assert numbers(step.inverse()(changed)) == numbers(program)
    outside = rationals([[0, 4]])
    assert (changed.evaluate(outside) != program.evaluate(outside)).any()
    with pytest.raises(pf.PolyfoldError, match="no input lies between"):
        PositiveMixing(1, (0, 1), B, low=2, high=1)(program)
    with pytest.raises(pf.PolyfoldError, match="3 bounds on inputs, but the network has 2"):
        PositiveMixing(1, (0, 1), B, low=(0, 0, 0))(program)


def test_other_slopes() -> None:
    """Absolute values are never negative; a gate's slope above zero is undone where the mixture is read."""
    program = from_layers([([[1], [-2]], [1, 0]), ([[1, 2], [3, 1]], [1, 0]), ([[1, -1]], [0])], slope_off=-1)
    second = program.stages[1]
    second = type(second)(second.rows, rationals([2, fmpq(1, 3)]), rationals([0, 5]), second.origins)
    program = type(program)(program.frame, (program.stages[0], second), program.output)
    step = PositiveMixing(2, (1, 0), ((1, 2), (0, 3)))
    assert same_values(program, step(program))
    assert numbers(step.inverse()(step(program))) == numbers(program)
    leaky = from_layers([([[1], [-2]], [1, 0]), ([[1, 2], [3, 1]], [1, 0]), ([[1, -1]], [0])], slope_off=Fraction(1, 9))
    with pytest.raises(pf.PolyfoldError, match="before mixing"):
        PositiveMixing(2, (0, 1), ((1, 2), (0, 3)))(leaky)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PositiveMixing(2, (0, 1), ((1, 2), (2, 4))), "B is not invertible"),
        (lambda: PositiveMixing(2, (0, 1), ((1, 2),)), "to mix 2 neurons B must be 2 by 2"),
        (lambda: PositiveMixing(2, (0, 0), ((1, 2), (0, 1))), "name each of the neurons once"),
        (lambda: PositiveMixing(2, (), ()), "at least one"),
    ],
)
def test_mixtures_that_make_no_sense(make, message: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=message):
        make()


# -- example 3


def test_example_3_two_active_neurons_are_not_one() -> None:
    """A = I, B = (1, -1): x1 - x2 has both signs where both are zero or more, and d relu(D x + e) has one sign only.

    Both neurons are always active, so that mixtures of them are the same function. But none makes one of them
    superfluous: the mixture is read by (1, -1) B^-1, and if one of these is zero, then the other row of B is a
    multiple of (1, -1), which is negative somewhere.
    """
    unit = np.eye(2, dtype=int)
    program = from_layers([(unit, [0, 0]), (unit, [0, 0]), ([[1, -1]], [0])])
    assert row_ranges(program.stages[1].rows, source_ranges(program, 1)).never_negative.all()
    assert program.evaluate([[2, 1], [1, 2]])[:, 0].tolist() == [1, -1]
    for d, (p, q), e in product((-1, 1), product((-2, 0, 1), repeat=2), (-1, 0, 1)):
        one = from_layers([(unit, [0, 0]), ([[p, q]], [e]), ([[d]], [0])])
        assert all(value * d >= 0 for value in one.evaluate(points(program, 1, 40))[:, 0])
        assert (one.evaluate([[2, 1], [1, 2]]) != program.evaluate([[2, 1], [1, 2]])).any()
    for a, b in product((-2, -1, 1, 3), (1, 2)):
        for B, negative in ((((a, -a), (b, b)), 0), (((b, b), (a, -a)), 1)):
            with pytest.raises(pf.PolyfoldError, match=f"after mixing, neuron {negative} may be negative"):
                PositiveMixing(2, (0, 1), B)(program)
    for a, b in product(range(1, 4), repeat=2):
        kept = PositiveMixing(2, (0, 1), ((a + 1, b), (1, b)))(program)
        assert same_values(program, kept)
        assert all(weight != 0 for weight in kept.output.terms[2].ravel())


# -- ranges


@given(seed=SEEDS, bounded=st.booleans())
@settings(max_examples=60, deadline=None)
def test_ranges_hold_at_points(seed: int, bounded: bool) -> None:
    program = generated(seed)
    low, high = (Fraction(-12), Fraction(12)) if bounded else (None, None)
    X = points(program, seed, 20)
    sources = source_ranges(program, len(program.stages), low, high)
    for rows, z in zip(program.affines, program.passes(X), strict=True):
        ranges = row_ranges(rows, sources)
        assert not bounded or (ranges.below.all() and ranges.above.all())
        for i in range(rows.size):
            assert not ranges.below[i] or min(z[i]) >= ranges.lower[i]
            assert not ranges.above[i] or max(z[i]) <= ranges.upper[i]


@pytest.mark.parametrize(
    ("on", "off", "low", "high", "expected"),
    [
        (1, 0, None, None, (0, None)),
        (1, fmpq(1, 2), None, None, (None, None)),
        (1, -1, None, None, (0, None)),
        (1, -1, -3, 2, (0, 3)),
        (1, 0, -3, -2, (0, 0)),
        (0, 1, None, None, (None, 0)),
        (0, 1, 1, None, (0, 0)),
        (-2, 0, None, 4, (-8, 0)),
        (-2, 0, 1, None, (None, -2)),
        (1, -1, None, -2, (2, None)),
    ],
)
def test_ranges_after_one_gate(on, off, low, high, expected) -> None:
    program = from_layers([([[1]], [0]), ([[1]], [0])])
    stage = program.stages[0]
    stage = type(stage)(stage.rows, rationals([on]), rationals([off]), stage.origins)
    program = type(program)(program.frame, (stage,), program.output)
    bounds = (None if low is None else Fraction(low), None if high is None else Fraction(high))
    found = source_ranges(program, 1, *bounds)[1]
    assert (found.lower[0] if found.below[0] else None, found.upper[0] if found.above[0] else None) == expected
