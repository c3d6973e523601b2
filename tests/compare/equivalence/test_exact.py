"""The exact maximal difference, against the reference engine and exact linear programs over all of its inequalities."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from helpers.network_rewrites import random_layers
from helpers.slow_params import quick_then_slow
from polyfold.domain.domain import resolve_domain
from polyfold.exact.linear_program import maximise
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.passes.integer_forms import ExactForms
from polyfold.program.program import Program, Stage
from polyfold.testing import generated_case
from polyfold.testing.reference import reference_unfold


def rounded(program: Program, digits: int) -> Program:
    """The program with every coefficient rounded."""

    def affine(form):
        blocks = tuple(Block(b.source, np.round(b.weight, digits)) for b in form.blocks)
        return WrittenOut(blocks, np.round(form.bias, digits))

    stages = tuple(Stage(affine(s.affine), s.slope_on, s.slope_off) for s in program.stages)
    return Program(program.input_dim, stages, affine(program.output), program.origins)


def brute_force(a: Program, b: Program, domain) -> list[Fraction | float]:
    """For each output the largest difference over the reference engine's cells, by all gates' inequalities."""
    joint, m = side_by_side(a, b), a.output_dim
    reference, forms = reference_unfold(joint, domain), ExactForms(joint, domain)
    largest: list[Fraction | float] = [Fraction(0)] * m
    for pattern, witness, (A, c) in zip(reference.patterns, reference.witnesses, reference.maps, strict=True):
        sides = [*(1 if on else -1 for on in pattern), *([1] * domain.rows)]
        rows = forms.under(pattern).rows
        inequalities = [[fmpq(-s * x) for x in row[:-1]] for s, row in zip(sides, rows, strict=True)]
        bounds = [fmpq(s * row[-1]) for s, row in zip(sides, rows, strict=True)]
        for k in range(m):
            slopes = [x - y for x, y in zip(A[k], A[m + k], strict=True)]
            for sign in (1, -1):
                top = maximise([sign * s for s in slopes], inequalities, bounds, start=witness)
                if top.status == "unbounded":
                    largest[k] = inf
                else:
                    value = top.value + sign * (c[k] - c[m + k])
                    largest[k] = max(largest[k], Fraction(int(value.p), int(value.q)))
    return largest


def compare(seeds) -> tuple[int, int]:
    """Compare all seeds; how many differences were bounded, and how many grow for ever."""
    bounded = unbounded = 0
    for seed in seeds:
        case = generated_case(seed, size=4)
        other = rounded(case.program, 1)
        result = pf.equivalent(case.program, other, case.domain)
        expected = brute_force(case.program, other, case.domain)
        assert [one.largest for one in result.by_output] == expected, case
        assert all(one.exact for one in result.by_output), case
        assert result.word == ("different" if max(expected) > 0 else "equal"), case
        unbounded += max(expected) == inf
        if 0 < max(expected) < inf:
            bounded += 1
            assert pf.equivalent(case.program, other, case.domain, tolerance=max(expected)).word == "equal", case
            less = max(expected) * Fraction(999_999, 1_000_000)
            assert pf.equivalent(case.program, other, case.domain, tolerance=less).word == "different", case
    return bounded, unbounded


@pytest.mark.parametrize("seeds", quick_then_slow([(1, 3, 4, 5, 6, 7, 10, 11, 12), range(14)], quick=1))
def test_generated_networks_against_the_reference_engine(seeds):
    """Three of them take most of the time."""
    bounded, unbounded = compare(seeds)
    assert bounded and unbounded


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(6))
def test_more_generated_networks(batch):
    bounded, unbounded = compare(range(14 + batch, 104, 6))
    assert bounded and unbounded


def int8(layers):
    """Weights on a grid of 255 values, as quantisation does it."""
    found = []
    for W, b in layers:
        step = np.abs(W).max() / 127
        found.append((np.rint(W / step) * step, b))
    return found


@pytest.mark.parametrize("dims", quick_then_slow([(3, 10, 10, 3), (2, 16, 16, 2)], quick=1))
def test_int8_weights_on_a_box(dims):
    rng = np.random.default_rng(5)
    layers = random_layers(rng, *dims)
    other = int8(layers)
    result = pf.equivalent(layers, other, pf.box(-1, 1))
    assert result.word == "different" and result.exact and result.certificate.level == "certified"
    a, b = pf.load(layers), pf.load(other)
    X = rng.uniform(-1, 1, size=(1_000_000, dims[0]))
    found = np.abs(a(X) - b(X)).max(axis=0)
    for k, one in enumerate(result.by_output):
        assert one.exact and found[k] <= one.largest
        x = np.array([[float(value) for value in one.point]])
        assert abs(a(x) - b(x))[0, k] == pytest.approx(float(one.largest), rel=1e-9)
        near = np.clip(x + rng.normal(size=(10_000, dims[0])) * 1e-4, -1, 1)
        values = np.abs(a(near) - b(near))[:, k]
        assert 0.99 * float(one.largest) < values.max() <= one.largest + Fraction(1, 10**12)
    assert found.max() > 0.5 * float(result.max_difference)


@pytest.mark.parametrize("seed", range(5))
def test_the_point_of_every_output_is_in_the_domain_and_attains_it(seed):
    rng = np.random.default_rng(seed)
    a, b = random_layers(rng, 2, 6, 5, 2), random_layers(rng, 2, 4, 2)
    domain = pf.polytope([[1.0, 2.0], [-1.0, 0.5], [0.0, -1.0]], [1.0, 1.0, 1.0])
    result = pf.equivalent(a, b, domain)
    where = resolve_domain(domain, 2)
    for k, one in enumerate(result.by_output):
        point = [Fraction(value) for value in one.point]
        for row, offset in zip(where.input_rows.tolist(), where.input_offsets.tolist(), strict=True):
            assert sum(Fraction(x) * p for x, p in zip(row, point, strict=True)) <= Fraction(offset)
        assert abs(exactly(a, point)[k] - exactly(b, point)[k]) == one.largest


def exactly(layers, point):
    """The network in Python's own fractions."""
    values = list(point)
    for number, (W, b) in enumerate(layers):
        values = [
            Fraction(c) + sum(Fraction(w) * v for w, v in zip(row, values, strict=True))
            for row, c in zip(W.tolist(), b.tolist(), strict=True)
        ]
        if number < len(layers) - 1:
            values = [max(v, Fraction(0)) for v in values]
    return values
