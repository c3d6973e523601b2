"""Gates that decide the class: tournaments of every size, written out and structured, without rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq

from polyfold.network.load import load
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import evaluate_exactly


def random_network(outputs: int):
    rng = np.random.default_rng(outputs)
    widths = [3, 6, 5, outputs]
    return load([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)])


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("outputs", range(1, 12))
def test_the_largest_output_wins(outputs, structured):
    program = lower(random_network(outputs), structured=structured)
    found = with_classes(program, 0.125 if outputs == 1 else 0.0)
    X = np.random.default_rng(0).normal(size=(500, 3))
    values, signs = found.program.evaluate(X)
    assert np.array_equal(values, program.evaluate(X)[0])
    expected = (values[:, 0] > 0.125).astype(int) if outputs == 1 else values.argmax(axis=1)
    assert np.array_equal(found.winners(signs), expected)
    assert found.program.written_out == (not structured)
    assert found.classes == max(2, outputs)
    extra = found.program.gates - program.gates
    assert extra in (max(1, outputs - 1), max(1, outputs - 1) + 1)  # one a match, and perhaps one that is always on
    assert signs[:, : program.gates].tolist() == program.evaluate(X)[1].tolist()


def test_names_of_gates():
    found = with_classes(lower(random_network(3)))
    names = [str(origin) for origin in found.program.origins[-2:]]
    assert names == ["class[].max(0,1)", "class[].max(0-1,2)"]
    assert str(found.program.origins[0]) == str(found.original.origins[0])
    with pytest.raises(IndexError):
        found.program.origins[found.program.gates]
    assert str(with_classes(lower(random_network(1))).program.origins[-1]) == "class[].above threshold"


@pytest.mark.parametrize("outputs", [1, 3, 5])
def test_gates_are_the_exact_differences(outputs):
    program = lower(random_network(outputs))
    found = with_classes(program, 0.1 if outputs == 1 else 0.0)
    for x in np.random.default_rng(1).normal(size=(10, 3)):
        point = [fmpq(*Fraction(number).as_integer_ratio()) for number in x.tolist()]
        outcome = evaluate_exactly(found.program, point)
        y = outcome.outputs
        assert y == evaluate_exactly(program, point).outputs
        if outputs == 1:
            assert outcome.preactivations[-1] == y[0] - fmpq(*Fraction(0.1).as_integer_ratio())
        else:
            *_, last = outcome.preactivations
            rounds = [match for matches in found.rounds for match in matches]
            first, challenger = (
                max(y[k] for k in group) for group in (rounds[-1].first_group, rounds[-1].challenger_group)
            )
            assert last == challenger - first
        assert found.winners(np.array([outcome.pattern]))[0] == (
            int(y[0] > fmpq(*Fraction(0.1).as_integer_ratio())) if outputs == 1 else y.index(max(y))
        )


def test_several_blocks_on_one_source_add_up():
    affine = WrittenOut((Block(0, np.eye(2)), Block(1, np.ones((2, 1))), Block(0, 2 * np.eye(2))), np.zeros(2))
    rows = np.array([[1.0, 10.0]])
    assert {source: part.tolist() for source, part in affine.pull(rows).items()} == {0: [[3.0, 30.0]], 1: [[11.0]]}
    assert affine.rows(np.array([1]))[0].tolist() == [[0.0, 3.0]]
    sources = [np.array([[1.0, 2.0]]), np.array([[5.0]])]
    assert affine(sources).tolist() == [[8.0, 11.0]]


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("outputs", [1, 2, 3, 5])
def test_two_tournaments_in_one_program(outputs, structured):
    # The second network is the first with its inputs turned round, so that classes differ.
    layers = [(node.op.weight, node.op.bias) for node in random_network(outputs).nodes[::2]]
    turned = [(-layers[0][0], layers[0][1]), *layers[1:]]
    a, b = (lower(load(pairs), structured=structured) for pairs in (layers, turned))
    first = with_classes(side_by_side(a, b), 0.125, range(outputs))
    second = with_classes(first.program, -0.25, range(outputs, 2 * outputs))
    X = np.random.default_rng(0).normal(size=(300, 3))
    _, signs = second.program.evaluate(X)
    for found, program, threshold in ((first, a, 0.125), (second, b, -0.25)):
        y = program.evaluate(X)[0]
        expected = (y[:, 0] > threshold).astype(int) if outputs == 1 else y.argmax(axis=1)
        assert np.array_equal(found.winners(signs), expected) and found.classes == max(2, outputs)
