"""One rule for ties, in every arithmetic: a gate whose value is zero is off; only a direction breaks it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from helpers.structured_programs import as_structured
from polyfold.domain.domain import Domain, resolve_domain
from polyfold.exact.bounded_values import exact_values
from polyfold.exact.rational import fraction, rational_matrix
from polyfold.program import Program
from polyfold.program.exact_program import from_program
from polyfold.program.passes import bounded_rows, digits, jets, pulled_back, rational_intervals
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.bounded_layers import bounded_pass, in_floats
from polyfold.program.passes.floats import with_sizes
from polyfold.program.passes.held import pushed
from polyfold.program.passes.influence import influence_of_gates
from polyfold.program.passes.intervals import output_range, ranges
from polyfold.program.passes.linear_bounds import whole_box
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.settled_digits import plan, settle
from polyfold.program.passes.supports import reached
from polyfold.testing.networks import program_from_layers

# A ReLU, a leaky one, one that is turned, and one that is steeper when off: all are zero at X, the first two because
# of terms that cancel, the others because there is no term.
SLOPES = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.0, 0.25, -1.0, 3.0])
WEIGHT = np.array([[1.0, -1.0, 0.0], [2.0, -2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
X = np.array([0.1, 0.1, 0.0])
DIRECTION = np.array([1.0, 0.0, 1.0])
LEADS_ON = np.array([True, True, True, False])


def tied(structured: bool) -> Program:
    readout = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, -1.0, 0.0]])
    program = program_from_layers([(WEIGHT, np.zeros(4)), (readout, np.array([0.5, -0.25]))], slopes=[SLOPES])
    return as_structured(program) if structured else program


@pytest.fixture(params=[True, False], ids=["structured", "written out"])
def program(request: pytest.FixtureRequest) -> Program:
    return tied(request.param)


def test_numbers(program: Program) -> None:
    outputs, signs = program.evaluate(X[None])
    filled = np.ones_like(signs)
    sized, _ = with_sizes(program, X[None], filled)
    passed = RationalProgram(program).forward(rational_matrix(X[:, None]))
    assert not signs.any() and not filled.any() and not any(passed.pattern)
    assert outputs.tolist() == sized.tolist() == [[0.5, -0.25]]
    assert digits.outputs_at(program, resolve_domain(None, 3), X) == [Fraction(1, 2), Fraction(-1, 4)]
    assert [fraction(value) for value in from_program(program).evaluate(X[None])[0]] == [
        Fraction(1, 2),
        Fraction(-1, 4),
    ]


def test_numbers_with_bounds(program: Program) -> None:
    passed = bounded_forward(program, exact_values(X[None]))
    assert not passed.pattern.any()
    # Floats see the zeros that have no term, and say of the others that they do not know.
    assert passed.zero.tolist() == passed.certain.tolist() == [[False, False, True, True]]
    inputs = bounded_rows.rounded(X[None], np.abs(X), 0)
    first = bounded_rows.pre_activations(program.steps.steps[0].affine, {0: inputs}, 1)
    patterns, undecided = bounded_rows.patterns_at(program, inputs, first)
    assert not patterns.any() and set(undecided.gates.tolist()) >= {0, 1}
    settled = settle(program, X, plan(program, X))
    assert not settled.on.any() and settled.proved.all() and settled.zero.all()
    values, errors = bounded_pass(in_floats(from_program(program)), X[None])
    assert (np.abs(values[0]) <= errors[0]).all()


def test_a_direction_breaks_it_and_nothing_else_does(program: Program) -> None:
    exact = RationalProgram(program)
    for way, expected in ((DIRECTION, LEADS_ON), (-DIRECTION, ~LEADS_ON), (np.zeros(3), np.zeros(4, dtype=bool))):
        assert list(exact.forward(rational_matrix(np.column_stack([X, way]))).pattern) == expected.tolist()
        settled = settle(program, X, plan(program, X), way)
        assert settled.on.tolist() == expected.tolist()
        assert settled.zero.all() and (settled.leaves == way.any()).all()


def test_ranges_lose_nothing_at_zero(program: Program) -> None:
    exact = from_program(program)
    layers = in_floats(exact)
    # On the sides of zero that the last two gates end at, they have one slope.
    low, high = np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    for found in (ranges(layers, low, high), whole_box(layers, low, high, ranges(layers, low, high))):
        (least, most) = found[0]
        assert least[2] == 0 and most[3] == 0
        out_low, out_high = output_range(layers, layers.layers[0], (least, most))
        # The turned gate is flat where z >= 0; the steep one goes by its slope of three.
        assert out_low[2] == out_high[2] == 0 and out_low[3] <= -3 < out_low[3] + 1e-9
    in_rationals = rational_intervals.source_ranges(exact, 1, Fraction(0), Fraction(1))[1]
    assert (in_rationals.lower[2], in_rationals.upper[2]) == (0, 0)
    assert (in_rationals.lower[3], in_rationals.upper[3]) == (-3, 0)


def test_a_pattern_that_is_held_decides_by_itself(program: Program) -> None:
    domain = Domain(X, DIRECTION[:, None], np.zeros((0, 3)), np.zeros(0), np.zeros((0, 1)), np.zeros(0))
    for signs in (np.zeros((1, 4), dtype=bool), np.ones((1, 4), dtype=bool), LEADS_ON[None]):
        slope = np.where(signs[0], *SLOPES)
        rate = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, -1.0, 0.0]]) @ (slope * (WEIGHT @ DIRECTION))
        # At a tie all sides have one value, and each has its own map.
        *_, outputs = pushed(program, signs, X[None])
        *_, changes = pushed(program, signs, DIRECTION[None], linear=True)
        assert outputs.tolist() == [[0.5, -0.25]] and changes[0].tolist() == rate.tolist()
        A, c = pulled_back.output_forms(program, signs)
        assert (A[0] @ DIRECTION).tolist() == rate.tolist() and c.tolist() == [[0.5, -0.25]]
        slopes, values = jets.parameter_maps(program, domain, signs)
        assert slopes[0, :, 0].tolist() == rate.tolist() and values.tolist() == [[0.5, -0.25]]
        rows = digits.maps_of(program, domain, signs)
        assert [digits.fraction(rows, 1, k) for k in range(2)] == [Fraction(each) for each in rate.tolist()]
        free = np.zeros(4, dtype=bool)
        *_, touched = reached(program, np.ones((1, 3), dtype=bool), signs[0], free)
        assert touched[0, 0] and touched[0, 1] == bool(slope[[0, 2]].any())
        found = influence_of_gates(program, signs, np.array([0]), np.zeros((1, 4), dtype=bool))
        assert found.values.tolist() == [[1.0, 1.0]] and (found.errors < 1e-12).all()
