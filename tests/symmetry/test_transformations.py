"""Permutations, rescalings and flips leave functions exactly the same, and are a group as values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.exact_networks import SEEDS, exact, generated, numbers, points, random_steps, same_values
from polyfold.program.exact_program import ExactProgram, from_layers
from polyfold.testing import generated_case
from polyfold.testing.edits import leaky, skips
from polyfold.testing.networks import random_draft

Composition, Flip, Permutation, Rescaling = (
    pf.symmetry.Composition,
    pf.symmetry.Flip,
    pf.symmetry.Permutation,
    pf.symmetry.Rescaling,
)
KINDS = ("permutation", "rescaling", "flip")
ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS, size=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_the_function_stays_the_same_and_the_inverse_undoes_it(kind: str, seed: int, size: int) -> None:
    program = generated(seed, size)
    step = random_steps(program, seed, (kind,), count=1)
    changed = step(program)
    assert isinstance(changed, ExactProgram)
    assert same_values(program, changed, seed)
    assert numbers(step.inverse()(changed)) == numbers(program)


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_compositions(seed: int) -> None:
    program = generated(seed)
    first, second, third = (random_steps(program, seed + k) for k in range(3))
    both = first.then(second)
    assert numbers(both(program)) == numbers(second(first(program)))
    assert same_values(program, both(program), seed)
    assert numbers(both.then(both.inverse())(program)) == numbers(program)
    assert numbers(both.inverse().then(both)(program)) == numbers(program)
    assert first.then(second).then(third) == first.then(second.then(third))
    assert both.inverse() == second.inverse().then(first.inverse())
    assert both.inverse().inverse() == both


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_same_function_on_the_whole_domain(seed: int) -> None:
    """Decided by pf.equivalent, cell by cell, where powers of two keep all numbers floats."""
    case = generated_case(seed, size=3)
    program = exact(case.program)
    changed = pf.symmetry.random_transformation(program, seed)(program)
    assert changed.in_floats
    assert pf.equivalent(case.program, changed.to_program(), case.domain).word == "equal"


@pytest.mark.parametrize("seed", range(6))
def test_flips_are_the_same_function_on_all_of_space(seed: int) -> None:
    """Integers: products and sums that flips make are floats too."""
    rng = np.random.default_rng(seed)
    layers = [
        (rng.integers(-3, 4, (4, 2)), rng.integers(-3, 4, 4)),
        (rng.integers(-3, 4, (3, 4)), rng.integers(-3, 4, 3)),
    ]
    network = pf.load([*layers, (rng.integers(-3, 4, (1, 3)), [1])])
    flip = Flip(1, (0, 2)).then(Flip(2, (1,)))
    changed = flip(network)
    assert len(changed.nodes) > len(network.nodes)
    assert pf.equivalent(network, changed).word == "equal"


def test_a_flip_by_hand() -> None:
    """relu(x) + relu(-x) = x + 2 relu(-x): the neuron turned over, and its linear part added to the output."""
    flipped = Flip(1, (0,))(from_layers(ABSOLUTE))
    assert flipped.stages[0].rows.terms[0].tolist() == [[-1], [-1]]
    assert flipped.output.terms[0].tolist() == [[1]]
    assert flipped.output.terms[1].tolist() == [[1, 1]]


@pytest.mark.parametrize("slope", [fmpq(1, 100), fmpq(3, 2), fmpq(-1), fmpq(-2, 3), fmpq(0)])
@pytest.mark.parametrize("x", [fmpq(-7, 3), fmpq(0), fmpq(5, 2)])
def test_the_identity_of_leaky_relus(slope: fmpq, x: fmpq) -> None:
    """g(x) = (1 + mu) x + g(-x), as in paper 004; its absolute values (mu = -1) have no linear part."""

    def g(z: fmpq) -> fmpq:
        return z if z > 0 else slope * z

    assert g(x) == (1 + slope) * x + g(-x)
    network = from_layers([([[1]], [0]), ([[1]], [0])], slope_off=slope)
    flipped = Flip(1, (0,))(network)
    assert flipped.evaluate([[x]]).tolist() == [[g(x)]]
    assert flipped.output.terms.get(0, np.array([])).tolist() == ([] if slope == -1 else [[1 + slope]])


def test_every_reader_is_changed() -> None:
    rng = np.random.default_rng(5)
    draft = random_draft(rng, [2, 4, 3, 3, 2])
    for _ in range(3):
        skips(rng, draft)
    leaky(rng, draft)
    program = exact(draft.freeze())
    assert sum(1 in rows.terms for rows in program.affines) > 1
    for kind in KINDS:
        for seed in range(10):
            assert same_values(program, random_steps(program, seed, (kind,))(program), seed)


def test_slopes_go_with_their_neurons_and_names_stay() -> None:
    rng = np.random.default_rng(1)
    draft = random_draft(rng, [2, 5, 1])
    leaky(rng, draft)
    program = exact(draft.freeze())
    order = (3, 1, 4, 0, 2)
    changed = Permutation(1, order)(program)
    assert changed.stages[0].slope_off.tolist() == [program.stages[0].slope_off[i] for i in order]
    assert changed.stages[0].origins == program.stages[0].origins


def test_models_keep_their_names_and_layers() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.LeakyReLU(0.25), torch.nn.Linear(5, 2)).double()
    network = pf.load(model)
    step = pf.symmetry.random_transformation(model, 3)
    changed = step(model)
    assert isinstance(changed, pf.Network)
    assert [node.name for node in changed.nodes] == [node.name for node in network.nodes]
    assert pf.equivalent(model, changed).word == "equal"
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(changed(X), network(X), rtol=1e-13)


def test_rounding_to_floats_is_the_nearest() -> None:
    changed = Rescaling(1, (3, 1))(ABSOLUTE)
    weights = changed.nodes[2].op.weight
    assert weights.tolist() == [[1 / 3, 1.0]]
    exact_program = Rescaling(1, (3, 1))(from_layers(ABSOLUTE))
    assert not exact_program.in_floats
    assert exact_program.output.terms[1][0, 0] == fmpq(1, 3)


@pytest.mark.parametrize(("factor", "size"), [(Fraction(2) ** 2000, "large"), (Fraction(2) ** -1100, "small")])
def test_weights_that_floats_cannot_hold(factor: Fraction, size: str) -> None:
    step = Rescaling(1, (factor, 1))
    with pytest.raises(pf.PolyfoldError, match=f"makes a weight that is too {size} for a float; apply it to an Exact"):
        step(ABSOLUTE)
    assert same_values(from_layers(ABSOLUTE), step(from_layers(ABSOLUTE)))


def test_values() -> None:
    assert Permutation(1, [1, 0]) == Permutation(np.int64(1), np.array([1, 0]))
    assert Rescaling(1, (0.5, 2)) == Rescaling(1, (fmpq(1, 2), Fraction(2))) == Rescaling(1, np.array([0.5, 2.0]))
    assert Flip(1, (2, 0)) == Flip(1, [0, 2])
    assert len({Permutation(1, (0, 1)), Permutation(1, [0, 1]), Rescaling(1, (1, 2)), Rescaling(1, [1.0, 2.0])}) == 2
    assert Permutation(1, (0, 1)) != Permutation(2, (0, 1))
    with pytest.raises(AttributeError):
        Permutation(1, (0, 1)).layer = 2  # type: ignore[misc]


def test_identity() -> None:
    identity, swap = pf.symmetry.identity, Permutation(1, (1, 0))
    assert identity.inverse() == identity
    assert identity.then(swap) == swap.then(identity) == swap
    assert numbers(identity(from_layers(ABSOLUTE))) == numbers(from_layers(ABSOLUTE))
    assert Composition((Composition((swap, swap)), swap)).steps == (swap, swap, swap)


def test_random_transformations_are_reproducible() -> None:
    program = generated(6)
    draws = [pf.symmetry.random_transformation(program, seed, kinds=KINDS) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    only = pf.symmetry.random_transformation(program, 1, kinds="flip")
    steps = only.steps if isinstance(only, Composition) else (only,)
    assert all(isinstance(step, Flip) for step in steps)
    X = points(program, 3)
    assert (draws[0](program).evaluate(X) == program.evaluate(X)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Permutation(1, (0, 2)), r"order=\(0, 2\)\): the order must hold each of 0, ..., 1 once"),
        (lambda: Permutation(1, (0, 0)), "the order must hold each"),
        (lambda: Permutation(1, 3), "the order must be a sequence of integers, got 3"),
        (lambda: Permutation(1.5, (0, 1)), "the layer must be an integer, got 1.5"),
        (lambda: Permutation(1, (0.5, 1)), "each of the order must be an integer, got 0.5"),
        (lambda: Rescaling(1, (1, 0)), r"factors=\(1, 0\)\): factor 1 is 0; factors must be above zero"),
        (lambda: Rescaling(1, (Fraction(-1, 2), 1)), "factor 0 is -1/2"),
        (lambda: Rescaling(1, (float("nan"), 1)), "each of the factors must be a finite number .* got nan"),
        (lambda: Rescaling(1, (float("inf"), 1)), "got inf"),
        (lambda: Rescaling(1, ("2", 1)), "got '2'"),
        (lambda: Rescaling(1, 2), "the factors must be a sequence of numbers, got 2"),
        (lambda: Flip(1, (0, 0)), "a neuron is named twice"),
        (lambda: Composition((1,)), "1 is no transformation"),
        (lambda: pf.symmetry.identity.then("x"), "'x' is no transformation"),
        (lambda: Permutation(2, (0, 1))(ABSOLUTE), "there is no hidden layer 2; the network has 1 hidden layer"),
        (lambda: Permutation(0, (0, 1))(ABSOLUTE), "there is no hidden layer 0"),
        (lambda: Permutation(1, (0, 1, 2))(ABSOLUTE), r"\(0, 1, 2\)\) is for 3 neurons, but the layer has 2"),
        (lambda: Rescaling(1, (1,))(ABSOLUTE), r"factors=\(1,\)\) is for 1 neuron, but the layer has 2"),
        (lambda: Flip(1, (2,))(ABSOLUTE), "there is no neuron 2; the layer has 2 neurons"),
        (lambda: Flip(1, (-1,))(ABSOLUTE), "there is no neuron -1"),
        (lambda: pf.symmetry.random_transformation(ABSOLUTE, kinds=("mirror",)), "no kind of transformation 'mirror'"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=message):
        make()
