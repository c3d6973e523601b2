"""Single gates in rationals: what the whole network in rationals says of them."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.random_networks import networks
from polyfold.domain.domain import resolve_domain
from polyfold.domain.points import exact_lift
from polyfold.network import Network
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.single_gates import ExactGates, TooMuchError


def frame(dim: int) -> fmpq_mat:
    """Jets of the parameters at 0: a constant, and a column a parameter."""
    jets = fmpq_mat(dim, dim + 1)
    for k in range(dim):
        jets[k, k + 1] = fmpq(1)
    return jets


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(with_spatial=True))
def test_forms_under_the_pattern_of_a_point(network: Network) -> None:
    """A structured program walked gate by gate, against the written-out one carried through as a whole.

    Small numbers, so that writing out rounds nothing.
    """
    program, whole = lower(network, structured=True), lower(network, structured=False)
    rng = np.random.default_rng(0)
    domain = resolve_domain(
        pf.slice_of(
            rng.integers(-3, 4, network.input_dim),
            rng.integers(-3, 4, (network.input_dim, 1)) * 1.0 + np.eye(network.input_dim, 1) * 9,
        ),
        network.input_dim,
    )
    signs = rng.random(size=(3, program.gates)) < 0.5
    if not program.gates or [s.width for s in program.stages] != [s.width for s in whole.stages]:
        return  # a term that cancels is no dependence once it is written out
    exact, rational = ExactGates(program, domain), RationalProgram(whole)
    for pattern in signs:
        sources, lines = [exact_lift(domain, frame(1))], []
        first = 0
        for stage in rational.stages:
            z = stage.preactivations(sources)
            on = pattern[first : first + z.nrows()].tolist()
            sources.append(stage.outputs(z, on))
            lines += z.tolist()
            first += z.nrows()
        for gate in range(program.gates):
            (form,) = exact.forms(gate, pattern[None])
            assert list(form.coefficients) == lines[gate]
            assert form.vanishes == (not any(lines[gate]))


def test_patterns_that_agree_on_what_matters_share_a_form() -> None:
    layers = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.array([-1.0])), (np.ones((1, 1)), np.zeros(1))]
    program = lower(pf.load(layers))
    signs = np.array([[1, 0, 1], [1, 1, 1], [0, 0, 0]], dtype=bool)
    forms = ExactGates(program, resolve_domain(pf.box(-1, 1), 2)).forms(2, signs)
    assert [form.cells.tolist() for form in forms] == [[0, 1], [2]]
    assert forms[0].coefficients == (-1, 1, 0) and forms[1].coefficients == (-1, 0, 0)
    assert forms[0].at([fmpq(1, 2), fmpq(7)]) == fmpq(-1, 2)


def test_a_gate_that_depends_on_too_much_is_left() -> None:
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(20, 20)), rng.normal(size=20)) for _ in range(3)]
    program = lower(pf.load(layers))
    with pytest.raises(TooMuchError):
        ExactGates(program, resolve_domain(None, 20), products=100).forms(39, np.ones((1, 40), dtype=bool))
