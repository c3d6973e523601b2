"""Signs that are settled in digits are those of rational arithmetic, or they are not called proved."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.exact.bounded_values import exact_values
from polyfold.exact.rational import rational_matrix
from polyfold.network import Network
from polyfold.network.load import load
from polyfold.program.lower.lower import lower, written_out
from polyfold.program.passes import settled_digits as settling
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.settled_digits import Plan, Settled, plan, settle
from polyfold.program.program import Program
from polyfold.testing import generated_case

QUICK = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def truth(program: Program, x: np.ndarray, way: np.ndarray | None = None) -> Settled:
    columns = x[:, None] if way is None else np.column_stack([x, way])
    lines = RationalProgram(program).forward(rational_matrix(columns)).preactivations
    on = [next((entry > 0 for entry in line if entry != 0), False) for line in lines]
    zero = np.array([line[0] == 0 for line in lines], dtype=bool)
    leaves = zero & np.array([any(line) for line in lines], dtype=bool)
    return Settled(np.array(on, dtype=bool), np.ones(len(lines), dtype=bool), zero, leaves)


def agree(found: Settled, true: Settled) -> None:
    """Everything is proved, and right."""
    assert found.proved.all()
    for name in ("on", "zero", "leaves"):
        assert (getattr(found, name) == getattr(true, name)).all(), name


@QUICK
@given(networks(with_spatial=True))
def test_structured_programs(network: Network) -> None:
    """Their coefficients are small dyadic numbers, so that writing them out rounds nothing."""
    program = lower(network, structured=True)
    plain = written_out(program)
    way = np.random.default_rng(0).normal(size=program.input_dim)
    for x in (np.zeros(program.input_dim), np.arange(program.input_dim) % 3 - 1.0, way * 0.3):
        planned = plan(program, x)
        agree(settle(program, x, planned), truth(plain, x))
        agree(settle(program, x, planned, way), truth(plain, x, way))


@pytest.mark.parametrize("seed", range(40))
def test_degenerate_programs(seed: int) -> None:
    program = generated_case(seed).program
    rng = np.random.default_rng(seed)
    for x in (np.zeros(program.input_dim), rng.normal(size=program.input_dim), rng.integers(-1, 2, program.input_dim)):
        agree(settle(program, x.astype(float), plan(program, x.astype(float))), truth(program, x.astype(float)))


def deep(layers: int, width: int) -> Program:
    rng = np.random.default_rng(0)
    widths = [5, *([width] * layers), 1]
    scale = np.sqrt(2 / width)
    return lower(load([(rng.normal(size=(b, a)) * scale, 0.1 * rng.normal(size=b)) for a, b in pairwise(widths)]))


def test_where_floats_prove_nothing() -> None:
    program = deep(120, 16)
    x = np.random.default_rng(1).normal(size=5)
    floats = bounded_forward(program, exact_values(x[None, :]))
    assert (~floats.certain).sum() > 200
    agree(settle(program, x, plan(program, x)), truth(program, x))


def test_a_coarse_cut_leaves_signs_unproved_but_never_wrong(monkeypatch: Any) -> None:
    monkeypatch.setattr(settling, "_KEPT", 1)
    program = deep(30, 12)
    unproved = []
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=5)
        planned = plan(program, x)
        for coarser in range(4):
            cuts = tuple(min(cut + coarser * 2, 0) for cut in planned.cuts)
            found = settle(program, x, Plan(planned.bits, cuts, 0, 0))
            true = truth(program, x)
            assert (found.on == true.on)[found.proved].all()
            assert not (found.zero & ~true.zero).any()
            unproved.append(int((~found.proved).sum()))
    assert unproved[0] == 0 and max(unproved) > 100
