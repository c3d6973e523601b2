"""irreducible: fewer neurons, the same function, as few more for the linear part as the paper says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers.generated_two_layer import random_program
from helpers.slow_params import quick_then_slow
from helpers.two_layer_in_fractions import parts, points, same_values, value
from polyfold.errors import DomainError, LimitError
from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import from_layers, lower_exactly
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.rewrite.two_layer.linear_part import constant_linear_part


def rules(found):
    return [step.rule for step in found.steps]


@pytest.mark.parametrize("batch", quick_then_slow(range(5), quick=2))
def test_the_function_stays_the_same(batch):
    """500 networks: the form, and the network written without a linear path unless there was one."""
    for number in range(100):
        rng = np.random.default_rng([batch, number, 20])
        program = random_program(rng, mixed=number % 3 == 0)
        found = pf.rewrite.irreducible(program)
        assert same_values(program, found.program, rng) and same_values(program, found.written, rng)
        assert found.neurons_before == program.gates and found.neurons_after == found.written.gates
        if 0 not in program.output.terms:
            assert 0 not in found.written.output.terms and found.neurons_after <= found.neurons_before
        assert found.program.gates <= found.neurons_after
        alpha, _ = found.linear
        assert (found.constant.status == "found") == (not alpha.any())


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=1))
def test_the_function_stays_the_same_on_a_domain(batch):
    for number in range(50):
        rng = np.random.default_rng([batch, number, 21])
        program = random_program(rng, mixed=number % 3 == 0, path=False)
        dim = program.input_dim
        low = rng.integers(-3, 2, size=dim)
        high = low + rng.integers(1, 4, size=dim)
        if number % 2:
            domain = pf.box(low.astype(float), high.astype(float))
        else:  # the same box and a corner cut off
            rows = np.concatenate([-np.eye(dim), np.eye(dim), np.ones((1, dim))])
            domain = pf.polytope(rows, np.concatenate([-low, high, [high.sum() - 0.5]]).astype(float))
        found = pf.rewrite.irreducible(program, domain)
        inside = 0
        for x in points(rng, dim, 30):
            x = [min(max(e, Fraction(int(a))), Fraction(int(b))) for e, a, b in zip(x, low, high, strict=True)]
            if number % 2 or sum(x) <= Fraction(int(high.sum())) - Fraction(1, 2):
                inside += 1
                assert value(program, x) == value(found.program, x) == value(found.written, x)
        assert inside and 0 not in found.written.output.terms
        assert found.neurons_after <= found.neurons_before


def pairs(rng, k, dim, outputs):
    """k opposite pairs on different walls, with small whole numbers."""
    W, b = rng.integers(-9, 10, size=(k, dim)).tolist(), rng.integers(-9, 10, size=k).tolist()
    V = rng.integers(1, 10, size=(outputs, 2 * k)).tolist()
    both = [[*row] for row in W] + [[-2 * entry for entry in row] for row in W]
    return from_layers([(both, [*b, *(-2 * entry for entry in b)]), (V, [0] * outputs)])


@pytest.mark.parametrize(("k", "dim", "outputs", "rank"), [(3, 2, 1, 1), (6, 4, 1, 1), (6, 4, 2, 2), (9, 5, 3, 3)])
def test_what_opposite_pairs_cost(k, dim, outputs, rank):
    """k pairs become k neurons and a linear part of rank r: k + 2r neurons on R^d, k + r on a box."""
    program = pairs(np.random.default_rng([k, dim]), k, dim, outputs)
    everywhere, inside = pf.rewrite.irreducible(program), pf.rewrite.irreducible(program, pf.box(-100, 100))
    assert everywhere.program.gates == inside.program.gates == k
    assert everywhere.constant.status == "none"
    assert everywhere.neurons_before == 2 * k and everywhere.neurons_after == min(2 * k, k + 2 * rank)
    assert inside.neurons_after == k + rank
    words = everywhere.steps[-1].why
    assert f"rank {rank}" in words if k > 2 * rank else f"{k} opposite pairs stay" in words
    rng = np.random.default_rng(0)
    assert same_values(program, everywhere.written, rng)
    assert all(value(program, x) == value(inside.written, x) for x in points(rng, dim))


def test_pairs_cost_half_of_that_where_walls_have_all_directions():
    """A linear part of full rank: mirror images of neurons that are there say it, so k + r neurons do on R^d too."""
    program = pairs(np.random.default_rng(9), 9, 4, 8)
    found = pf.rewrite.irreducible(program)
    assert (found.neurons_before, found.neurons_after) == (18, 9 + 4)
    assert "rank 4: written with 4 neurons, 4 directions by a mirror image of a neuron" in found.steps[-1].why
    assert same_values(program, found.written, np.random.default_rng(0))


def test_different_gates_on_one_wall_stay_if_that_takes_fewer():
    """relu(x) and a LeakyReLU of x are one neuron and a linear part, which would need more neurons than they are."""
    program = from_layers([([[1, 0], [1, 0], [0, 1]], [0, 0, 1]), ([[1, 2, 3]], [0])])
    stage = replace(program.stages[0], slope_off=rationals([0, Fraction(1, 4), 0]))
    mixed = replace(program, stages=(stage,))
    found = pf.rewrite.irreducible(mixed)
    assert found.program.gates == 2 and rules(found)[0] == "R3"
    assert found.neurons_after == 3 and same_values(mixed, found.written, np.random.default_rng(0))


def test_a_mirror_image_is_enough_where_a_wall_has_the_direction():
    """relu(x) + 2 x + relu(y) as pairs: the linear part goes along a wall that is there."""
    program = from_layers([([[1, 0], [-2, 0], [0, 1], [1, 1], [-1, -1]], [0] * 5), ([[3, -1, 1, 5, -5]], [0])])
    found = pf.rewrite.irreducible(program)
    # 3 relu(x) - 2 relu(-x) + relu(y) + 5 (x + y) = relu(x) + relu(y) + 7 x + 5 y
    assert found.program.gates == 2 and found.linear[0].tolist() == [[7, 5]]
    assert same_values(program, found.written, np.random.default_rng(0)) and found.neurons_after == 4
    along = from_layers([([[1, 0], [-1, 0], [0, 1], [0, 2], [2, 0]], [0] * 5), ([[3, -1, 1, 1, 0]], [0])])
    found = pf.rewrite.irreducible(along)
    assert (found.program.gates, found.neurons_after) == (2, 3)


def test_no_pair_is_needed_if_flips_make_the_linear_part_constant():
    """An opposite pair says x + y linearly; flips of the other two say it as well."""
    program = from_layers([([[-1, 0], [0, -1], [1, 1], [-1, -1]], [0, 1, 0, 0]), ([[1, 1, 1, -1]], [2])])
    found = pf.rewrite.irreducible(program)
    assert found.constant.status == "found" and [str(name) for name in found.constant.neurons] == [
        "relu1[0]",
        "relu1[1]",
    ]
    assert (found.neurons_before, found.neurons_after) == (4, 2) and rules(found) == ["R3", "R1", "flip"]
    assert found.linear[0].tolist() == [[0, 0]] and found.linear[1].tolist() == [3]
    assert same_values(program, found.written, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(40))
def test_flips_are_found_whenever_there_are_some(seed):
    """A network without a linear part, flipped at random: some flips undo it, maybe others than were made."""
    rng = np.random.default_rng([seed, 22])
    neurons, dim, outputs = (int(rng.integers(*ends)) for ends in ((1, 14), (1, 4), (1, 3)))
    program = from_layers(
        [
            (rng.integers(-9, 10, size=(neurons, dim)).tolist(), rng.integers(-9, 10, size=neurons).tolist()),
            (rng.integers(-9, 10, size=(outputs, neurons)).tolist(), [0] * outputs),
        ]
    )
    chosen = tuple(np.flatnonzero(rng.random(neurons) < 0.5).tolist())
    flipped = pf.symmetry.Flip(1, chosen)(program)
    found = constant_linear_part(flipped)
    assert found.status == "found"
    again = pf.symmetry.Flip(1, found.members)(flipped)
    assert 0 not in again.output.terms and same_values(program, again, rng)


def test_rules_by_name_and_reason():
    layers = [
        ([[1.0, 0.0], [0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1.0, 2.0, 3.0, 0.0, 0.0]),
        ([[1.0, 4.0, 2.0, 0.0, 9.0], [0.0, -4.0, 1.0, 0.0, 9.0]], [0.0, 1.0]),
    ]
    found = pf.rewrite.irreducible(layers)
    assert [str(step) for step in found.steps] == [
        "R1: relu1[1]: it reads nothing but its bias; what it adds is now in the output's bias",
        "R1: relu1[3]: all its outgoing weights are zero",
        "R1: relu1[4]: all its incoming weights and its bias are zero",
        "R2: relu1[2], relu1[0]: it sees 3 times what relu1[0] does; it is now part of relu1[0]",
    ]
    assert parts(found.program)[4] == [[7], [3]] and found.linear[1].tolist() == [8, -7]
    assert "5 neurons before, 1 neuron now, on 1 wall" in repr(found)


def test_a_neuron_stays_while_one_output_hears_it():
    layers = [([[1.0], [2.0]], [0.0, 1.0]), ([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0])]
    assert pf.rewrite.irreducible(layers).neurons_after == 2


def test_floats_stay_floats_where_they_can():
    """1/3 would come in if the wrong one of two neurons were kept."""
    found = pf.rewrite.irreducible([([[3.0], [1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    assert not found.rounded and found.neurons_after == 1
    assert pf.rewrite.irreducible([([[3.0], [5.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]).rounded


def test_the_network_keeps_its_names_and_values():
    rng = np.random.default_rng(3)
    W, V = rng.integers(-4, 5, size=(6, 3)) / 4, rng.integers(-4, 5, size=(2, 6)) / 4
    layers = [(np.concatenate([W, 2 * W]), np.zeros(12)), (np.concatenate([V, V], axis=1), np.ones(2))]
    found = pf.rewrite.irreducible(layers)
    assert found.neurons_after == 6 and not found.rounded
    assert [node.name for node in found.network.nodes] == [node.name for node in pf.load(layers).nodes]
    assert pf.equivalent(found.network, layers).word == "equal"


def test_absolute_values_on_a_box():
    """Absolute values say no linear function on R^d; what two of them do on the box is left to one ReLU."""
    program = from_layers([([[1], [2], [1]], [5, 7, 0]), ([[1, 1, 1]], [0])], slope_off=-1)
    everywhere = pf.rewrite.irreducible(program)
    assert everywhere.neurons_after == 3 and not everywhere.steps
    inside = pf.rewrite.irreducible(program, pf.box(-1, 1))
    assert inside.neurons_after == 2 and inside.linear[0].tolist() == [[3]]
    assert all(value(program, [x]) == value(inside.written, [x]) for x in (-1, Fraction(-1, 3), 0, Fraction(2, 7), 1))


def test_absolute_values_and_a_linear_part_on_all_of_space():
    """An absolute value, and three pairs of ReLUs: the pairs' linear part cannot be said by absolute values."""
    rows = [[1, 2], [3, -1], [1, 1], [-1, -1], [2, -1], [-2, 1], [1, 4], [-1, -4]]
    program = from_layers([(rows, [0] * 8), ([[1, 1, 3, 1, 4, 1, 5, 2]], [0])])
    stage = replace(program.stages[0], slope_off=rationals([-1, -1, 0, 0, 0, 0, 0, 0]))
    mixed = replace(program, stages=(stage,))
    found = pf.rewrite.irreducible(mixed)
    assert found.program.gates == 5 and found.neurons_after == 7
    assert same_values(mixed, found.written, np.random.default_rng(0))


def test_neurons_whose_wall_misses_the_domain():
    layers = [([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [5.0, -5.0, 0.0]), ([[1.0, 7.0, 1.0]], [0.0])]
    found = pf.rewrite.irreducible(layers, pf.box(-1, 1))
    assert [str(step) for step in found.steps[:2]] == [
        "domain: relu1[0]: it is on on the whole domain; it is now part of N(x)",
        "domain: relu1[1]: it is off on the whole domain; it adds nothing",
    ]
    assert found.program.gates == 1 and found.neurons_after == 2
    assert pf.equivalent(layers, found.network, pf.box(-1, 1)).word == "equal"


def test_a_domain_that_has_no_end_bounds_some_directions():
    """On x >= 0 the linear part x needs one neuron, y needs two."""
    program = from_layers([([[1, 0], [0, 1], [1, 1], [0, -1], [-1, -1]], [0, 0, 1, 0, -1]), ([[1, 1, 1, -1, 1]], [0])])
    found = pf.rewrite.irreducible(program, pf.polytope([[-1.0, 0.0]], [0.0]))
    rng = np.random.default_rng(1)
    for x, y in points(rng, 2, 30):
        assert value(program, [abs(x), y]) == value(found.written, [abs(x), y])


def test_a_linear_path_stays_one():
    program = from_layers([([[1, 0]], [0]), ([[1]], [0])])
    flipped = pf.symmetry.Flip(1, (0,))(program)
    assert pf.rewrite.irreducible(flipped).constant.members == (0,)
    doubled = pf.symmetry.Rescaling(1, (3,))(flipped)
    output = doubled.output
    path = replace(doubled, output=RationalRows({**output.terms, 0: 2 * output.terms[0]}, output.bias))
    found = pf.rewrite.irreducible(path)
    assert found.constant.status == "none" and 0 in found.written.output.terms and found.neurons_after == 1


def test_networks_without_hidden_layers_are_what_they_are():
    found = pf.rewrite.irreducible([([[1.0, 2.0]], [3.0])])
    assert found.neurons_after == 0 and found.linear[0].tolist() == [[1, 2]] and found.linear[1].tolist() == [3]


def test_other_frameworks_too():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(0.125), torch.nn.Linear(4, 2)).double()
    with torch.no_grad():
        model[0].weight[1] = 2 * model[0].weight[0]
        model[0].bias[1] = 2 * model[0].bias[0]
    found = pf.rewrite.irreducible(model)
    assert found.neurons_after == 3 and rules(found) == ["R2"]
    assert pf.compare.match(model, found.program).word == "equal"
    assert same_values(lower_exactly(pf.load(model)), found.program, np.random.default_rng(0))


def test_bad_questions():
    layers = [([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])]
    with pytest.raises(DomainError, match="slice"):
        pf.rewrite.irreducible(layers, pf.line([0, 0], [1, 1]))
    with pytest.raises(DomainError, match="empty"):
        pf.rewrite.irreducible(layers, pf.polytope([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0]))
    with pytest.raises(LimitError, match="max_seconds=0"):
        pf.rewrite.irreducible(layers, max_seconds=0)
