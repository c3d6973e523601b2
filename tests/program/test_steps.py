"""Programs in steps: the same numbers as stage by stage, and what several stages read is computed once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.datasets.convolutional import mnist_conv
from polyfold.network import Network
from polyfold.network.ops.convolve import Window
from polyfold.program import Program
from polyfold.program.forms import Applied, Entries, Form, Taken
from polyfold.program.lower.lower import lower
from polyfold.program.operators import Convolved, Matrix, Operator

QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def stage_by_stage(program: Program, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs, and the values of all gates."""
    sources, gates = [X], [np.zeros((len(X), 0))]
    for stage in program.stages:
        z = stage.affine(sources)
        gates.append(z)
        sources.append(z * np.where(z > 0, stage.slope_on, stage.slope_off))
    return program.output(sources), np.concatenate(gates, axis=1)


@QUICK
@given(networks(with_spatial=True))
def test_steps_compute_the_program(network: Network) -> None:
    X = np.random.default_rng(0).normal(size=(9, network.input_dim))
    for structured in (True, False):
        program = lower(network, structured=structured)
        outputs, signs = program.evaluate(X)
        expected, gates = stage_by_stage(program, X)
        np.testing.assert_allclose(outputs, expected, rtol=1e-12, atol=1e-12 * (1 + np.abs(expected).max(initial=0)))
        clear = np.abs(gates) > 1e-9 * (1 + np.abs(gates).max(initial=0))
        assert (signs == (gates > 0))[clear].all()
        steps = program.steps
        assert [step.stage for step in steps.steps if step.stage is not None] == list(range(len(program.stages)))
        assert steps.value_of_source[0] == 0 and len(steps.value_of_source) == len(program.stages) + 1


def operators_of(form: Form) -> list[int]:
    own = [id(form.operator)] if isinstance(form, Applied) else []
    return own + [each for part in form.parts for each in operators_of(part)]


def test_the_rounds_of_a_pool_share_their_convolution() -> None:
    program = lower(mnist_conv())
    in_stages = [each for affine in program.affines for each in operators_of(affine.form)]
    in_steps = [each for affine in program.steps.affines for each in operators_of(affine.form)]
    assert len(set(in_stages)) == 4 < len(in_stages)
    assert sorted(in_steps) == sorted(set(in_stages))


@pytest.mark.parametrize(
    "operator",
    [
        Matrix(np.random.default_rng(0).normal(size=(3, 2)), 2),
        *(
            Convolved(
                np.random.default_rng(1).normal(size=(4, 3, 2, 3)),
                Window(stride=(2, 1), padding=((1, 0), (2, 1)), dilation=(1, 2), groups=2),
                (5, 6),
                turned,
            )
            for turned in (False, True)
        ),
    ],
)
def test_rows_of_operators(operator: Operator) -> None:
    whole = operator.pull(np.eye(operator.rows))
    for number in range(operator.rows):
        columns, values = operator.row(number)
        assert len(set(columns.tolist())) == len(columns)
        row = np.zeros(operator.columns)
        row[columns] = values
        np.testing.assert_array_equal(row, whole[number])


def test_what_is_not_there_cannot_be_taken() -> None:
    with pytest.raises(IndexError, match="entries 0 to 3 cannot be taken of 3"):
        Taken(np.array([0, 3]), Entries(0, 0, 3))
