"""The rational forward pass against floats, and where floats are wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy import sparse

from polyfold.exact.rational import rational, rational_matrix
from polyfold.network.ops.convolve import Window
from polyfold.program.affine import Structured
from polyfold.program.forms import Applied, Entries, Scaled
from polyfold.program.operators import Convolved, Matrix, Sparse
from polyfold.program.origins import GateOrigin
from polyfold.program.passes.rationals import RationalProgram, RationalTerms, evaluate_exactly
from polyfold.program.program import Program, Stage
from polyfold.testing import generated_case, program_from_layers


def test_agrees_with_the_float_forward_pass():
    rng = np.random.default_rng(0)
    for seed in range(40):
        program = generated_case(seed).program
        x = rng.normal(size=program.input_dim)
        exact = evaluate_exactly(program, [rational(value) for value in x])
        outputs, pattern = program.evaluate(x[None, :])
        np.testing.assert_allclose([float(y.p) / float(y.q) for y in exact.outputs], outputs[0], atol=1e-9)
        clear = np.array([abs(z) > fmpq(1, 10**9) for z in exact.preactivations])
        assert (np.array(exact.pattern)[clear] == pattern[0][clear]).all()


def test_decides_where_floats_round_to_zero():
    program = program_from_layers([([[1.0, 1.0, 1.0]], [0.0]), ([[1.0]], [0.0])])
    point = [1e17, 1.0, -1e17]
    assert not program.evaluate(np.array([point]))[1].all()
    exact = evaluate_exactly(program, [rational(value) for value in point])
    assert exact.pattern == (True,)
    assert exact.outputs == [1]


def test_a_second_column_looks_just_beside_the_point():
    program = program_from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.5])])
    exact = RationalProgram(program)
    for direction, pattern in ((1, (True, False)), (-1, (False, True)), (0, (False, False))):
        passed = exact.forward(fmpq_mat(1, 2, [fmpq(0), fmpq(direction)]))
        assert passed.pattern == pattern
        assert passed.outputs == [[fmpq(1, 2), fmpq(abs(direction))]]


def operators():
    """One of every kind, with numbers whose products floats would round."""
    rng = np.random.default_rng(1)
    few = sparse.random_array((5, 12), density=0.3, rng=rng, format="csr")
    yield Matrix(rng.normal(size=(3, 4)))
    yield Matrix(rng.normal(size=(3, 4)), groups=3)
    yield Sparse(few)
    kernel = rng.normal(size=(4, 2, 2, 3))
    window = Window((2, 1), ((1, 0), (2, 1)), (1, 2), groups=2)
    for turned in (False, True):
        yield Convolved(kernel, window, (3, 5), turned)
    yield Convolved(rng.normal(size=(2, 1, 2)), Window((1,), ((0, 0),), (1,)), (6,))


@pytest.mark.parametrize("operator", list(operators()), ids=lambda operator: type(operator).__name__)
def test_operators_are_applied_without_rounding(operator):
    # Every entry of its matrix is a coefficient: unit vectors are mapped without rounding.
    matrix = operator.apply(np.eye(operator.columns)).T
    value = np.random.default_rng(2).normal(size=(operator.columns, 2))
    expected = [
        [sum((Fraction(w) * Fraction(x) for w, x in zip(row, column, strict=True)), Fraction(0)) for column in value.T]
        for row in matrix.tolist()
    ]
    terms = RationalTerms()
    for _ in range(2):  # the second time with the coefficients that were kept
        found = terms.through(operator, rational_matrix(value)).tolist()
        assert [[Fraction(int(x.p), int(x.q)) for x in line] for line in found] == expected


def test_coefficients_are_not_multiplied_as_floats():
    tenth, third = 0.1, 1 / 3
    form = Scaled(np.full(1, third), Applied(Matrix(np.array([[tenth]])), Entries(0, 0, 1)))
    stage = Stage(Structured(form, np.array([-(tenth * third)]), (1,)), np.ones(1), np.zeros(1))
    output = Structured(Entries(1, 0, 1), np.zeros(1), (1, 1))
    program = Program(1, (stage,), output, (GateOrigin("relu", (0,)),))
    exact = evaluate_exactly(program, [fmpq(1)])
    gap = rational(tenth) * rational(third) - rational(tenth * third)
    assert exact.preactivations == [gap] and gap != 0
