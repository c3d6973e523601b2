"""match: the transformation between networks that are equal, a point where others differ, on thousands of networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from helpers.generated_two_layer import fractions, random_program
from helpers.slow_params import quick_then_slow
from helpers.two_layer_in_fractions import parts, same_values, value
from polyfold.errors import NetworkError, PolyfoldError, ShapeError
from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import from_layers
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.symmetry.transformations import (
    Composition,
    Flip,
    Permutation,
    Rescaling,
    Transformation,
    random_transformation,
)

BATCHES = 10
EACH = 100
ALL = ("permutation", "rescaling", "flip")


def transformed(rng, program):
    """The same function: other order, factors (also such as 7/3) and sides."""
    moved = random_transformation(program, int(rng.integers(2**31)), kinds=ALL)(program)
    if moved.stages:
        factors = [Fraction(int(n), int(d)) for n, d in rng.integers(1, 8, size=(moved.stages[0].width, 2))]
        moved = Rescaling(1, factors)(moved)
    return moved


@pytest.mark.parametrize("batch", quick_then_slow(range(BATCHES), quick=3))
def test_transformed_networks_are_taken_to_each_other(batch):
    """1,000 networks: reduced, transformed and matched; the transformation found makes one of the other, exactly."""
    for number in range(EACH):
        rng = np.random.default_rng([batch, number, 1])
        network = random_program(rng, mixed=number % 4 == 0)
        reduced = pf.rewrite.irreducible(network).program
        other = transformed(rng, reduced if number % 2 else network)
        found = pf.compare.match(network, other)
        assert found and found.word == "equal" and found.point is None, number
        assert isinstance(found.transformation, Transformation)
        assert parts(found.transformation(found.first)) == parts(found.second), number
        assert same_values(network, found.first, rng, 6) and same_values(other, found.second, rng, 6), number
        assert same_values(network, other, rng, 6)
        if number % 2:  # other is irreducible, so match has not touched it
            assert parts(found.second) == parts(other) and not found.second_steps


def perturbed(rng, program):
    """Another function: one number of an irreducible form is changed, by much or by very little."""
    change = fmpq(int(rng.choice([-1, 1])), int(rng.choice([1, 3, 2**20, 10**30])))
    output, stages = program.output, program.stages
    places = ["path", "bias", *(["weight", "offset", "sent"] if stages else [])]
    place = places[int(rng.integers(len(places)))]
    row = int(rng.integers(output.size))
    if place == "bias":
        bias = output.bias.copy()
        bias[row] += change
        return replace(program, output=RationalRows(output.terms, bias))
    if place in ("path", "sent"):
        source, width = (0, program.input_dim) if place == "path" else (1, stages[0].width)
        matrix = output.terms.get(source, rationals([[0] * width] * output.size)).copy()
        matrix[row, int(rng.integers(width))] += change
        return replace(program, output=RationalRows({**output.terms, source: matrix}, output.bias))
    rows = stages[0].rows
    weights, offsets = rows.terms[0].copy(), rows.bias.copy()
    k = int(rng.integers(stages[0].width))
    if place == "weight":
        weights[k, int(rng.integers(program.input_dim))] += change
    else:
        offsets[k] += change
    return replace(program, stages=(replace(stages[0], rows=RationalRows({0: weights}, offsets)),))


@pytest.mark.parametrize("batch", quick_then_slow(range(BATCHES), quick=3))
def test_perturbed_networks_have_a_witness(batch):
    """1,000 pairs that differ in one number: a point every time, and both values at it are right."""
    for number in range(EACH):
        rng = np.random.default_rng([batch, number, 2])
        network = random_program(rng, mixed=number % 4 == 0)
        other = transformed(rng, perturbed(rng, pf.rewrite.irreducible(network).program))
        found = pf.compare.match(network, other)
        assert not found and found.word == "different" and found.transformation is None, number
        one, another = value(network, found.point), value(other, found.point)
        assert one != another and found.values == (one, another), number
        assert found.reason and "DIFFERENT" in repr(found)


@pytest.mark.parametrize("seed", range(40))
def test_unrelated_networks_differ(seed):
    rng = np.random.default_rng([seed, 3])
    a = random_program(rng, dim=2, outputs=2)
    b = random_program(rng, dim=2, outputs=2)
    found = pf.compare.match(a, b)
    equal = same_values(a, b, rng, 40)
    assert found.word == ("equal" if equal else "different")
    if not equal:
        assert value(a, found.point) != value(b, found.point)


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_equivalent(seed):
    rng = np.random.default_rng([seed, 6])
    dim, outputs, neurons = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 6))
    W, b = rng.integers(-4, 5, size=(neurons, dim)) / 2, rng.integers(-4, 5, size=neurons) / 2
    V, c = rng.integers(-4, 5, size=(outputs, neurons)) / 2, rng.integers(-2, 3, size=outputs) / 1
    order, factors = rng.permutation(neurons), 2.0 ** rng.integers(-3, 4, size=neurons)
    other = [(W[order] * factors[:, None], b[order] * factors), (V[:, order] / factors, c)]
    if seed % 2:
        other[1][0][0, 0] += 0.125
    verdict = pf.compare.match([(W, b), (V, c)], other).word
    assert verdict == pf.equivalent([(W, b), (V, c)], other).word


def test_different_gates_are_compared_as_relus():
    """|x| as an absolute value, and as two ReLUs."""
    absolute = from_layers([([[2]], [0]), ([[1]], [0])], slope_off=-1)
    relus = from_layers([([[1], [-1]], [0, 0]), ([[2, 2]], [0])])
    found = pf.compare.match(absolute, relus)
    assert found.word == "equal"
    assert parts(found.transformation(found.first)) == parts(found.second)
    assert set(found.first.stages[0].slope_off.tolist()) == {0}


def test_linear_networks():
    a, b = [([[1.0, 2.0]], [3.0])], [([[1.0, 2.0]], [4.0])]
    assert pf.compare.match(a, a).transformation == Composition(())
    found = pf.compare.match(a, b)
    assert found.word == "different" and found.values == ((3,), (4,)) and found.point == (0, 0)
    found = pf.compare.match(a, [([[1.0, 5.0]], [3.0])])
    assert found.point == (0, 1) and found.values == ((5,), (8,))


def test_walls_that_all_meet_where_one_looks_first():
    """The point nearest to the origin lies on every wall, and on walls through it in all directions."""
    rng = np.random.default_rng(8)
    rows = [list(map(int, row)) for row in rng.integers(-3, 4, size=(30, 3)) if any(row)]
    a = from_layers([(rows, [0] * len(rows)), ([[1] * len(rows)], [0])])
    b = from_layers([(rows, [0] * len(rows)), ([[2, *[1] * (len(rows) - 1)]], [0])])
    found = pf.compare.match(a, b)
    assert value(a, found.point) != value(b, found.point)


def test_the_point_is_one_of_floats_if_that_is_enough():
    found = pf.compare.match(from_layers([([[3]], [1]), ([[1]], [0])]), from_layers([([[3]], [1]), ([[2]], [0])]))
    assert all(Fraction(float(entry)) == entry for entry in found.point)
    assert found.x.tolist() == [float(entry) for entry in found.point]


def test_what_a_result_says():
    a = from_layers([([[1, 0], [0, 1], [-1, -1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    b = from_layers([([[0, -2], [-1, 0], [1, 1]], [0, 0, 0]), ([[Fraction(1, 2), 1, 1]], [0])])
    assert repr(pf.compare.match(a, b)) == "Match: EQUAL, proved; 3 neurons in common, reordered, rescaled, 3 flipped"
    assert repr(pf.compare.match(a, a)) == "Match: EQUAL, proved; 3 neurons in common, as they are"
    wide = [(np.eye(40), np.zeros(40)), (np.ones((1, 40)), np.zeros(1))]
    assert "... 40 numbers)" in repr(pf.compare.match(wide, [wide[0], (2 * wide[1][0], np.zeros(1))]))


# -- with a tolerance


def noisy(rng, layers, size):
    return [tuple(array * (1 + size * rng.uniform(-1, 1, array.shape)) for array in pair) for pair in layers]


@pytest.mark.parametrize("seed", range(30))
def test_noise_is_matched_within_a_tolerance_and_not_called_equal(seed):
    rng = np.random.default_rng([seed, 7])
    dim, neurons, outputs = (int(rng.integers(*ends)) for ends in ((1, 6), (1, 12), (1, 4)))
    first = rng.normal(size=(neurons, dim)), rng.normal(size=neurons)
    layers = [first, (rng.normal(size=(outputs, neurons)), rng.normal(size=outputs))]
    order, factors = rng.permutation(neurons), rng.uniform(0.1, 10, size=neurons)
    (W, b), (V, c) = noisy(rng, layers, 1e-9)
    other = [(W[order] * factors[:, None], b[order] * factors), (V[:, order] / factors, c)]
    found = pf.compare.match(layers, other, tolerance=1e-6)
    assert not found and found.word == "matched" and 0 < found.deviation < 1e-7
    assert "not equal" in repr(found) and "EQUAL, proved" not in repr(found)
    permutations = [step.order for step in found.transformation.steps if isinstance(step, Permutation)]
    assert permutations == ([tuple(order.tolist())] if list(order) != sorted(order) else [])
    # The transformation itself is exact: what it makes of the first is the first's function.
    assert same_values(found.transformation(found.first), found.first, rng)
    W2, b2, *_, V2, _, c2 = parts(found.transformation(found.first))
    W1, b1, *_, V1, _, c1 = parts(found.second)
    for one, another in ((W2, W1), (V2, V1), ([b2], [b1]), ([c2], [c1])):
        one, another = np.array(one, dtype=float), np.array(another, dtype=float)
        assert np.abs(one - another).max() <= 1e-7 * np.abs(another).max()
    # And they are different functions, which the point shows.
    assert value(found.first, found.point) != value(found.second, found.point)
    assert pf.compare.match(layers, other).word == "different"
    assert pf.compare.match(layers, other, tolerance=1e-13).word == "different"


def test_flips_within_a_tolerance():
    a = from_layers([([[1, 0], [0, 1], [-1, -1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    b = from_layers([([[-1, 0], [0, -1], [1, Fraction(1000001, 1000000)]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    found = pf.compare.match(a, b, tolerance=1e-5)
    assert found.word == "matched" and Flip(1, (0, 1, 2)) in found.transformation.steps
    assert 1e-7 < found.deviation < 1e-6


def test_linear_parts_that_are_far_apart_do_not_match():
    a = from_layers([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    b = from_layers([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [3])])
    found = pf.compare.match(a, b, tolerance=0.01)
    assert found.word == "different" and "linear parts deviate" in found.reason


def test_other_widths_do_not_match():
    a = from_layers([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    b = from_layers([([[1, 0]], [0]), ([[1]], [0])])
    found = pf.compare.match(a, b, tolerance=0.5)
    assert found.word == "different" and "do not match" in found.reason


def test_equal_is_still_proved_with_a_tolerance():
    a = from_layers([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    assert pf.compare.match(a, Permutation(1, (1, 0))(a), tolerance=0.1).word == "equal"


# -- what cannot be asked


def test_deep_networks_are_for_equivalent():
    deep = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    with pytest.raises(NetworkError, match=r"2 layers of gates behind each other: relu1, relu2\. .* pf\.equivalent"):
        pf.compare.match(deep, deep)
    with pytest.raises(NetworkError, match=r"pf\.reduce"):
        pf.rewrite.irreducible(deep)


def test_shapes_must_agree():
    one, two = [(np.ones((1, 2)), np.zeros(1))], [(np.ones((1, 3)), np.zeros(1))]
    with pytest.raises(ShapeError, match="2 inputs and 1 output / 3 inputs and 1 output"):
        pf.compare.match(one, two)


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf"), "small", True, None])
def test_tolerances_must_be_numbers(tolerance):
    with pytest.raises(PolyfoldError, match="tolerance="):
        pf.compare.match([([[1.0]], [0.0])], [([[1.0]], [0.0])], tolerance=tolerance)


def test_generated_networks_are_of_all_kinds():
    """What the thousands above are made of: so that a change of the generator cannot make them easy unnoticed."""
    seen = set()
    for number in range(300):
        rng = np.random.default_rng([number, 9])
        program = random_program(rng)
        found = pf.rewrite.irreducible(program)
        seen |= {step.rule for step in found.steps} | {("inputs", program.input_dim), ("outputs", program.output_dim)}
        seen |= {("off", str(slope)) for stage in program.stages for slope in stage.slope_off.tolist()}
        seen.add(("constant", found.constant.status))
        if 0 in program.output.terms:
            seen.add("path")
    assert {"R1", "R2", "R3", "flip", "path"} <= seen
    assert {("inputs", d) for d in range(1, 5)} | {("outputs", m) for m in range(1, 4)} <= seen
    assert {("off", slope) for slope in ("0", "1/4", "-1/2", "-1", "2")} <= seen
    assert {("constant", "found"), ("constant", "none")} <= seen
    assert fractions(np.random.default_rng(0), 2, 3).shape == (2, 3)
