"""The rational forward pass against floats, and where floats are wrong."""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat

from polyfold.exact.evaluate import RationalProgram, evaluate_exactly
from polyfold.exact.rational import rational
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
