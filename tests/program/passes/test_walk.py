"""The walk: every step once, in order; values are there as long as somebody reads them, and not longer."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.random_networks import networks
from helpers.slow_params import examples
from helpers.structured_programs import with_shared_values
from polyfold.network import Network
from polyfold.program.affine import Affine
from polyfold.program.exact_program import from_program
from polyfold.program.lower.lower import lower
from polyfold.program.passes.bounded_layers import in_floats
from polyfold.program.passes.walk import StageByStage, outputs, walk, walk_back
from polyfold.program.program import Program
from polyfold.program.steps import forgotten_by

QUICK = settings(max_examples=examples(24), deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Value:
    """Rows of floats that can be watched."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows


class Noting:
    """Floats; notes what it is asked, and which values live while a step is computed."""

    def __init__(self, program: Any) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.made: list[weakref.ref[Value]] = []
        self.alive: list[set[int]] = []
        self._numbers = {id(affine): k for k, affine in enumerate(program.steps.affines)}

    def affine(self, affine: Affine, values: Sequence[Value]) -> Value:
        number = self._numbers[id(affine)]
        self.calls.append(("affine", number))
        self.alive.append({k for k, value in enumerate(self.made) if value() is not None})
        return Value(affine([value.rows for value in values]))

    def decide(self, gates: Any, z: Value) -> np.ndarray:
        self.calls.append(("decide", gates.number))
        return z.rows > 0

    def output(self, gates: Any, z: Value, on: np.ndarray) -> Value:
        self.calls.append(("output", gates.number))
        made = Value(z.rows * np.where(on, gates.stage.slope_on, gates.stage.slope_off))
        self.made.append(weakref.ref(made))
        return made

    def nothing(self, inputs: Value) -> Value:
        return Value(inputs.rows[:, :0])


@QUICK
@given(networks(with_spatial=True))
@pytest.mark.parametrize("structured", [True, False])
def test_it_asks_for_every_step_once_in_order(structured: bool, network: Network) -> None:
    program = lower(network, structured=structured)
    X = np.random.default_rng(0).normal(size=(3, program.input_dim))
    for walked in (program, StageByStage(program)):
        by, patterns = Noting(walked), [np.zeros((3, 0), dtype=bool)]
        for at in walk(walked, by, Value(X)):
            if at.gates is not None:
                assert at.gates.stage is program.stages[at.gates.number]
                assert at.gates.numbers == program.gates_of(at.gates.number)
                patterns.append(at.decided)
        expected, signs = program.evaluate(X)
        np.testing.assert_allclose(at.z.rows, expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max(initial=0)))
        assert at.gates is None and at.decided is None
        steps = walked.steps
        assert [number for what, number in by.calls if what == "affine"] == list(range(len(steps.steps) + 1))
        for kind in ("decide", "output"):
            assert [number for what, number in by.calls if what == kind] == list(range(len(program.stages)))
        if walked is program:
            assert (np.concatenate(patterns, axis=1) == signs).all()


@pytest.mark.parametrize("seed", range(3))
def test_what_stages_put_out_lives_until_its_last_reader_has_it(seed: int) -> None:
    program = with_shared_values(seed)
    steps = program.steps
    assert any(step.stage is None for step in steps.steps)
    by = Noting(program)
    outputs(program, by, Value(np.ones((2, 3))))
    values = steps.value_of_source[1:]
    for number, alive in enumerate(by.alive):
        needed = {k for k, value in enumerate(values) if value <= number <= steps.last_reader[value]}
        assert alive == needed


def test_the_table_says_what_is_read_for_the_last_time_where() -> None:
    # Value 1 is read by steps 1 and 3 (from 0), 2 by none, 3 by the output.
    assert forgotten_by([3, 3, -1, 4, 3]) == ((), (2,), (), (1, 4))
    program = with_shared_values(0)
    table = program.steps.last_read_by
    assert len(table) == len(program.steps.steps)
    assert sorted(value for row in table for value in row) == [
        value for value, last in enumerate(program.steps.last_reader) if value and last < len(table)
    ]


def test_a_caller_may_stop_and_the_first_step_may_be_known() -> None:
    program = with_shared_values(1)
    X = np.random.default_rng(1).normal(size=(4, 3))
    by = Noting(program)
    (at,) = islice(walk(program, by, Value(X)), 1)
    assert at.gates is not None and at.gates.number == 0
    assert ("output", 0) not in by.calls
    first = Value(program.steps.steps[0].affine([X]))
    again = Noting(program)
    found = [each.z.rows for each in walk(program, again, Value(X), first=first)]
    assert ("affine", 0) not in again.calls
    np.testing.assert_array_equal(found[-1], program.evaluate(X)[0])


def test_a_push_on_one_step_leaves_out_what_it_does_not_reach() -> None:
    program = with_shared_values(2)
    by = Noting(program)
    last = program.steps.value_of_source[-1]
    with pytest.raises(ValueError, match=r"matmul|dimension|shape"):  # what was not reached is nothing, not zeros
        outputs(program, by, Value(np.ones((1, 4))), start=last)
    assert by.calls == [("affine", len(program.steps.steps))]


class Counting:
    """Coefficients as floats; notes the stages that it passes."""

    def __init__(self) -> None:
        self.passed: list[int] = []

    def through(self, gates: Any, rows: np.ndarray) -> np.ndarray:
        self.passed.append(gates.number)
        return rows * gates.stage.slope_on

    def pull(self, affine: Affine, rows: np.ndarray) -> dict[int, np.ndarray]:
        return affine.pull(rows)

    def plus(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return one + other


def test_going_back_ends_at_the_inputs() -> None:
    program = with_shared_values(0)
    by = Counting()
    found = walk_back(program, by, dict(program.steps.output.rows(np.arange(2))))
    assert by.passed == [1, 0] and found is not None
    # All gates on: the same as pushing unit vectors forward.
    rows = np.eye(3)
    values = [rows]
    for number, affine in enumerate(program.affines):
        z = affine.linear(values)
        values.append(z * program.stages[number].slope_on if number < len(program.stages) else z)
    np.testing.assert_allclose(found, values[-1].T, atol=1e-12)
    assert walk_back(program, Counting(), {}) is None


def test_exact_programs_and_layers_are_walked_the_same_way() -> None:
    program: Program = with_shared_values(3)
    exact = from_program(program)
    layers = in_floats(exact)
    for walked in (exact, layers):
        assert [walked.gates_of(k) for k in range(2)] == [program.gates_of(k) for k in range(2)]
        assert [step.stage for step in walked.steps.steps] == [0, 1]
        assert walked.steps.output.sources == program.output.sources
    assert not in_floats(exact, 1).output.width
